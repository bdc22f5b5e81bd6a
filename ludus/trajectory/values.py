"""Values of a space as columns: an array for each leaf of fixed shape, plain data for anything else."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal

import msgspec
import numpy as np

from ludus.errors import InvalidValue, LudusError, TrajectoryError, shorten
from ludus.spaces import ArraySpace, Space
from ludus.spaces.array_space import Array
from ludus.spaces.kinds import is_iterable
from ludus.trajectory.chunk_reader import Column
from ludus.wire.space_codec import SpaceCodec
from ludus.wrappers.lanes import leaf_spaces, leaves, rebuilt

__all__ = ["ValueColumns"]


class ValueColumns:
    """Takes values of a space apart, and puts them together again; `lanes` is None for one environment.

    >>> from ludus.spaces import Box, Dict, Text
    >>> columns = ValueColumns(Dict(x=Box(0, 1, (2,)), word=Text(5)), "observation", None)
    >>> columns.names, columns.array_names
    (('observation.0', 'observation.1'), ('observation.0',))
    """

    def __init__(self, space: Space[object], name: Literal["observation", "action"], lanes: int | None) -> None:
        self.space, self.name, self.lanes = space, name, lanes
        self.leaf_spaces = leaf_spaces(space)
        whole = len(self.leaf_spaces) == 1 and self.leaf_spaces[0] is space
        self.names = (name,) if whole else tuple(f"{name}.{place}" for place in range(len(self.leaf_spaces)))
        self._arrays = [isinstance(one, ArraySpace) for one in self.leaf_spaces]
        self._codecs = [
            None if array else SpaceCodec(one, name) for one, array in zip(self.leaf_spaces, self._arrays, strict=True)
        ]
        self.array_names = tuple(one for one, array in zip(self.names, self._arrays, strict=True) if array)
        self.object_names = tuple(one for one, array in zip(self.names, self._arrays, strict=True) if not array)
        self._one_array = whole and self._arrays[0]

    # --- taking apart ---

    def take(self, value: object) -> tuple[dict[str, Array], dict[str, list[object]]]:
        """The arrays of a value and the plain data of its other leaves, each with a lane in front."""
        if self._one_array and self.lanes is not None and type(value) is np.ndarray:
            return {self.name: value}, {}
        arrays: dict[str, Array] = {}
        objects: dict[str, list[object]] = {}
        for name, codec, leaf in zip(self.names, self._codecs, self._leaves(value), strict=True):
            if codec is None:
                arrays[name] = np.asarray(leaf) if self.lanes is not None else np.asarray(leaf)[None]
            else:
                objects[name] = [codec.write(one) for one in (_items(leaf) if self.lanes is not None else (leaf,))]
        return arrays, objects

    def _leaves(self, value: object) -> list[object]:
        try:
            return leaves(self.space, value)
        except (TypeError, KeyError, ValueError, IndexError) as error:
            raise InvalidValue(f"{self.name}: expected a value of {self.space!r}, got {shorten(value)}") from error

    def zeros(self) -> dict[str, Array]:
        """Arrays for a row without a value."""
        lanes = 1 if self.lanes is None else self.lanes
        return {
            name: np.zeros((lanes, *(one.shape or ())), one.dtype)
            for name, one, array in zip(self.names, self.leaf_spaces, self._arrays, strict=True)
            if array
        }

    def final(self, values: Sequence[object]) -> list[Array] | None:
        """Leaves of some lanes' values, stacked; None where not all of them are arrays."""
        if self.object_names:
            return None
        taken = [self._leaves(one) for one in values]
        return [np.stack([np.asarray(one[place]) for one in taken]) for place in range(len(self.names))]

    def parts(self, arrays: dict[str, Array], objects: dict[str, list[object]]) -> list[Array | bytes]:
        """What a digest is taken of, in the order of the leaves."""
        return [arrays[name] if name in arrays else msgspec.msgpack.encode(objects[name]) for name in self.names]

    # --- putting together ---

    def one(self, row: Mapping[str, object]) -> object:
        """The value of one lane from what its columns have in one row; raises TrajectoryError on what is none."""
        return self._together(row, self._array, lambda codec, data: codec.take(data))

    def whole(self, row: Mapping[str, object]) -> object:
        """The value of all lanes of a batch; a column of other values is a list with one for each."""
        return self._together(row, _contiguous, lambda codec, data: tuple([codec.take(one) for one in _items(data)]))

    def many(self, columns: Mapping[str, object]) -> object:
        """Values with a row in front: arrays as they are, lists of others, in the structure of the space."""
        return self._together(columns, _unchanged, lambda codec, data: [codec.take(one) for one in _items(data)])

    def _together(
        self,
        columns: Mapping[str, object],
        array: Callable[[Space[object], object], object],
        other: Callable[[SpaceCodec, object], object],
    ) -> object:
        try:
            found = [
                array(space, columns[name]) if codec is None else other(codec, columns[name])
                for name, space, codec in zip(self.names, self.leaf_spaces, self._codecs, strict=True)
            ]
            return rebuilt(self.space, found)
        except (LudusError, LookupError, TypeError, ValueError, AttributeError) as error:
            raise TrajectoryError(f"{self.name}: expected values of {self.space!r}, got {error}") from error

    def take_many(self, values: object) -> list[Column]:
        """The leaves of what `many` gave."""
        return leaves(self.space, values)

    def split(self, values: object, count: int) -> list[object]:
        """What `many` gave, taken apart into one value for each row."""
        columns = leaves(self.space, values)
        short = [len(column) for column in columns if len(column) < count]
        if short:
            raise TrajectoryError(f"{self.name}: expected {count} rows, got {short[0]}")
        return [
            rebuilt(
                self.space,
                [
                    column[row] if codec is not None else self._array(space, column[row])
                    for column, space, codec in zip(columns, self.leaf_spaces, self._codecs, strict=True)
                ],
            )
            for row in range(count)
        ]

    @staticmethod
    def _array(space: Space[object], value: object) -> object:
        array = np.asarray(value)
        return array.item() if not space.shape and space.dtype.kind in "iu" else array.copy()


def _items(rows: object) -> Iterable[object]:
    """What is there of each lane, or of each row."""
    if not is_iterable(rows):
        raise TypeError(f"expected one value for each, got {shorten(rows)}")
    return rows


def _contiguous(space: object, array: object) -> Array:
    del space
    return np.ascontiguousarray(array)


def _unchanged(space: object, array: object) -> object:
    del space
    return array
