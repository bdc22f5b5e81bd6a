"""`Evaluation`: what came of an agent's episodes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ludus.core import Outcome
from ludus.evaluate.intervals import Interval, interval
from ludus.evaluate.scores import Array
from ludus.evaluate.statistics import Statistic, interquartile_mean

__all__ = ["EpisodeResult", "Evaluation"]


class EpisodeResult(NamedTuple):
    """One episode, from its seed to its end.

    >>> EpisodeResult(number=0, seed=11, total=1.0, length=4, terminated=True, truncated=False).outcome is None
    True
    """

    number: int
    seed: int
    total: float
    """The sum of its rewards."""
    length: int
    terminated: bool
    truncated: bool
    outcome: Outcome | None = None
    """How it ended, where the environment says so."""


class Evaluation(NamedTuple):
    """The episodes of one agent in one environment, in the order of their numbers.

    >>> two = (EpisodeResult(0, 11, 1.0, 4, True, False), EpisodeResult(1, 12, 3.0, 6, True, False))
    >>> print(Evaluation("GridWorld-v0", 0, two).interval())
    2 [1, 3]
    """

    name: str
    seed: int
    """From which theirs are derived."""
    episodes: tuple[EpisodeResult, ...]

    @property
    def counted(self) -> tuple[EpisodeResult, ...]:
        """The episodes that say something of the agent: neither their environment nor what it runs on failed."""
        return tuple(one for one in self.episodes if one.outcome is None or not one.outcome.masked)

    def totals(self) -> Array:
        """The sum of rewards of each episode that counts.

        >>> Evaluation("GridWorld-v0", 0, (EpisodeResult(0, 11, 1.0, 4, True, False),)).totals()
        array([1.])
        """
        return np.array([one.total for one in self.counted])

    def interval(
        self, statistic: Statistic = interquartile_mean, *, confidence: float = 0.95, seed: int = 0
    ) -> Interval:
        """A statistic of the totals, with its interval."""
        return interval(self.totals(), statistic, confidence=confidence, seed=seed)
