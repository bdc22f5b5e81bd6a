"""`Chunks`: the columns of a file across its chunks, read when they are asked for, each member once.

Everything a file says is held against the rest of it before it is used: rows follow one another, shapes fit the lanes,
sizes are what shapes say. What does not fit is a TrajectoryError.
"""

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import TypeVar, cast

import msgspec
import numpy as np

from ludus.errors import CodecError, TrajectoryError
from ludus.spaces.array_space import Array
from ludus.spaces.kinds import is_list
from ludus.trajectory.archive import Archive
from ludus.trajectory.block import StoredReset
from ludus.trajectory.chunk import ChunkHead, chunk_member, column_member, read_chunk_head
from ludus.trajectory.event import StoredEvent
from ludus.trajectory.header import RunHeader
from ludus.trajectory.npy_column import decode_column
from ludus.wire.frame import FrameLimits, read_frame

__all__ = ["Chunks", "Column"]

Column = Array | list[object]
"""Rows of a column: an array, or plain values."""

HEAD_BYTES = 1 << 22
OBJECTS = FrameLimits(size=1 << 26, depth=32, items=1 << 22)
"""What one member of values that are no arrays may hold."""
KEPT_BYTES = 1 << 27
"""How many bytes of columns are kept for the next time they are asked for."""
ANYTHING = msgspec.msgpack.Decoder(list[object])
EVENTS = msgspec.msgpack.Decoder(list[StoredEvent])
RESETS = msgspec.msgpack.Decoder(list[StoredReset])


StoredT = TypeVar("StoredT", StoredEvent, StoredReset)
FoundT = TypeVar("FoundT")


