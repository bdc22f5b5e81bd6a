"""Frames between a session and its agent: a JSON head and raw bytes, each with its length before it and a limit."""

from __future__ import annotations

import json
import struct

__all__ = ["Decoder", "MAX_DATA_BYTES", "MAX_HEAD_BYTES", "PIECE_BYTES", "encode", "fields_of", "to_bytes", "to_text"]

LENGTHS = struct.Struct(">II")
MAX_HEAD_BYTES = 4 << 20
MAX_DATA_BYTES = 8 << 20
PIECE_BYTES = 1 << 16
"""Bytes of output, or of a file, in one frame."""


def encode(head: dict[str, object], data: bytes = b"") -> bytes:
    """One frame."""
    text = json.dumps(head).encode()
    return LENGTHS.pack(len(text), len(data)) + text + data


def to_text(data: bytes) -> str:
    """Bytes as JSON can carry them, one character each: paths need not be UTF-8."""
    return data.decode("latin-1")


def to_bytes(text: str) -> bytes:
    """What `to_text` was given."""
    return text.encode("latin-1")


def fields_of(head: bytes) -> dict[str, object]:
    """The fields of a head; ValueError where it is no JSON object."""
    fields: dict[str, object] | list[object] | str | float | None = json.loads(head)
    if not isinstance(fields, dict):
        raise ValueError("a head that is no object")
    return fields


class Decoder:
    """Bytes in, frames out; ValueError as soon as a frame announces more than its limit."""

    def __init__(self, most_head: int = MAX_HEAD_BYTES, most_data: int = MAX_DATA_BYTES) -> None:
        self.most_head, self.most_data = most_head, most_data
        self.buffer = bytearray()

    def feed(self, data: bytes) -> None:
        """Take what was read."""
        self.buffer += data

    def frame(self) -> tuple[bytes, bytes] | None:
        """The next frame as its head and its bytes, or None until more is fed."""
        if len(self.buffer) < LENGTHS.size:
            return None
        head, data = LENGTHS.unpack_from(self.buffer)
        if head > self.most_head or data > self.most_data:
            raise ValueError(f"a frame of {head} and {data} bytes, above {self.most_head} and {self.most_data}")
        middle, end = LENGTHS.size + head, LENGTHS.size + head + data
        if len(self.buffer) < end:
            return None
        found = bytes(self.buffer[LENGTHS.size : middle]), bytes(self.buffer[middle:end])
        del self.buffer[:end]
        return found
