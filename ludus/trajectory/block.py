"""`RowBlock`: the rows that wait to be written, in arrays of their own; filled by one thread, read by another."""

from collections.abc import Mapping
from typing import NamedTuple

import msgspec
import numpy as np

from ludus.errors import CodecError, TrajectoryError
from ludus.spaces.array_space import Array
from ludus.trajectory.event import StoredEvent
from ludus.trajectory.tracker import Ended

__all__ = [
    "AUTORESET",
    "RESET",
    "RESTORE",
    "STEP",
    "RowBlock",
    "Layout",
    "ObjectRows",
    "PlannedEpisode",
    "StepRow",
    "StoredReset",
    "Values",
    "layout_of",
]

RESET, STEP, AUTORESET, RESTORE = range(4)
"""What a row is; the numbers are part of the format."""
BLOCK_BYTES = 8 << 20
MAX_ROWS = 1 << 13
OBJECT_BYTES = 4 << 20
"""From how many bytes of messages and other objects on a block is written."""
Layout = dict[str, tuple[np.dtype[np.generic], tuple[int, ...]]]
"""The dtype and shape of a row of each column."""
Values = Mapping[str, Array | np.generic]
"""The arrays of a row, by column; a digest is one number."""
_ENCODER = msgspec.msgpack.Encoder()


class ObjectRows:
    """A column of values that are no arrays: a row is a list with a value for each lane, as msgpack.

    >>> rows = ObjectRows()
    >>> rows.append(["go", None])
    >>> msgspec.msgpack.decode(rows.member(0, 1))
    [['go', None]]
    """

    def __init__(self) -> None:
        self._rows: list[bytes] = []
        self.size = 0

    def append(self, values: object) -> None:
        """Take the values of a row, as plain data."""
        try:
            row = _ENCODER.encode(values)
        except (TypeError, ValueError, OverflowError, RecursionError) as error:
            raise CodecError(f"row: expected plain data, got {error}") from error
        self._rows.append(row)
        self.size += len(row)

    def member(self, first: int, end: int) -> bytes:
        """These rows as one list."""
        rows = self._rows[first:end]
        return b"\xdd" + len(rows).to_bytes(4, "big") + b"".join(rows)


class StoredReset(msgspec.Struct, array_like=True):
    """A reset as a file has it; of one lane where a plan of episodes began it, with the episode's number there."""

    row: int
    seed: object
    options: object
    lane: int = -1
    number: int = 0


class PlannedEpisode(NamedTuple):
    """What a plan says of an episode, as plain data."""

    lane: int
    number: int
    seed: object
    options: object


class StepRow(NamedTuple):
    """One call of reset or step."""

    operation: int
    values: Values
    """Arrays, by column."""
    objects: Mapping[str, object]
    """Other values as plain data, by column: a list with one for each lane."""
    mask: Array | None = None
    """The lanes that took part; None for all."""
    reset: tuple[object, object] | None = None
    """The seed and the options of a reset, as plain data."""
    final: tuple[Array, list[Array]] | None = None
    """The lanes that ended and began in this row, and their last observations."""
    plans: tuple["PlannedEpisode", ...] = ()
    """How the lanes were begun that a plan of episodes begins in this row."""


class RowBlock:
    """As many rows as fit into some megabytes."""

    def __init__(
        self, layout: Layout, objects: tuple[str, ...], shown: dict[str, np.dtype[np.generic]] | None = None
    ) -> None:
        row_bytes = sum(dtype.itemsize * int(np.prod(shape, dtype=object)) for dtype, shape in layout.values())
        self.rows = max(1, min(MAX_ROWS, BLOCK_BYTES // max(1, row_bytes)))
        self.layout, self.shown = layout, shown or {}
        """`shown`: the dtypes of columns whose values are narrowed already."""
        self.arrays: dict[str, Array] = {
            name: np.zeros((self.rows, *shape), dtype) for name, (dtype, shape) in layout.items()
        }
        self.objects = {name: ObjectRows() for name in objects}
        self.ended = Ended()
        self.clear(0)

    def clear(self, first: int) -> None:
        """Begin anew, with this row of the run."""
        self.first, self.filled, self.flushed = first, 0, 0
        """The run's row that the first one is, how many rows are in, and how many of them are in the file."""
        for name in self.objects:
            self.objects[name] = ObjectRows()
        self.operations = bytearray()
        self.masks: list[tuple[int, Array]] = []
        self.resets: list[StoredReset] = []
        self.ended.clear()
        self.told = 0
        self.finals: list[tuple[int, Array, list[Array]]] = []
        self.events: list[StoredEvent] = []
        self.object_bytes = 0

    @property
    def full(self) -> bool:
        """Whether no row more is to be put in."""
        return self.filled >= self.rows or self.object_bytes > OBJECT_BYTES

    def fits(self, values: Values) -> bool:
        """Whether these arrays have the dtypes and shapes of the columns."""
        layout = self.layout
        for name, value in values.items():
            known = layout.get(name)
            if known is None or value.dtype != known[0] or value.shape != known[1]:
                return False
        return True

    def put(self, row: "StepRow") -> None:
        """Take a row, whose values `fits`; a column without a value has zeros. It counts once all of it is in."""
        operation, values, objects, mask, reset, final, plans = row
        place, number = self.filled, self.first + self.filled
        for name, array in self.arrays.items():
            array[place] = values.get(name, 0)
        for name, column in self.objects.items():
            before = column.size
            column.append(objects.get(name))
            self.object_bytes += column.size - before
        if mask is not None:
            self.masks.append((number, mask))
        if reset is not None:
            self.resets.append(StoredReset(number, *reset))
        self.resets += [StoredReset(number, one.seed, one.options, one.lane, one.number) for one in plans]
        if final is not None:
            self.finals.append((number, *final))
        self.operations.append(operation)
        self.filled = place + 1


def layout_of(values: Values) -> Layout:
    """The layout of rows like this one; raises TrajectoryError for what is no array of numbers."""
    for name, value in values.items():
        if value.dtype.kind not in "biufc" or value.dtype.itemsize > 16:
            raise TrajectoryError(f"{name}: expected numbers, got an array of dtype {value.dtype}")
    return {name: (value.dtype, value.shape) for name, value in values.items()}
