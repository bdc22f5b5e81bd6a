"""The memory of a compiled batch: one block, column after column, copied at once and handed over as one."""

from typing import NamedTuple

import numpy as np

from ludus.spaces.array_space import Array

__all__ = ["ALIGNMENT", "BlockColumn", "column_of", "columns_of", "new_block"]

ALIGNMENT = 64
"""Columns begin on cache lines of their own."""


class BlockColumn(NamedTuple):
    """What one column holds for each lane.

    >>> BlockColumn("words", "uint64", (6,)).size
    48
    """

    name: str
    dtype: str
    shape: tuple[int, ...] = ()

    @property
    def size(self) -> int:
        """Bytes for each lane."""
        return int(np.dtype(self.dtype).itemsize * np.prod(self.shape, dtype=np.int64))


def column_of(name: str, value: object) -> BlockColumn:
    """The column for values like this one.

    >>> column_of("height", 0.5)
    BlockColumn(name='height', dtype='float64', shape=())
    """
    array = np.asarray(value)
    return BlockColumn(name, "bool_" if array.dtype == np.bool_ else array.dtype.name, array.shape)


def new_block(columns: tuple[BlockColumn, ...], lanes: int) -> Array:
    """An empty block for that many lanes."""
    return np.zeros(sum(_aligned(lanes * column.size) for column in columns), dtype=np.uint8)


def columns_of(block: Array, columns: tuple[BlockColumn, ...], lanes: int) -> dict[str, Array]:
    """Each column of a block, as an array that shares its memory.

    >>> columns = (BlockColumn("x", "float64"), BlockColumn("ended", "bool_"))
    >>> columns_of(new_block(columns, 3), columns, 3)["ended"]
    array([False, False, False])
    """
    found: dict[str, Array] = {}
    at = 0
    for column in columns:
        part = block[at : at + lanes * column.size].view(np.dtype(column.dtype))
        found[column.name] = part.reshape(lanes, *column.shape)
        at += _aligned(lanes * column.size)
    return found


def _aligned(size: int) -> int:
    return (size + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
