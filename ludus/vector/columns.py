"""Columns: the values of all lanes, arrays in shared memory and everything else beside it.

A column is made from a space, on both sides alike. Arrays of fixed shape are rows of one shared array; `Dict` and
`Tuple` are columns of columns; values of any other space (texts, graphs, records …) travel in messages.
"""

from collections.abc import Iterator, Mapping
from collections.abc import Sequence as Sequential
from copy import deepcopy
from typing import Any, TypeGuard

import numpy as np

from ludus.core.fork import Lanes
from ludus.spaces import ArraySpace, Dict, Graph, OneOf, Sequence, Space, Text, Tuple
from ludus.spaces.kinds import is_dict, is_tuple
from ludus.spaces.slot import Allocate

__all__ = ["Column", "Rest", "ValueColumn", "column_of", "measure"]

View = Allocate
"""Gives the next so many bytes of the shared memory."""
Rest = list[object]
"""What shared memory does not hold of a value, as a message carries it: whether its space wrote it, and the data."""


class Column:
    """The values of `n` lanes in one space."""

    whole: bool
    """Whether all of every value is in shared memory."""

    def write(self, lane: int, x: Any, rest: list[Rest]) -> None:
        """Take a value; what shared memory does not hold is appended to `rest`."""
        raise NotImplementedError

    def accept(self, lane: int, rest: Iterator[Rest]) -> None:
        """Take the rest of what the other side has written."""
        raise NotImplementedError

    def read(self, lane: int) -> object:
        """The value of a lane, a copy."""
        raise NotImplementedError

    def batch(self, lanes: Lanes | None = None, *, copy: bool = True) -> Any:
        """The values of all lanes or of these, as one value of the batched space."""
        raise NotImplementedError

    def put(self, batch: object, lanes: Lanes | None = None) -> bool:
        """Take a batch of values at once, if shared memory holds them just as they are; else False."""
        raise NotImplementedError


class ArrayColumn(Column):
    """Rows of one shared array."""

    whole = True

    def __init__(self, space: ArraySpace[object], n: int, view: View) -> None:
        self._space, self._shape, self._dtype = space, space.shape, np.dtype(space.dtype.str)  # that one object
        self._all = space.read_shared(space.create_shared(n, view), n)

    def write(self, lane: int, x: object, rest: list[Rest]) -> None:
        if type(x) is np.ndarray and x.dtype is self._dtype and x.shape == self._shape:
            self._all[lane] = x
        else:  # what fits and what is refused is the space's to say
            self._space.concatenate([x], self._all[lane : lane + 1])

    def accept(self, lane: int, rest: Iterator[Rest]) -> None:
        pass

    def read(self, lane: int) -> object:
        return self._all[lane].copy() if self._shape else self._all[lane]

    def batch(self, lanes: Lanes | None = None, *, copy: bool = True) -> object:
        if lanes is not None:
            return self._all[lanes]
        return self._all.copy() if copy else self._all

    def put(self, batch: object, lanes: Lanes | None = None) -> bool:
        shape = self._all.shape if lanes is None else (len(lanes), *self._shape)
        if type(batch) is not np.ndarray or batch.dtype != self._dtype or batch.shape != shape:
            return False
        self._all[... if lanes is None else lanes] = batch
        return True


class DictColumn(Column):
    """A column for each key."""

    def __init__(self, space: Dict[object], n: int, view: View) -> None:
        self._parts = {key: column_of(part, n, view) for key, part in space.spaces.items()}
        self.whole = all(part.whole for part in self._parts.values())

    def write(self, lane: int, x: Mapping[str, object], rest: list[Rest]) -> None:
        for key, part in self._parts.items():
            part.write(lane, x[key], rest)

    def accept(self, lane: int, rest: Iterator[Rest]) -> None:
        for part in self._parts.values():
            part.accept(lane, rest)

    def read(self, lane: int) -> object:
        return {key: part.read(lane) for key, part in self._parts.items()}

    def batch(self, lanes: Lanes | None = None, *, copy: bool = True) -> object:
        return {key: part.batch(lanes, copy=copy) for key, part in self._parts.items()}

    def put(self, batch: object, lanes: Lanes | None = None) -> bool:
        return (
            self.whole
            and is_dict(batch)
            and all(key in batch and part.put(batch[key], lanes) for key, part in self._parts.items())
        )


