"""`Result`: an evaluation read from its file, in columns over all of its episodes."""

from __future__ import annotations

import os
from functools import cached_property
from typing import Any

import msgspec
import numpy as np

from ludus.errors import TrajectoryError, shorten
from ludus.evaluate.declaration import Declaration, read_declaration
from ludus.evaluate.evaluation import EpisodeResult, Evaluation, summarized
from ludus.evaluate.result_file import RESULT
from ludus.spaces.array_space import Array
from ludus.trajectory.block import RESET
from ludus.trajectory.run import Run
from ludus.trajectory.table import MASKED
from ludus.trajectory.tracker import CODES, OUTCOMES

__all__ = ["Result", "open_result", "read_evaluation"]


class Result:
    """The episodes of a result in the order in which they stand in the file, a place in each column for each.

    >>> import tempfile
    >>> from ludus.evaluate import evaluate
    >>> path = tempfile.mkdtemp() + "/result.ludus"
    >>> found = evaluate("GridWorld-v0", "random", episodes=3, out=path)
    >>> open_result(path).evaluation() == found
    True
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        self.declaration: Declaration = read_declaration(run.header.metadata, run.path.name)
        if run.header.lanes != 1 or run.header.batched:
            raise TrajectoryError(f"{run.path.name}: expected one lane, got {run.header.lanes}; it is no result")

    def __len__(self) -> int:
        return len(self.starts)

    @cached_property
    def starts(self) -> Array:
        """The row of each episode's reset."""
        found: list[Array] = [np.zeros(0, np.int64)]
        for number, head in enumerate(self.run.chunks.heads):
            operations = self.run.chunks.array(number, "steps/op")
            if operations is not None:
                found.append(np.flatnonzero(operations.reshape(-1) == RESET) + head.first)
        return np.concatenate(found)

    @cached_property
    def stops(self) -> Array:
        """The row after each episode's last."""
        return np.append(self.starts[1:], self.run.chunks.rows)

    @cached_property
    def seeds(self) -> list[Any]:
        """The seed of each reset, in order, as the file says; -1 where it says none."""
        chunks = self.run.chunks
        by_row = {one.row: one.seed for number in range(len(chunks.heads)) for one in chunks.resets_of(number)}
        return [by_row.get(row, -1) for row in self.starts.tolist()]

    @cached_property
    def columns(self) -> dict[str, Array]:
        """Length, return, terminated, truncated and outcome of each; an episode without a step failed as it began."""
        table, count = self.run.table, len(self)
        order = np.searchsorted(self.starts, table["start"])
        fits = (order < count) & (table["start"] == self.starts[np.minimum(order, max(count - 1, 0))])
        if not fits.all() or len(np.unique(order)) != len(order):
            raise TrajectoryError(
                f"{self.run.path.name}: expected each episode of the table to begin with a reset of its own, got "
                f"episode {int(np.argmin(fits))} in row {int(table['start'][np.argmin(fits)])}"
            )
        found: dict[str, Array] = {}
        for name in ("length", "return", "terminated", "truncated", "outcome"):
            found[name] = np.zeros(count, table[name].dtype)
            found[name][order] = table[name]
        unbegun = np.ones(count, np.bool_)
        unbegun[order] = False
        found["outcome"][unbegun] = CODES[next(one for one in OUTCOMES if one is not None and one.masked)]
        return found

    @property
    def masked(self) -> Array:
        """Which of them say nothing of the agent."""
        return MASKED[self.columns["outcome"]]

    def summary(self) -> dict[str, float]:
        """What the episodes come to, computed from the table."""
        return summarized(self.columns["return"], self.columns["length"], self.masked)

    def claimed(self) -> dict[str, object]:
        """What the file says that they come to; raises TrajectoryError where it does not."""
        archive = self.run.chunks.archive
        if RESULT not in archive:
            raise TrajectoryError(f"{self.run.path.name}: expected {RESULT}, got none")
        data = archive.read(RESULT)
        try:
            return msgspec.json.decode(data, type=dict[str, object])
        except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
            raise TrajectoryError(f"{RESULT}: expected statistics, got {shorten(data[:60])}: {error}") from error

    def results(self) -> list[EpisodeResult]:
        """Each episode."""
        columns = {name: one.tolist() for name, one in self.columns.items()}
        most = self.declaration.max_steps
        found: list[EpisodeResult] = []
        for number, seed in enumerate(self.seeds):
            length, total, terminated, truncated, outcome = (columns[name][number] for name in columns)
            cut = not terminated and not truncated and length >= most
            found.append(EpisodeResult(number, seed, total, length, terminated, truncated or cut, OUTCOMES[outcome]))
        return found

    def evaluation(self) -> Evaluation:
        """What `evaluate` gave when the file was written."""
        declared = self.declaration
        return Evaluation(declared.id, declared.seed, tuple(self.results()), declared)


def open_result(path: str | os.PathLike[str]) -> Result:
    """The result in a file, finished or not; raises TrajectoryError where there is none."""
    return Result(Run.open(path))


def read_evaluation(path: str | os.PathLike[str]) -> Evaluation:
    """What a file says came of an evaluation; whether that is true, `verify` says."""
    return open_result(path).evaluation()
