"""Frames on descriptor 3: four bytes of length, and JSON. Standard library alone, since it runs in any Python."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import TypeGuard

__all__ = ["CHANNEL", "plain", "receive", "send"]

CHANNEL = 3
MAX_FRAME_BYTES = 64 << 20
"""Bytes of one frame."""


def plain(value: object) -> object:
    """What JSON does not know: arrays and numbers of NumPy as lists and numbers, sets and paths.

    >>> plain({3})
    [3]
    """
    as_list: object = getattr(value, "tolist", None)
    if callable(as_list):
        return as_list()
    if _is_set(value):
        return sorted(value)
    if _is_path(value):
        return os.fspath(value)
    raise TypeError(f"expected numbers, text, lists and dictionaries, got {type(value).__name__}")


def _is_set(value: object) -> TypeGuard[set[Any] | frozenset[Any]]:
    return isinstance(value, (set, frozenset))


def _is_path(value: object) -> TypeGuard[os.PathLike[str]]:
    return isinstance(value, os.PathLike)


def send(message: object, channel: int = CHANNEL) -> None:
    """Write one frame."""
    data = json.dumps(message, default=plain, separators=(",", ":")).encode()
    data = len(data).to_bytes(4, "big") + data
    while data:
        data = data[os.write(channel, data) :]


def receive(channel: int = CHANNEL) -> Any:
    """Read one frame; EOFError where the other side has gone."""
    size = int.from_bytes(_taken(4, channel), "big")
    if size > MAX_FRAME_BYTES:
        raise EOFError(f"expected a frame of at most {MAX_FRAME_BYTES} bytes, got {size}")
    return json.loads(_taken(size, channel))


def _taken(size: int, channel: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        piece = os.read(channel, min(1 << 20, size - len(data)))
        if not piece:
            raise EOFError("the other side has gone")
        data += piece
    return bytes(data)
