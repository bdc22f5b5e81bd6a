"""The common case of WebSocket, for both ends: a whole binary message in one frame. All else is left to a library.

A library's parser is right about everything and costs tens of microseconds a message; nearly all messages are of the
one kind that needs none of it. A splitter hands the library whole frames, or the parts of one that is long, in order.
"""

from collections.abc import Callable
from struct import Struct

__all__ = ["BINARY", "MASKED", "SHORT", "Splitter", "binary_frame", "frame_head"]

BINARY = 0x82
"""A binary message in one frame."""
MASKED, LENGTH = 0x80, 0x7F
SHORT, MIDDLE = 126, 1 << 16
_MIDDLE, _LONG = Struct(">BBH"), Struct(">BBQ")

Mask = Callable[[bytes, bytes], bytes]


def binary_frame(data: bytes, key: bytes = b"", mask: Mask | None = None) -> bytes:
    r"""A binary message as one frame; a client's has a key, by which `mask` hides it.

    >>> binary_frame(b"go")
    b'\x82\x02go'
    """
    if mask is None:
        return frame_head(len(data)) + data
    return frame_head(len(data), MASKED) + key + mask(data, key)


def frame_head(size: int, bit: int = 0) -> bytes:
    r"""What comes before a binary message of so many bytes.

    >>> frame_head(300)
    b'\x82~\x01,'
    """
    if size < SHORT:
        return bytes((BINARY, bit | size))
    return _MIDDLE.pack(BINARY, bit | SHORT, size) if size < MIDDLE else _LONG.pack(BINARY, bit | 127, size)


class Splitter:
    r"""Cuts the bytes of a connection into messages that are whole, and what a library has to read.

    >>> splitter = Splitter(1000)
    >>> splitter.split(b"\x82\x02go" + b"\x89\x00" + b"\x82")
    [(b'go', b''), (None, b'\x89\x00')]
    >>> splitter.split(b"\x01!")
    [(b'!', b'')]
    """

    def __init__(self, most: int, mask: Mask | None = None) -> None:
        self._most, self._mask, self._bit = most, mask, MASKED if mask is not None else 0
        self._rest = b""
        """The beginning of a frame's head."""
        self._due = 0
        """Bytes that are still to come of a frame which the library reads."""
        self._open = False
        """Whether a message in several frames is under way."""

    @property
    def idle(self) -> bool:
        """Whether nothing is left of what came before: what comes next begins a frame."""
        return not (self._rest or self._due or self._open)

    def split(self, data: bytes) -> list[tuple[bytes | None, bytes]]:
        """Pairs: a message and nothing, or None and bytes for the library."""
        if len(data) > 1 and data[0] == BINARY and not (self._rest or self._due or self._open):
            size = data[1] ^ self._bit
            if size < SHORT and len(data) == size + (6 if self._bit else 2):
                return [(self._message(data, 2, len(data)), b"")]
        found: list[tuple[bytes | None, bytes]] = []
        if self._due:
            part = data[: self._due]
            self._due -= len(part)
            found.append((None, part))
            data = data[len(part) :]
        data, self._rest = self._rest + data, b""
        at = 0
        while at < len(data):
            end = self._next(data, at, found)
            if end < 0:
                self._rest = data[at:]
                break
            at = end
        return found

    def _next(self, data: bytes, at: int, found: list[tuple[bytes | None, bytes]]) -> int:
        """Take the frame that begins at a place; where it ends, or -1 where its head is not all there."""
        if len(data) - at < 2:
            return -1
        first, second = data[at], data[at + 1]
        size = second & LENGTH
        wide = 0 if size < SHORT else 2 if size == SHORT else 8
        head = at + 2 + wide
        if len(data) < head:
            return -1
        size = int.from_bytes(data[at + 2 : head], "big") if wide else size
        end = head + (4 if second & MASKED else 0) + size
        is_ours = second & MASKED == self._bit and size <= self._most
        if first == BINARY and is_ours and not self._open and end <= len(data):
            found.append((self._message(data, head, end), b""))
            return end
        if first & 0x0F < 8:  # data, or more of it: the last frame says so
            self._open = not first & 0x80
        found.append((None, data[at:end]))
        self._due = max(0, end - len(data))
        return min(end, len(data))

    def _message(self, data: bytes, head: int, end: int) -> bytes:
        if self._mask is None:
            return data[head:end]
        return self._mask(data[head + 4 : end], data[head : head + 4])
