"""`Segment`: some whole episodes of a result, with all that their columns hold, in memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ludus.errors import TrajectoryError
from ludus.evaluate.result import Result
from ludus.spaces.array_space import Array
from ludus.spaces.kinds import is_list
from ludus.trajectory.digest import chunk_digest

__all__ = ["Segment", "segments"]

SEGMENT_ROWS = 1 << 22
"""Rows that are read at once: enough that lanes which have no episode left at the end of them do not matter."""


@dataclass(frozen=True)
class Segment:
    """Rows of a result from one reset up to another; rows are counted from its first."""

    first: int
    """The row of the result that is its first."""
    episodes: slice
    starts: Array
    """The row of each episode's reset."""
    stops: Array
    arrays: dict[str, Array]
    """By column, without the axis of lanes."""
    objects: dict[str, list[list[object]]]
    digests: tuple[tuple[int, str], ...]
    """For so many rows, one after another: BLAKE2 over their numbers."""

    @property
    def rows(self) -> int:
        """How many there are."""
        return int(self.stops[-1])

    def wrong_digest(self, numbers: Array) -> int | None:
        """The first row of those whose digest is another than the file says; None where all are as they should be."""
        at = 0
        for count, expected in self.digests:
            if count <= 0 or chunk_digest(numbers[at : at + count]) != expected:
                return at
            at += count
        return None if at == self.rows else at


def segments(result: Result, rows: int = SEGMENT_ROWS) -> Iterator[Segment]:
    """All episodes of a result, some at a time; raises TrajectoryError where columns are missing."""
    heads = result.run.chunks.heads
    boundaries = set(result.stops.tolist())
    group: list[int] = []
    for number, head in enumerate(heads):
        group.append(number)
        size = head.end - heads[group[0]].first
        if (size >= rows and head.end in boundaries) or number == len(heads) - 1:
            yield _segment(result, group)
            group = []


def _segment(result: Result, group: list[int]) -> Segment:
    chunks = result.run.chunks
    heads = [chunks.heads[number] for number in group]
    first, end = heads[0].first, heads[-1].end
    low, high = np.searchsorted(result.starts, [first, end])
    if low == high or result.starts[low] != first:
        raise TrajectoryError(f"row {first}: expected a reset, got none; it is no result of an evaluation")
    names = [name for name in heads[0].columns if name.startswith("steps/") and not name.startswith("steps/at_")]
    arrays: dict[str, Array] = {}
    for name in names:
        parts = [chunks.array(number, name) for number in group]
        if any(part is None for part in parts):
            raise TrajectoryError(f"rows {first} to {end}: expected a column {name} in each chunk, got none in one")
        column = np.concatenate([part for part in parts if part is not None])
        arrays[name[6:]] = column if column.ndim == 1 else column[:, 0]
    objects = {
        name[6:]: [row if is_list(row) else [] for number in group for row in chunks.objects(number, name) or ()]
        for name in heads[0].objects
    }
    if "seen" not in arrays:
        raise TrajectoryError(f"rows {first} to {end}: expected digests of what was seen, got none")
    return Segment(
        first,
        slice(int(low), int(high)),
        result.starts[low:high] - first,
        result.stops[low:high] - first,
        arrays,
        objects,
        tuple(one for head in heads for one in head.digests),
    )
