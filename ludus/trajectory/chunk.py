"""Chunks: how rows of a block become members of the file, and what each chunk says of itself.

    chunks/00000.json        first row, number of rows, dtype and shape of each column, digest; written last
    steps/00000/*.npy        a row for each call of reset and step, a lane in each column
    steps/00000/*.msgpack    the same for values that are no arrays
    episodes/00000/*.npy     a row for each episode that ended
    events/00000.msgpack     rows [row, lane, seconds, kind, fields]
    resets/00000.msgpack     rows [row, seed, options]

A chunk without its description was cut short, and does not count.
"""

from collections.abc import Sequence

import msgspec
import numpy as np

from ludus.errors import TrajectoryError, shorten
from ludus.spaces.array_space import Array
from ludus.trajectory.archive import ArchiveWriter
from ludus.trajectory.block import RowBlock
from ludus.trajectory.digest import chunk_digest
from ludus.trajectory.npy_column import ColumnHead, encode_column

__all__ = ["ChunkHead", "chunk_member", "column_member", "read_chunk_head", "write_block", "write_chunk"]

MAX_ROWS = 1 << 24


class ChunkHead(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What `chunks/00000.json` says.

    >>> ChunkHead(first=0, rows=2, columns={"steps/op": ColumnHead("|u1", (2,))}).end
    2
    """

    first: int
    rows: int
    columns: dict[str, ColumnHead]
    """The columns of arrays, as `steps/reward` or `episodes/length`."""
    objects: list[str] = msgspec.field(default_factory=list[str])
    """The columns of other values, as `steps/action`."""
    events: int = 0
    resets: int = 0
    digests: list[tuple[int, str]] = msgspec.field(default_factory=list[tuple[int, str]])
    """For so many rows, one after another: BLAKE2 over their numbers, of which `steps/seen` has the last 16 bits."""

    def __post_init__(self) -> None:
        if not 0 <= self.first < 1 << 60 or not 0 <= self.rows <= MAX_ROWS:
            raise ValueError(f"expected 0 to {MAX_ROWS} rows, got {self.rows} from {self.first} on")
        for name, head in self.columns.items():
            if name.startswith("steps/") and not name.startswith("steps/at_") and head.shape[:1] != (self.rows,):
                raise ValueError(f"{shorten(name)}: expected {self.rows} rows, got the shape {head.shape}")

    @property
    def end(self) -> int:
        """The row after the last."""
        return self.first + self.rows


def chunk_member(number: int) -> str:
    """The name of a chunk's description."""
    return f"chunks/{number:05d}.json"


def column_member(number: int, name: str, kind: str = "npy") -> str:
    """The name of a column's member: `steps/00003/reward.npy` for `steps/reward` of chunk 3."""
    group, _, rest = name.partition("/")
    return f"{group}/{number:05d}/{rest}.{kind}" if rest else f"{group}/{number:05d}.{kind}"


def read_chunk_head(data: bytes, what: str) -> ChunkHead:
    """The description in these bytes; raises TrajectoryError on any other."""
    try:
        return msgspec.json.decode(data, type=ChunkHead)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise TrajectoryError(
            f"{what}: expected the description of a chunk, got {shorten(data[:60])}: {error}"
        ) from error


def write_chunk(
    archive: ArchiveWriter,
    number: int,
    first: int,
    rows: int,
    arrays: dict[str, Array],
    objects: dict[str, bytes],
    *,
    events: Sequence[object],
    resets: Sequence[object],
    digests: list[tuple[int, str]],
    shown: dict[str, np.dtype[np.generic]] | None = None,
) -> None:
    """Append a chunk; its description comes last, so that a part of a chunk is not taken for one."""
    heads: dict[str, ColumnHead] = {}
    for name, values in arrays.items():
        heads[name], data = encode_column(values, (shown or {}).get(name))
        archive.add(column_member(number, name), data)
    for name, data in objects.items():
        archive.add(column_member(number, name, "msgpack"), data)
    for name, rows_of in (("events", events), ("resets", resets)):
        if rows_of:
            archive.add(column_member(number, name, "msgpack"), msgspec.msgpack.encode(rows_of))
    head = ChunkHead(
        first=first,
        rows=rows,
        columns=heads,
        objects=list(objects),
        events=len(events),
        resets=len(resets),
        digests=digests,
    )
    archive.add(chunk_member(number), msgspec.json.encode(head))


def write_block(archive: ArchiveWriter, number: int, block: RowBlock) -> bool:
    """Append what a block has got since it was written last; whether there was anything."""
    begin, end = block.flushed, block.filled
    events, finals = block.events, block.finals
    count_events, told, ended = len(events), block.told, block.ended.count
    if begin == end and not count_events and told == ended:
        return False
    first, last = block.first + begin, block.first + end
    arrays: dict[str, Array] = {"steps/op": np.frombuffer(bytes(block.operations[begin:end]), np.uint8)}
    arrays |= {f"steps/{name}": array[begin:end] for name, array in block.arrays.items()}
    masks = [(row, mask) for row, mask in block.masks if first <= row < last]
    if masks:
        arrays["steps/at_mask.row"] = np.array([row for row, _ in masks])
        arrays["steps/at_mask"] = np.stack([mask for _, mask in masks])
    rows = [one for one in finals if first <= one[0] < last]
    if rows:
        arrays |= _finals(rows)
    arrays |= block.ended.taken(told, ended)
    digests: list[tuple[int, str]] = []
    if "steps/seen" in arrays and end > begin:
        digests = [(end - begin, chunk_digest(arrays["steps/seen"]))]
        arrays["steps/seen"] = arrays["steps/seen"].astype(np.uint16)
    objects = {f"steps/{name}": column.member(begin, end) for name, column in block.objects.items()}
    resets = [one for one in block.resets if first <= one.row < last]
    shown = {f"steps/{name}": dtype for name, dtype in block.shown.items()}
    write_chunk(
        archive, number, first, end - begin, arrays, objects,
        events=events[:count_events], resets=resets, digests=digests, shown=shown,
    )  # fmt: skip
    del events[:count_events]
    block.flushed, block.told = end, ended
    return True


def _finals(rows: list[tuple[int, Array, list[Array]]]) -> dict[str, Array]:
    """The last observations of episodes that autoreset ended in the same step."""
    found = {
        "steps/at_final.row": np.concatenate([np.full(len(lanes), row) for row, lanes, _ in rows]),
        "steps/at_final.lane": np.concatenate([lanes for _, lanes, _ in rows]),
    }
    for place in range(len(rows[0][2])):
        found[f"steps/at_final.{place}"] = np.concatenate([leaves[place] for _, _, leaves in rows])
    return found
