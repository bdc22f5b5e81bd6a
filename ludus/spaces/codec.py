"""Codec: a value of a space as JSON or msgpack bytes, and back, checked on the way in."""

from typing import Any, Literal

import msgspec

from ludus.errors import CodecError, InvalidArgument, shorten
from ludus.spaces.space import Space

__all__ = ["dumps", "loads"]

Format = Literal["json", "msgpack"]


def dumps(space: Space[Any], value: Any, *, format: Format = "json") -> bytes:
    """A value of `space` as bytes; msgpack carries arrays as raw bytes. Refuses a value that is not in the space.

    >>> from ludus.spaces import Discrete, Tuple
    >>> dumps(Tuple((Discrete(3), Discrete(2))), (2, 1))
    b'[2,1]'
    """
    space.check(value)
    if format == "json":
        return msgspec.json.encode(space.encode(value))
    if format == "msgpack":
        return msgspec.msgpack.encode(space.encode(value, binary=True))
    raise InvalidArgument(f"format: expected 'json' or 'msgpack', got {format!r}")


def loads(space: Space[Any], data: bytes | str, *, format: Format = "json", name: str = "value") -> Any:
    """The value in `data`, which is in the space or an error is raised; safe on bytes from strangers.

    >>> from ludus.spaces import Discrete
    >>> loads(Discrete(3), b"7", name="action")
    Traceback (most recent call last):
    ludus.errors.InvalidValue: action: expected Discrete(3), got 7 (int64)
    """
    if format not in ("json", "msgpack"):
        raise InvalidArgument(f"format: expected 'json' or 'msgpack', got {format!r}")
    try:
        plain = msgspec.json.decode(data) if format == "json" else msgspec.msgpack.decode(_bytes(data))
        value = space.decode(plain)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise CodecError(f"{name}: expected {format} of {space!r}, got {shorten(data)}: {error}") from error
    space.check(value, name)
    return value


def _bytes(data: bytes | str) -> bytes:
    if isinstance(data, str):
        raise CodecError(f"msgpack: expected bytes, got text {shorten(data)}")
    return data
