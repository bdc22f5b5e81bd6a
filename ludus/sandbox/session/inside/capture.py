"""Captures: the first and the last bytes of a stream; what came between is counted and dropped."""

from __future__ import annotations

__all__ = ["Capture"]

SLACK = 1 << 16


class Capture:
    """Half of `limit` is for the beginning, half for the end: errors stand at both."""

    def __init__(self, limit: int) -> None:
        self.first, self.last = limit - limit // 2, limit // 2
        self.head, self.tail = bytearray(), bytearray()
        self.total = 0

    def feed(self, data: bytes) -> bytes:
        """Take what was read; returns the part of it that belongs to the beginning."""
        begin = data[: self.first - len(self.head)]
        self.head += begin
        self.total += len(data)
        self.tail += data[len(begin) :]
        if len(self.tail) > self.last + SLACK:
            del self.tail[: len(self.tail) - self.last]
        return begin

    def end(self) -> bytes:
        """The last bytes, without those of the beginning."""
        return bytes(self.tail[len(self.tail) - min(len(self.tail), self.last) :])

    @property
    def dropped(self) -> int:
        """Bytes between the beginning and the end."""
        return self.total - len(self.head) - len(self.end())

    def recent(self, size: int) -> bytes:
        """The last `size` bytes, as far as they are kept."""
        end = self.end()
        kept = end if self.dropped else bytes(self.head) + end
        return kept[max(0, len(kept) - size) :]
