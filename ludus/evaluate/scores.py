"""`Scores`: one number for each run on each task, as every statistic takes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from ludus.errors import InvalidArgument, shorten
from ludus.spaces.kinds import is_mapping

__all__ = ["Scores", "ScoresLike", "normalize"]

Array = npt.NDArray[np.float64]


class Scores:
    """Runs on tasks: `(runs, tasks)` numbers, or numbers by task, of which one may have more than another.

    A fault is no score: leave masked episodes out before they get here. NaN and infinities are refused.

    >>> scores = Scores({"CartPole-v1": [180.0, 200.0], "Acrobot-v1": [-90.0, -80.0, -85.0]})
    >>> scores.tasks, [len(one) for one in scores.runs]
    (('CartPole-v1', 'Acrobot-v1'), [2, 3])
    """

    __slots__ = ("runs", "tasks")

    def __init__(self, scores: ScoresLike) -> None:
        if isinstance(scores, Scores):
            self.tasks, self.runs = scores.tasks, scores.runs
            return
        self.tasks, self.runs = _by_task(scores)
        """What the tasks are called; by number where they have no names. Beside it the runs on each."""
        if not self.runs:
            raise InvalidArgument("scores: expected at least one task, got none")
        for task, runs in zip(self.tasks, self.runs, strict=True):
            if not runs.size:
                raise InvalidArgument(f"scores[{task!r}]: expected at least one run, got none")
            if not np.isfinite(runs).all():
                raise InvalidArgument(
                    f"scores[{task!r}]: expected finite numbers, got {runs[~np.isfinite(runs)][0]}; leave out what "
                    "failed, and say how much that was"
                )

    @property
    def is_even(self) -> bool:
        """Whether every task has the same number of runs."""
        return len({len(one) for one in self.runs}) == 1

    def means(self) -> Array:
        """The mean of each task."""
        return np.array([one.mean() for one in self.runs])

    def all(self) -> Array:
        """Every score of every task, in one row."""
        return np.concatenate(self.runs)

    def __repr__(self) -> str:
        return f"Scores({len(self.tasks)} tasks, {sum(map(len, self.runs))} runs)"


ScoresLike = Scores | Mapping[str, Sequence[float] | Array] | Sequence[float] | Sequence[Sequence[float]] | Array


def _by_task(scores: object) -> tuple[tuple[str, ...], tuple[Array, ...]]:
    if is_mapping(scores):
        names = tuple(str(name) for name in scores)
        return names, tuple(_numbers(scores[name], f"scores[{name!r}]", (1,)) for name in scores)
    table = _numbers(scores, "scores", (1, 2))
    table = table[:, None] if table.ndim == 1 else table
    return tuple(str(place) for place in range(table.shape[1])), tuple(np.ascontiguousarray(table.T))


def _numbers(values: object, name: str, ranks: tuple[int, ...]) -> Array:
    try:
        found = np.asarray(values)
    except ValueError:
        found = np.asarray(None)
    if found.dtype.kind not in "iufb" or found.ndim not in ranks:
        shape = "one row of numbers" if ranks == (1,) else "numbers by run, or by run and task"
        raise InvalidArgument(
            f"{name}: expected {shape}, got {shorten(values)}; tasks with unlike numbers of runs are given by name"
        )
    return found.astype(np.float64)


def normalize(scores: ScoresLike, lowest: Mapping[str, float], reference: Mapping[str, float]) -> Scores:
    """Scores where 0 is `lowest` (as a random agent's) and 1 is `reference` (as a person's), task by task.

    >>> normalize({"CartPole-v1": [22.0, 500.0]}, {"CartPole-v1": 22.0}, {"CartPole-v1": 500.0}).all()
    array([0., 1.])
    """
    found = Scores(scores)
    normal = dict[str, Array]()
    for task, runs in zip(found.tasks, found.runs, strict=True):
        for name, given in (("lowest", lowest), ("reference", reference)):
            if task not in given:
                raise InvalidArgument(f"{name}: expected a score for {task!r}, got {', '.join(given) or 'none'}")
        width = reference[task] - lowest[task]
        if not np.isfinite(width) or not width:
            raise InvalidArgument(
                f"reference[{task!r}]: expected a finite score other than lowest, got {reference[task]} and "
                f"{lowest[task]}"
            )
        normal[task] = (runs - lowest[task]) / width
    return Scores(normal)
