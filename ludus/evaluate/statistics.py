"""What a table of scores comes to: aggregates over tasks and runs that a few lucky runs do not decide."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from ludus.errors import InvalidArgument
from ludus.evaluate.scores import Array, Scores, ScoresLike

__all__ = [
    "STATISTICS",
    "Statistic",
    "interquartile_mean",
    "mean",
    "median",
    "optimality_gap",
    "performance_profile",
    "summary",
]

Statistic = Callable[[ScoresLike], float]
"""One number of a table of scores."""


def mean(scores: ScoresLike) -> float:
    """The mean over tasks of their means over runs: each task counts alike, however often it was run.

    >>> mean([[1.0, 10.0], [3.0, 10.0]])
    6.0
    """
    return float(Scores(scores).means().mean())


def median(scores: ScoresLike) -> float:
    """The median over tasks of their means over runs: half of the tasks could be 0 and it would not show.

    >>> median([[1.0, 10.0, 0.0], [3.0, 10.0, 0.0]])
    2.0
    """
    return float(np.median(Scores(scores).means()))


def interquartile_mean(scores: ScoresLike) -> float:
    """The mean of the middle half of all scores: as robust as the median, with less to chance.

    A quarter of the scores, rounded down, is left out at each end. Tasks that were run more often count for more.

    >>> interquartile_mean([0.0, 1.0, 2.0, 100.0])
    1.5
    """
    values = np.sort(Scores(scores).all())
    cut = len(values) // 4
    return float(values[cut : len(values) - cut].mean())


def optimality_gap(scores: ScoresLike, target: float = 1.0) -> float:
    """By how much scores fall short of `target` on average; what lies above it counts as `target`.

    >>> optimality_gap([0.5, 1.0, 3.0])
    0.16666666666666663
    """
    return float(target - np.minimum(Scores(scores).all(), target).mean())


STATISTICS: dict[str, Statistic] = {
    "mean": mean,
    "median": median,
    "interquartile_mean": interquartile_mean,
    "optimality_gap": optimality_gap,
}
"""Those that need nothing but scores, by name."""


def summary(scores: ScoresLike) -> dict[str, float]:
    """Each of `STATISTICS`.

    >>> summary([1.0, 1.0])
    {'mean': 1.0, 'median': 1.0, 'interquartile_mean': 1.0, 'optimality_gap': 0.0}
    """
    found = Scores(scores)
    return {name: one(found) for name, one in STATISTICS.items()}


def performance_profile(
    scores: ScoresLike, thresholds: Sequence[float] | npt.NDArray[np.floating], *, of_means: bool = False
) -> Array:
    """The share of runs whose score is above each threshold, or with `of_means` the share of tasks whose mean is.

    >>> performance_profile([0.0, 0.5, 1.0, 2.0], [0.0, 0.5, 1.5]).tolist()
    [0.75, 0.5, 0.25]
    """
    found = Scores(scores)
    levels = np.asarray(thresholds, dtype=np.float64)
    if levels.ndim != 1 or not levels.size or np.isnan(levels).any():
        raise InvalidArgument(f"thresholds: expected one row of numbers, got {thresholds}")
    parts = [found.means()] if of_means else list(found.runs)
    # Each task counts alike, however often it was run.
    return np.mean([(one[:, None] > levels).mean(axis=0) for one in parts], axis=0)
