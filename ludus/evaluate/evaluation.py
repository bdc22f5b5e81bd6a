"""`Evaluation`: what came of an agent's episodes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ludus.core import Outcome
from ludus.errors import EvaluationError
from ludus.evaluate.declaration import Declaration
from ludus.evaluate.intervals import Interval, interval
from ludus.evaluate.scores import Array
from ludus.evaluate.statistics import Statistic, interquartile_mean, mean, median

__all__ = ["EpisodeResult", "Evaluation", "summarized"]


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
    """How it ended; None where nobody says whether its end was a success."""


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
    declaration: Declaration | None = None
    """Which episodes those are, and whose; None for results put together by hand."""

    @property
    def counted(self) -> tuple[EpisodeResult, ...]:
        """The episodes that say something of the agent: neither their environment nor what it runs on failed."""
        return tuple(one for one in self.episodes if one.outcome is None or not one.outcome.masked)

    @property
    def masked(self) -> int:
        """How many episodes are left out of all statistics, as they say nothing of the agent."""
        return len(self.episodes) - len(self.counted)

    @property
    def marks(self) -> tuple[str, ...]:
        """What every table and page says beside the scores: seeds that were chosen, episodes that are left out."""
        left_out = f"{self.masked} of {len(self.episodes)} episodes masked, and left out" if self.masked else ""
        return (*(self.declaration.marks if self.declaration else ()), *([left_out] if left_out else []))

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

    def check_masked(self, most: float, first: str = "") -> None:
        """Raise EvaluationError where a larger share of episodes than that is masked; `first` says why the first is."""
        share = self.masked / len(self.episodes)
        if share > most or not self.counted:
            kinds = {one.outcome.value for one in self.episodes if one.outcome is not None and one.outcome.masked}
            raise EvaluationError(
                f"{self.name}: expected at most {most:.0%} of episodes masked, got {share:.1%} ({self.masked} of "
                f"{len(self.episodes)}: {', '.join(sorted(kinds))}); what is left is no fair sample. Mend the "
                f"environment, or allow more by max_masked{f'. The first failed with {first}' if first else ''}"
            )


def summarized(totals: Array, lengths: Array, masked: npt.NDArray[np.bool_]) -> dict[str, float]:
    """What the episodes come to, as a result's file says it; of columns over all episodes."""
    counted = ~masked
    scores = totals[counted]
    found: dict[str, float] = {"episodes": len(totals), "masked": int(masked.sum()), "steps": int(lengths.sum())}
    if len(scores) and np.isfinite(scores).all():
        found |= {"mean": mean(scores), "median": median(scores), "interquartile_mean": interquartile_mean(scores)}
    return found
