"""Whether one agent is better than another: by chance of a better run, and by runs on the same seeds."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ludus.errors import InvalidArgument
from ludus.evaluate.intervals import RESAMPLES, Interval, bounds, redrawn
from ludus.evaluate.scores import Array, Scores, ScoresLike

__all__ = ["PairedTest", "improvement_interval", "paired_test", "probability_of_improvement"]

MAX_EXACT_PAIRS = 16
"""Up to so many pairs every choice of signs is tried; beyond, as many as are asked for are drawn."""


def probability_of_improvement(x: ScoresLike, y: ScoresLike) -> float:
    """The chance that a run of `x` is better than a run of `y` on the same task, over all tasks; a tie counts half.

    >>> probability_of_improvement([1.0, 3.0], [2.0, 2.0])
    0.5
    """
    ours, theirs = _alike(x, y)
    return float(np.mean([_share(one, other) for one, other in zip(ours.runs, theirs.runs, strict=True)]))


def _share(x: Array, y: Array) -> float:
    """The share of pairs of which the first is greater, with ties by half: counted by sorting, not by pairs."""
    ordered = np.sort(y)
    below, upto = np.searchsorted(ordered, x, "left"), np.searchsorted(ordered, x, "right")
    return float((below + upto).sum() / (2 * len(x) * len(y)))


def improvement_interval(
    x: ScoresLike, y: ScoresLike, *, confidence: float = 0.95, resamples: int = RESAMPLES, seed: int = 0
) -> Interval:
    """`probability_of_improvement`, and its interval when the runs of both are drawn again.

    >>> improvement_interval([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0]).low
    1.0
    """
    ours, theirs = _alike(x, y)
    pairs = zip(redrawn(ours, resamples, seed), redrawn(theirs, resamples, seed + 1), strict=True)
    low, high = bounds(np.array([probability_of_improvement(*pair) for pair in pairs]), confidence)
    return Interval(probability_of_improvement(ours, theirs), float(low), float(high), confidence)


class PairedTest(NamedTuple):
    """What runs on the same seeds say of two agents.

    >>> paired_test([1.0, 2.0], [1.0, 1.0]).difference
    0.5
    """

    difference: float
    """The mean of `x - y`, over all pairs."""
    p_value: float
    """How often a difference as large would come by chance, were the two alike."""
    pairs: int
    exact: bool
    """Whether every choice of signs was counted, not some that were drawn."""


def paired_test(x: ScoresLike, y: ScoresLike, *, resamples: int = 10_000, seed: int = 0) -> PairedTest:
    """Run *i* of `x` against run *i* of `y`, both on the same seed: a two-sided test by changing signs.

    Nothing is taken for granted of how scores are spread. It asks for the same seeds in the same order, which
    evaluations of one suite have.

    >>> paired_test([3.0, 4.0, 5.0, 6.0], [1.0, 2.0, 3.0, 4.0])
    PairedTest(difference=2.0, p_value=0.125, pairs=4, exact=True)
    """
    ours, theirs = _alike(x, y)
    for task, one, other in zip(ours.tasks, ours.runs, theirs.runs, strict=True):
        if len(one) != len(other):
            raise InvalidArgument(
                f"y[{task!r}]: expected {len(one)} runs, on the seeds of x, got {len(other)}; where seeds differ, "
                "see probability_of_improvement"
            )
    if resamples < 1:
        raise InvalidArgument(f"resamples: expected at least 1, got {resamples}")
    found = ours.all() - theirs.all()
    exact = len(found) <= MAX_EXACT_PAIRS
    signs = _all_signs(len(found)) if exact else _some_signs(len(found), resamples, seed)
    # By whole multiples of the last bit, sums in another order would not be as large as the one that was seen.
    reached = np.abs(signs @ found) >= abs(found.sum()) * (1.0 - 1e-12)
    # Of those that are drawn, the one that was seen is one more.
    p_value = float(reached.mean()) if exact else float((reached.sum() + 1) / (len(signs) + 1))
    return PairedTest(float(found.mean()), p_value, len(found), exact)


def _all_signs(count: int) -> Array:
    choices = np.arange(1 << count)[:, None] >> np.arange(count)
    return np.where(choices & 1, -1.0, 1.0)


def _some_signs(count: int, resamples: int, seed: int) -> Array:
    return np.where(np.random.default_rng(seed).integers(2, size=(resamples, count)), -1.0, 1.0)


def _alike(x: ScoresLike, y: ScoresLike) -> tuple[Scores, Scores]:
    """Both, with the tasks of the second in the order of the first."""
    ours, theirs = Scores(x), Scores(y)
    if sorted(ours.tasks) != sorted(theirs.tasks):
        raise InvalidArgument(f"y: expected the tasks of x, {list(ours.tasks)}, got {list(theirs.tasks)}")
    if ours.tasks == theirs.tasks:
        return ours, theirs
    by_name = dict(zip(theirs.tasks, theirs.runs, strict=True))
    return ours, Scores({task: by_name[task] for task in ours.tasks})
