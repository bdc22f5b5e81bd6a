"""Agents on environments: how they are played, what their scores say, and how sure one can be of it.

Not here: environments, and the files in which episodes are kept.
"""

from ludus.evaluate.agent_names import as_agent
from ludus.evaluate.agents import Agent, NopAgent, RandomAgent, ScriptedAgent
from ludus.evaluate.comparison import PairedTest, improvement_interval, paired_test, probability_of_improvement
from ludus.evaluate.declaration import Declaration
from ludus.evaluate.evaluation import EpisodeResult, Evaluation
from ludus.evaluate.file_agent import FileAgent
from ludus.evaluate.http_agent import HttpAgent
from ludus.evaluate.intervals import Interval, interval, profile_interval
from ludus.evaluate.leaderboard import Leaderboard, LeaderboardLine, leaderboard
from ludus.evaluate.leaderboard_page import leaderboard_page
from ludus.evaluate.plots import Band, plot_curves, plot_intervals, plot_profiles
from ludus.evaluate.reference import Reference, normal_score, references
from ludus.evaluate.result import Result, open_result, read_evaluation
from ludus.evaluate.result_file import ResultFile
from ludus.evaluate.runner import evaluate
from ludus.evaluate.scores import Scores, normalize
from ludus.evaluate.search import MctsAgent, OneStepAgent
from ludus.evaluate.seeds import derived_seed, derived_seeds
from ludus.evaluate.statistics import (
    STATISTICS,
    interquartile_mean,
    mean,
    median,
    optimality_gap,
    performance_profile,
    summary,
)
from ludus.evaluate.suite import Suite, suite_named, suites
from ludus.evaluate.suite_run import evaluate_suite
from ludus.evaluate.verification import Verification, VerificationFinding, verify

__all__ = [
    "STATISTICS",
    "Agent",
    "Band",
    "Declaration",
    "EpisodeResult",
    "Evaluation",
    "FileAgent",
    "VerificationFinding",
    "HttpAgent",
    "Interval",
    "Leaderboard",
    "LeaderboardLine",
    "MctsAgent",
    "NopAgent",
    "OneStepAgent",
    "PairedTest",
    "RandomAgent",
    "Reference",
    "Result",
    "ResultFile",
    "Scores",
    "ScriptedAgent",
    "Suite",
    "Verification",
    "as_agent",
    "derived_seed",
    "derived_seeds",
    "evaluate",
    "evaluate_suite",
    "improvement_interval",
    "interquartile_mean",
    "interval",
    "leaderboard",
    "leaderboard_page",
    "mean",
    "median",
    "normal_score",
    "normalize",
    "open_result",
    "optimality_gap",
    "paired_test",
    "performance_profile",
    "plot_curves",
    "plot_intervals",
    "plot_profiles",
    "probability_of_improvement",
    "profile_interval",
    "read_evaluation",
    "references",
    "suite_named",
    "suites",
    "summary",
    "verify",
]
