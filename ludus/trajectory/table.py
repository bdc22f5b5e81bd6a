"""`EpisodeTable`: a row for each episode of a run, in columns; what is read first, and often all that is."""

import numpy as np

from ludus.core import AutoresetMode, Outcome
from ludus.errors import TrajectoryError
from ludus.spaces.array_space import Array
from ludus.trajectory.block import STEP
from ludus.trajectory.chunk_reader import Chunks
from ludus.trajectory.tracker import DERIVED, OUTCOMES

__all__ = ["EpisodeTable", "episode_part", "read_table"]

ABORTED = OUTCOMES.index(Outcome.ABORTED)
MASKED = np.array([outcome is not None and outcome.masked for outcome in OUTCOMES])
NAMES = ("lane", "start", "end", "length", "return", "terminated", "truncated", "outcome")
INTEGERS = ("lane", "start", "end", "length")


class EpisodeTable:
    """The episodes of a run in the order in which they ended, as columns of one length.

    >>> table = EpisodeTable({"lane": np.array([0, 1]), "outcome": np.array([1, 9])})
    >>> len(table), table.masked.tolist(), table.outcomes()
    (2, [False, True], [<Outcome.SUCCESS: 'success'>, <Outcome.ABORTED: 'aborted'>])
    """

    def __init__(self, columns: dict[str, Array]) -> None:
        self.columns = columns

    def __len__(self) -> int:
        return len(self.columns["lane"])

    def __getitem__(self, name: str) -> Array:
        return self.columns[name]

    @property
    def masked(self) -> Array:
        """Which episodes are no result of the agent's, and to be left out of statistics."""
        return MASKED[self.columns["outcome"]]

    def outcomes(self) -> list[Outcome | None]:
        """The outcome of each episode; None where nobody knows whether its end was a success."""
        return [OUTCOMES[code] for code in self.columns["outcome"].tolist()]


def read_table(chunks: Chunks, *, torn: bool) -> EpisodeTable:
    """The table of a file, checked; of one that was cut short, with the episodes that were under way."""
    parts = [
        episode_part(chunks, number) for number, head in enumerate(chunks.heads) if "episodes/lane" in head.columns
    ]
    empty = {name: np.zeros(0, np.int64) for name in INTEGERS} | {
        "return": np.zeros(0),
        "terminated": np.zeros(0, np.bool_),
        "truncated": np.zeros(0, np.bool_),
        "outcome": np.zeros(0, np.uint8),
    }
    try:
        columns = {name: np.concatenate([one[name] for one in parts]) if parts else empty[name] for name in NAMES}
    except ValueError as error:
        raise TrajectoryError(f"episodes: expected columns alike in all chunks, got {error}") from error
    if torn and chunks.rows:
        columns = _with_unfinished(chunks, columns)
    return EpisodeTable(columns)


def episode_part(chunks: Chunks, number: int) -> dict[str, Array]:
    """The rows of one chunk, all columns of them, checked."""
    found: dict[str, Array] = {}
    for name in NAMES:
        column = chunks.array(number, f"episodes/{name}")
        if column is not None:
            found[name] = column
    needed = {"lane", "end", "length", "return", "terminated", "truncated"}
    if not needed <= found.keys():
        raise TrajectoryError(f"episodes of chunk {number}: expected the columns {sorted(needed)}, got {sorted(found)}")
    count = len(found["lane"])
    for name, column in found.items():
        kinds = {"terminated": "b", "truncated": "b", "return": "f"}.get(name, "iu")
        if len(column) != count or column.dtype.kind not in kinds or (column.ndim != 1 and name != "return"):
            raise TrajectoryError(f"episodes/{name} of chunk {number}: expected {count} rows of its kind, got others")
    found.update({name: found[name].astype(np.int64) for name in INTEGERS if name in found})
    found.setdefault("start", found["end"] - found["length"])
    flags = found["terminated"].astype(np.intp), found["truncated"].astype(np.intp)
    found.setdefault("outcome", DERIVED[flags])
    _check(found, chunks, number)
    return found


def _check(found: dict[str, Array], chunks: Chunks, number: int) -> None:
    lane, start, end, length = (found[name] for name in INTEGERS)
    right = (lane >= 0) & (lane < chunks.header.lanes) & (start >= 0) & (end < chunks.rows) & (end >= start)
    right &= (length > 0) & (length <= end - start) & (found["outcome"] < len(OUTCOMES))
    if not right.all():
        place = int(np.argmin(right))
        raise TrajectoryError(
            f"episodes of chunk {number}: expected lanes, rows and outcomes of the run, got lane {lane[place]}, rows "
            f"{start[place]} to {end[place]}, {length[place]} steps, outcome {found['outcome'][place]} in row {place}"
        )


def _with_unfinished(chunks: Chunks, columns: dict[str, Array]) -> dict[str, Array]:
    """The table with what lanes were in the midst of when the file was cut short."""
    lanes, last = chunks.header.lanes, chunks.rows - 1
    begun, ended = np.full(lanes, -1, np.int64), np.full(lanes, -1, np.int64)
    np.maximum.at(ended, columns["lane"], columns["end"])
    masked, masks = chunks.masks(0, chunks.rows)
    by_row = dict(zip(masked.tolist(), masks, strict=True))
    for number, head in enumerate(chunks.heads):
        operations = chunks.array(number, "steps/op")
        for row in () if operations is None else (np.flatnonzero(operations != STEP) + head.first).tolist():
            begun[by_row.get(row, slice(None))] = row
    mode = chunks.header.autoreset_mode
    if mode == AutoresetMode.NEXT_STEP.value:
        start = np.where(ended >= 0, np.maximum(begun, ended + 1), begun)
    elif mode == AutoresetMode.SAME_STEP.value:
        start = np.maximum(begun, ended)
    else:
        start = np.where(begun > ended, begun, last)
    length = last - start
    for row, mask in by_row.items():
        length -= ~mask & (start < row)
    open_lanes = np.flatnonzero((start >= 0) & (length > 0))
    count = len(open_lanes)
    tail = columns["return"].shape[1:]
    more = {
        "lane": open_lanes,
        "start": start[open_lanes],
        "end": np.full(count, last),
        "length": length[open_lanes],
        "return": np.full((count, *tail), np.nan),
        "terminated": np.zeros(count, np.bool_),
        "truncated": np.zeros(count, np.bool_),
        "outcome": np.full(count, ABORTED, np.uint8),
    }
    return {name: np.concatenate([columns[name], more[name]]) for name in NAMES}