class Chunks:
    """The chunks of an archive, one after another."""

    def __init__(self, archive: Archive, header: RunHeader) -> None:
        self.archive, self.header = archive, header
        self.heads: list[ChunkHead] = []
        for number, name in enumerate(archive.names("chunks/")):
            if name != chunk_member(number):
                raise TrajectoryError(f"{archive.path.name}: expected {chunk_member(number)}, got {name}")
            self.heads.append(self._head(name))
        self.rows = self.heads[-1].end if self.heads else 0
        self._firsts = [head.first for head in self.heads]
        self._kept: OrderedDict[tuple[int, str], tuple[object, int]] = OrderedDict()
        self._kept_bytes = 0

    def _head(self, name: str) -> ChunkHead:
        stored = self.archive.members[f"{name}.zst"].size
        if stored > HEAD_BYTES:
            raise TrajectoryError(f"{name}: expected at most {HEAD_BYTES} bytes, got {stored}")
        head = read_chunk_head(self._small(name), name)
        before = self.heads[-1].end if self.heads else 0
        if head.first != before:
            raise TrajectoryError(f"{name}: expected rows from {before} on, got {head.first}")
        lanes = self.header.lanes
        for column, one in head.columns.items():
            if one.value_bytes > self.archive.limit_bytes:
                raise TrajectoryError(
                    f"{name}: {column}: expected at most {self.archive.limit_bytes} bytes, got {one.value_bytes}; "
                    "Run.open(path, limit_bytes=…) allows more"
                )
            by_lane = column.startswith("steps/") and column not in ("steps/op", "steps/seen")
            if by_lane and not column.startswith("steps/at_") and one.shape[1:2] != (lanes,):
                raise TrajectoryError(f"{name}: {column}: expected {lanes} lanes, got the shape {one.shape}")
        return head

    def _small(self, name: str) -> bytes:
        """A member that no limit of the caller's makes larger."""
        limit, self.archive.limit_bytes = self.archive.limit_bytes, min(self.archive.limit_bytes, HEAD_BYTES)
        try:
            return self.archive.read(name)
        finally:
            self.archive.limit_bytes = limit

    # --- columns ---

    def has(self, name: str) -> bool:
        """Whether there is such a column in any chunk."""
        return any(name in head.columns or name in head.objects for head in self.heads)

    def array(self, number: int, name: str) -> Array | None:
        """A column of arrays of one chunk, not to be changed; None where the chunk has none of that name."""
        head = self.heads[number].columns.get(name)
        if head is None:
            return None
        return self._keep((number, name), lambda: self._read_array(number, name))

    def _read_array(self, number: int, name: str) -> tuple[Array, int]:
        head, member = self.heads[number].columns[name], column_member(number, name)
        try:
            data = self.archive.read(member, expected_bytes=head.member_bytes)
            values = decode_column(head, data)
        except (MemoryError, OverflowError) as error:
            raise TrajectoryError(f"{member}: expected a column that fits into memory, got {head}") from error
        except TrajectoryError as error:
            raise TrajectoryError(f"{member}: {error}") from error
        values.flags.writeable = False
        return values, values.nbytes

    def objects(self, number: int, name: str) -> list[object] | None:
        """The rows of a column of other values of one chunk; None where it has none of that name."""
        if name not in self.heads[number].objects:
            return None
        return self._keep((number, f"{name}.msgpack"), lambda: self._read_objects(number, name))

    def _read_objects(self, number: int, name: str) -> tuple[list[object], int]:
        rows, size = self._message(column_member(number, name, "msgpack"), ANYTHING)
        expected = self.heads[number].rows
        if not is_list(rows) or len(rows) != expected:
            raise TrajectoryError(f"{name} of chunk {number}: expected {expected} rows, got other data")
        return rows, size

    def events(self) -> Iterator[StoredEvent]:
        """All events, in the order they came."""
        for number in range(len(self.heads)):
            yield from self.events_of(number)

    def events_from(self, first: int, end: int) -> Iterator[StoredEvent]:
        """The events of these rows; one that came after its row was written is in a later chunk, with the next row."""
        number = max(0, bisect_right(self._firsts, first) - 1)
        while number < len(self.heads) and self.heads[number].first <= end:
            yield from (one for one in self.events_of(number) if first <= one.row < end)
            number += 1

    def events_of(self, number: int) -> list[StoredEvent]:
        """The events of one chunk."""
        count = self.heads[number].events
        return self._checked(number, "events", EVENTS, count) if count else []

    def resets(self) -> list[StoredReset]:
        """All resets, those of a plan included."""
        return [one for number in range(len(self.heads)) for one in self.resets_of(number)]

    def resets_of(self, number: int) -> list[StoredReset]:
        """The resets of one chunk."""
        count = self.heads[number].resets
        return self._checked(number, "resets", RESETS, count) if count else []

    def stored_bytes(self, number: int, name: str) -> int:
        """How many bytes a column of other values has in the file."""
        member = self.archive.members.get(f"{column_member(number, name, 'msgpack')}.zst")
        return 0 if member is None else member.size

    def _checked(
        self, number: int, name: str, decoder: "msgspec.msgpack.Decoder[list[StoredT]]", count: int
    ) -> list[StoredT]:
        rows, _ = self._message(column_member(number, name, "msgpack"), decoder)
        if len(rows) != count:
            raise TrajectoryError(f"{name} of chunk {number}: expected {count}, got {len(rows)}")
        for one in rows:
            row, lane = one.row, max(one.lane, 0)
            if not 0 <= row < max(self.rows, 1) or not 0 <= lane < self.header.lanes:
                raise TrajectoryError(
                    f"{name} of chunk {number}: expected a row and lane of the run, got {row}, {lane}"
                )
        return rows

    def _message(self, member: str, decoder: "msgspec.msgpack.Decoder[FoundT]") -> tuple[FoundT, int]:
        data = self.archive.read(member)
        try:
            return read_frame(data, decoder, OBJECTS), 8 * len(data)
        except (CodecError, MemoryError) as error:
            raise TrajectoryError(f"{member}: {error}") from error

    def _keep(self, key: tuple[int, str], read: Callable[[], tuple[FoundT, int]]) -> FoundT:
        if key in self._kept:
            self._kept.move_to_end(key)
            return cast("FoundT", self._kept[key][0])  # what `read` of this key gave
        found, size = read()
        self._kept[key] = found, size
        self._kept_bytes += size
        while self._kept_bytes > KEPT_BYTES and len(self._kept) > 1:
            self._kept_bytes -= self._kept.popitem(last=False)[1][1]
        return found

    # --- rows across chunks ---

    def spans(self, first: int, end: int) -> Iterator[tuple[int, int, int]]:
        """The chunks that have rows from `first` up to `end`: number, and the first and last row within it."""
        number = max(0, bisect_right(self._firsts, first) - 1)
        while number < len(self.heads) and self.heads[number].first < end:
            head = self.heads[number]
            begin, stop = max(first, head.first), min(end, head.end)
            if begin < stop:
                yield number, begin - head.first, stop - head.first
            number += 1

    def lane(self, name: str, lane: int, rows: Array, *, sparse: bool = False) -> Column:
        """What a column has of one lane in these rows, ascending: an array, or a list of other values.

        A column that is `sparse` may be missing in some chunks, and has zeros there.
        """
        parts: list[Column] = []
        for number, begin, stop in self.spans(int(rows[0]), int(rows[-1]) + 1) if len(rows) else ():
            first = self.heads[number].first
            low, high = np.searchsorted(rows, [first + begin, first + stop])
            chosen = rows[low:high] - first
            array = self.array(number, name)
            if array is not None:
                parts.append(array[chosen, lane])
                continue
            objects = self.objects(number, name)
            if objects is None and sparse:
                like = next(one.columns[name] for one in self.heads if name in one.columns)
                parts.append(np.zeros((len(chosen), *like.shape[2:]), like.dtype))
                continue
            if objects is None:
                raise TrajectoryError(f"chunk {number}: expected a column {name!r}, got none")
            parts.append([_of_lane(objects[row], lane, name) for row in chosen.tolist()])
        arrays = [part for part in parts if not isinstance(part, list)]
        if len(arrays) < len(parts):
            return [one for part in parts for one in part]
        if not parts:
            raise TrajectoryError(f"{name}: expected rows from 0 to {self.rows - 1}, got {len(rows)} others")
        return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)

    def numbers(self, name: str, lane: int, rows: Array, *, sparse: bool = False) -> Array:
        """The same of a column that is an array."""
        found = self.lane(name, lane, rows, sparse=sparse)
        if isinstance(found, list):
            raise TrajectoryError(f"{name}: expected an array, got other values")
        return found

    def masks(self, first: int, end: int) -> tuple[Array, list[Array]]:
        """The rows in which only some lanes took part, and which."""
        rows: list[Array] = []
        masks: list[Array] = []
        for number, begin, stop in self.spans(first, end):
            at, mask = self.array(number, "steps/at_mask.row"), self.array(number, "steps/at_mask")
            if at is None or mask is None:
                continue
            if at.ndim != 1 or mask.dtype != np.bool_ or mask.shape != (len(at), self.header.lanes):
                raise TrajectoryError(f"chunk {number}: expected a mask of lanes for each masked row, got {mask.shape}")
            offset = self.heads[number].first
            inside = (at >= offset + begin) & (at < offset + stop)
            rows.append(at[inside])
            masks += list(mask[inside])
        return (np.concatenate(rows) if rows else np.zeros(0, np.int64)), masks


def _of_lane(row: object, lane: int, name: str) -> object:
    if row is None:
        return None
    if not is_list(row) or lane >= len(row):
        raise TrajectoryError(f"{name}: expected a list with a value for each lane, got other data")
    return row[lane]
