"""How far a statistic is to be trusted: stratified bootstrap, in which the runs of every task are drawn again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ludus.errors import InvalidArgument
from ludus.evaluate.scores import Array, Scores, ScoresLike
from ludus.evaluate.statistics import Statistic, interquartile_mean, performance_profile

__all__ = ["Interval", "bounds", "interval", "profile_interval", "redrawn"]

RESAMPLES = 2_000
"""Enough for two digits of a 95 % interval."""


class Interval(NamedTuple):
    """A value and the two ends between which it is expected to lie.

    >>> print(Interval(0.5, 0.25, 0.75, 0.95))
    0.5 [0.25, 0.75]
    """

    value: float
    low: float
    high: float
    confidence: float

    def __str__(self) -> str:
        return f"{self.value:.4g} [{self.low:.4g}, {self.high:.4g}]"


def interval(
    scores: ScoresLike,
    statistic: Statistic = interquartile_mean,
    *,
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Interval:
    """The statistic of the scores, and the interval in which it falls when runs are drawn again, task by task.

    The same scores and seed give the same interval. Of one run for each task nothing can be said: that is refused.

    >>> interval([0.0, 1.0, 2.0, 3.0], seed=1).value
    1.5
    """
    found = Scores(scores)
    values = np.array([statistic(one) for one in redrawn(found, resamples, seed)])
    low, high = bounds(values, confidence)
    return Interval(float(statistic(found)), float(low), float(high), confidence)


def profile_interval(
    scores: ScoresLike,
    thresholds: Sequence[float] | npt.NDArray[np.floating],
    *,
    of_means: bool = False,
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> tuple[Array, Array, Array]:
    """A performance profile, and its low and high ends at each threshold.

    >>> profile, low, high = profile_interval([0.0, 0.5, 1.0, 2.0], [0.25, 0.75])
    >>> profile.tolist(), bool((low <= profile).all() and (profile <= high).all())
    ([0.75, 0.5], True)
    """
    found = Scores(scores)
    profile = performance_profile(found, thresholds, of_means=of_means)
    again = [performance_profile(one, thresholds, of_means=of_means) for one in redrawn(found, resamples, seed)]
    low, high = bounds(np.array(again), confidence)
    return profile, low, high


def redrawn(scores: Scores, resamples: int, seed: int) -> list[Scores]:
    """Tables of as many runs of each task, drawn from its own with replacement."""
    if resamples < 1:
        raise InvalidArgument(f"resamples: expected at least 1, got {resamples}")
    for task, runs in zip(scores.tasks, scores.runs, strict=True):
        if len(runs) < 2:
            raise InvalidArgument(
                f"scores[{task!r}]: expected at least 2 runs to draw from, got {len(runs)}; run it with more seeds"
            )
    rng = np.random.default_rng(seed)
    drawn = [runs[rng.integers(len(runs), size=(resamples, len(runs)))] for runs in scores.runs]
    return [_of_runs(scores, tuple(one[place] for one in drawn)) for place in range(resamples)]


def _of_runs(scores: Scores, runs: tuple[Array, ...]) -> Scores:
    """The same tasks with other runs, which are known to be in order."""
    found = Scores.__new__(Scores)
    found.tasks, found.runs = scores.tasks, runs
    return found


def bounds(values: Array, confidence: float) -> tuple[Array, Array]:
    """The ends of the middle share of values, along their first axis."""
    if not 0.0 < confidence < 1.0:
        raise InvalidArgument(f"confidence: expected a number between 0 and 1, got {confidence}")
    outside = (1.0 - confidence) / 2.0
    low, high = np.quantile(values, [outside, 1.0 - outside], axis=0)
    return low, high
