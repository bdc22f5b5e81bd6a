"""Rewards made of named parts: what scores a step, gates, weighted sums, sequences, judges and whole episodes.

Not here: the rewards of single environments, and graders of tasks, which run where an agent cannot reach them.
"""

from ludus.rubrics.combination import Gate, Sequential, WeightedSum
from ludus.rubrics.episode import EpisodeRubric
from ludus.rubrics.judge import Judge
from ludus.rubrics.reward import RubricReward
from ludus.rubrics.rubric import Function, Graded, Rubric, Transition

__all__ = [
    "EpisodeRubric",
    "Function",
    "Gate",
    "Graded",
    "Judge",
    "Rubric",
    "RubricReward",
    "Sequential",
    "Transition",
    "WeightedSum",
]
