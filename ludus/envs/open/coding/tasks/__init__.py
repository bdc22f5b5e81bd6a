"""Programming tasks: functions to write, in three difficulties, whose inputs are drawn from the episode's seed."""

from ludus.envs.open.coding.tasks.easy import EASY
from ludus.envs.open.coding.tasks.hard import HARD
from ludus.envs.open.coding.tasks.medium import MEDIUM
from ludus.envs.open.coding.tasks.task import CodingTask, Difficulty, Problem, Test

__all__ = ["PROBLEMS", "Difficulty", "Problem", "CodingTask", "Test"]

PROBLEMS: dict[str, list[Problem]] = {"easy": EASY, "medium": MEDIUM, "hard": HARD}
"""By difficulty."""