class TupleColumn(Column):
    """A column for each place."""

    def __init__(self, space: Tuple[object], n: int, view: View) -> None:
        self._parts = [column_of(part, n, view) for part in space.spaces]
        self.whole = all(part.whole for part in self._parts)

    def write(self, lane: int, x: Sequential[object], rest: list[Rest]) -> None:
        for place, part in enumerate(self._parts):
            part.write(lane, x[place], rest)

    def accept(self, lane: int, rest: Iterator[Rest]) -> None:
        for part in self._parts:
            part.accept(lane, rest)

    def read(self, lane: int) -> object:
        return tuple([part.read(lane) for part in self._parts])

    def batch(self, lanes: Lanes | None = None, *, copy: bool = True) -> object:
        return tuple([part.batch(lanes, copy=copy) for part in self._parts])

    def put(self, batch: object, lanes: Lanes | None = None) -> bool:
        return (
            self.whole
            and is_tuple(batch)
            and len(batch) == len(self._parts)
            and all(part.put(one, lanes) for part, one in zip(self._parts, batch, strict=True))
        )


class ValueColumn(Column):
    """Values that are no arrays: they travel as they are, or as their space writes them where messages cannot."""

    whole = False

    def __init__(self, space: Space[object], n: int) -> None:
        self._space, self._coded = space, not _plain(space)
        self._values: list[object] = [None] * n

    def write(self, lane: int, x: object, rest: list[Rest]) -> None:
        self._values[lane] = x
        rest.append(self.encode(x))

    def encode(self, x: object) -> Rest:
        """A value as a message carries it: whether it is as its space writes it, and the data."""
        if self._coded:
            try:
                return [True, self._space.encode(x, binary=True)]
            except (AttributeError, TypeError, ValueError, KeyError, IndexError):  # not a value of the space
                pass
        return [False, x]

    def decode(self, data: Rest) -> object:
        """The value that `encode` was given."""
        coded, x = data
        return self._space.decode(x) if coded else x

    def accept(self, lane: int, rest: Iterator[Rest]) -> None:
        self._values[lane] = self.decode(next(rest))

    def read(self, lane: int) -> object:
        return deepcopy(self._values[lane])

    def batch(self, lanes: Lanes | None = None, *, copy: bool = True) -> object:
        values = self._values if lanes is None else [self._values[lane] for lane in lanes]
        values = deepcopy(values) if copy else values
        return self._space.concatenate(values, self._space.empty(len(values)))

    def put(self, batch: object, lanes: Lanes | None = None) -> bool:
        return False


def measure(space: Space[object], n: int, view: View) -> None:
    """Ask for the memory that `column_of` will ask for, in the same order."""
    if _is_array(space):
        space.create_shared(n, view)
    elif isinstance(space, Dict | Tuple):
        for part in space.subspaces:
            measure(part, n, view)


def column_of(space: Space[object], n: int, view: View) -> Column:
    """The column for values of `space`."""
    if _is_array(space):
        return ArrayColumn(space, n, view)
    if isinstance(space, Dict):
        return DictColumn(space, n, view)
    if isinstance(space, Tuple):
        return TupleColumn(space, n, view)
    return ValueColumn(space, n)


def _is_array(space: Space[object]) -> TypeGuard[ArraySpace[object]]:
    return isinstance(space, ArraySpace) and type(space).create_shared is ArraySpace[object].create_shared


def _plain(space: Space[object]) -> bool:
    """Whether every value is made of what a message carries as it is: records, and spaces of one's own, may not be."""
    known = isinstance(space, Text | Graph | Sequence | OneOf | ArraySpace | Dict | Tuple)
    return known and all(_plain(part) for part in space.subspaces)
