"""Codec: a value of a space as JSON or msgpack bytes, and back, checked on the way in."""

from typing import Literal, TypeVar

from ludus.errors import InvalidArgument
from ludus.spaces.message import pack, read_json, unpack, write_json
from ludus.spaces.space import Space

__all__ = ["dumps", "loads"]

T = TypeVar("T")
Format = Literal["json", "msgpack"]


def dumps(space: Space[object], value: object, *, format: Format = "json") -> bytes:
    """A value of `space` as bytes; msgpack carries arrays as raw bytes. Refuses a value that is not in the space.

    >>> from ludus.spaces import Discrete, Tuple
    >>> dumps(Tuple((Discrete(3), Discrete(2))), (2, 1))
    b'[2,1]'
    """
    space.check(value)
    if format == "json":
        return write_json(space.encode(value))
    if format == "msgpack":
        return pack(space.encode(value, binary=True))
    raise InvalidArgument(f"format: expected 'json' or 'msgpack', got {format!r}")


def loads(space: Space[T], data: bytes | str, *, format: Format = "json", name: str = "value") -> T:
    """The value in `data`, which is in the space or an error is raised; safe on bytes from strangers.

    >>> from ludus.spaces import Discrete
    >>> loads(Discrete(3), b"7", name="action")
    Traceback (most recent call last):
    ludus.errors.InvalidValue: action: expected Discrete(3), got 7 (int64)
    """
    if format not in ("json", "msgpack"):
        raise InvalidArgument(f"format: expected 'json' or 'msgpack', got {format!r}")
    plain = read_json(data, name) if format == "json" else unpack(data, name)  # type: ignore[arg-type]
    value = space.decode(plain)
    space.check(value, name)
    return value
