"""`SpaceCodec`: the values of one space as data, with closures made once, since this is done at every step.

Arrays of the space's own shape and dtype are bare bytes. Other values travel as they are (`encode_value`), so that the
other side gets what was given, type for type. Only graphs, records and custom spaces are written by the space itself,
which checks them on the way.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ludus.errors import CodecError, InvalidValue, shorten
from ludus.spaces import Box, Dict, Discrete, MultiBinary, MultiDiscrete, OneOf, Sequence, Space, Text, Tuple
from ludus.spaces.array_space import dtype_limits
from ludus.spaces.plain import decode_value, encode_value

__all__ = ["SpaceCodec"]

ARRAYS = (Box, MultiDiscrete, MultiBinary)
PLAIN = (*ARRAYS, Discrete, Text, Tuple, Dict, OneOf, Sequence)
"""Spaces whose values are made of numbers, text, arrays and containers."""

Read = Callable[[Any], Any]


class SpaceCodec:
    r"""Writes values of a space, and reads them with or without holding them to it.

    >>> codec = SpaceCodec(Box(0, 1, (2,), np.float32), "observation")
    >>> data = codec.write(np.array([0.5, 1.0], np.float32))
    >>> data, codec.read(data)
    (b'\x00\x00\x00?\x00\x00\x80?', array([0.5, 1. ], dtype=float32))
    >>> codec.read(codec.write(np.array([0.5, 7.0], np.float32)))
    Traceback (most recent call last):
    ludus.errors.InvalidValue: observation[1]: expected 0.0 to 1.0, got 7.0
    """

    def __init__(self, space: Space[object], name: str = "value") -> None:
        self.space, self.name = space, name
        self.write: Callable[[Any], Any]
        """A value as data; CodecError where it is no data. Whether it is in the space is not asked, unless it is typed:
        then it is made one of the space's own, or InvalidValue."""
        self.write_checked: Callable[[Any], Any]
        """The same for a value that has to be in the space: InvalidValue where it is not."""
        self.take: Read
        """The value in data, whatever it is; CodecError where the data is not one that `write` gives."""
        self.read: Read
        """The value in data, which is in the space: CodecError or InvalidValue otherwise, on any data."""
        if type(space) in ARRAYS:
            self.write, self.write_checked, self.take, self.read = _array_codec(space, name)
        elif _is_plain(space):
            self.write = lambda value: encode_value(value, name)
            self.write_checked = self._write_plain
            self.take = lambda data: decode_value(data, name)
            self.read = _held(space, self.take, name)
        else:
            self.write = self.write_checked = space.writer(name)
            self.take = self.read = space.reader(name)

    def _write_plain(self, value: object) -> Any:
        self.space.check(value, self.name)
        return encode_value(value, self.name)


def _is_plain(space: Space[object]) -> bool:
    return type(space) in PLAIN and all(map(_is_plain, space.subspaces))


def _held(space: Space[Any], take: Read, name: str) -> Read:
    """`take`, with the value held to the space."""

    def read(data: object) -> Any:
        value = take(data)
        try:
            space.check(value, name)
        except InvalidValue:
            raise
        except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, RecursionError) as error:
            raise InvalidValue(f"{name}: expected {space!r}, got {type(value).__name__}: {error}") from error
        return value

    return read


def _array_codec(space: Any, name: str) -> tuple[Read, Read, Read, Read]:
    shape, dtype = space.shape, space.dtype
    wire_dtype, size = dtype.newbyteorder("<"), int(np.prod(shape, dtype=object)) * dtype.itemsize
    array, frombuffer = np.ndarray, np.frombuffer
    inside, swapped = _inside(space), wire_dtype != dtype

    def write(value: object) -> Any:
        if type(value) is array and value.dtype == dtype and value.shape == shape:
            return value.astype(wire_dtype).tobytes() if swapped else value.tobytes()
        return encode_value(value, name)

    def write_checked(value: Any) -> Any:
        if not (type(value) is array and value.dtype == dtype and value.shape == shape and inside(value)):
            space.check(value, name)
        return write(value)

    def take(data: object) -> Any:
        if type(data) is not bytes:
            return decode_value(data, name)
        if len(data) != size:
            raise CodecError(f"{name}: expected {size} bytes for {space!r}, got {len(data)}")
        if dtype.kind == "b" and data.strip(b"\0\1"):
            raise CodecError(f"{name}: expected bytes of 0 and 1 for bools, got {shorten(data)}")
        return frombuffer(data, wire_dtype).astype(dtype).reshape(shape)

    slow = _held(space, take, name)

    def read(data: object) -> Any:
        if type(data) is bytes and len(data) == size:
            value = take(data)
            if inside(value):
                return value
        return slow(data)

    return write, write_checked, take, read


def _inside(space: Any) -> Callable[[Any], bool]:
    """Whether an array of the space's shape and dtype is in it: no slower than it must be.

    Comparing writes into masks that are kept, and a mask of ones is seen by its bytes: a third of `Box.contains`.
    """
    if not isinstance(space, Box):
        return space.contains
    if space.dtype.kind != "f" and _is_whole(space):
        return lambda _: True
    low, high, less_equal = space.low, space.high, np.less_equal
    mask: Any = np.empty(space.shape, np.bool_)
    ones = np.ones(space.shape, np.bool_).tobytes()

    def inside(value: Any) -> bool:
        if less_equal(low, value, mask) is not mask:
            return False
        if mask.tobytes() != ones:
            return False
        less_equal(value, high, mask)
        return mask.tobytes() == ones

    return inside


def _is_whole(space: Any) -> bool:
    """Whether the bounds are those of the dtype, as an image's are."""
    least, most = dtype_limits(space.dtype)
    return bool((space.low == least).all() and (space.high == most).all())
