"""`ContentIndex`: which files were seen with which content, so that what did not change is not read again.

A file counts as unchanged if inode, size, mtime and ctime are. The kernel alone sets ctime, so no program can hide a
change; but its clock ticks, and a change in the same tick as the look goes unseen. So what changed shortly before a
scan began is not remembered, and is read again by the next.
"""

import os
from pathlib import Path

import msgspec

from ludus.core.foreign_file import read_foreign_file

__all__ = ["ContentIndex", "Seen"]

CLOCK_TICK_NS = 50_000_000
"""Nanoseconds: several ticks of any kernel's clock."""
SECOND_NS = 1_000_000_000
MAX_INDEX_BYTES = 256 << 20

Seen = tuple[int, int, int, int]


class Stored(msgspec.Struct, array_like=True):
    """An index as a file."""

    generation: int
    rows: dict[bytes, tuple[int, int, int, int, bytes]]


class ContentIndex:
    """Contents by path; `generation` is that of the store when all of them were there."""

    def __init__(self, generation: int = 0) -> None:
        self.generation = generation
        self.rows: dict[bytes, tuple[int, int, int, int, bytes]] = {}

    def content(self, path: bytes, found: os.stat_result) -> bytes | None:
        """The content of a file that is as it was; None where that is not certain."""
        row = self.rows.get(path)
        if row is None or row[:4] != (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns):
            return None
        return row[4]

    def remember(self, path: bytes, found: os.stat_result, content: bytes, begun: int) -> None:
        """A file that had this content when it was read, after `begun`; not if it had changed shortly before."""
        changed = found.st_ctime_ns
        # Whole seconds are what a file system shows that has no finer clock.
        if changed < begun - (CLOCK_TICK_NS if changed % SECOND_NS else 2 * SECOND_NS):
            self.rows[path] = (found.st_ino, found.st_size, found.st_mtime_ns, changed, content)

    def save(self, path: Path) -> None:
        """Write it, at once or not at all."""
        temporary = path.with_suffix(f".{os.getpid()}")
        temporary.write_bytes(msgspec.msgpack.encode(Stored(self.generation, self.rows)))
        temporary.rename(path)

    @classmethod
    def load(cls, path: Path) -> "ContentIndex":
        """Read it; empty where it is not there, or damaged: it only saves time."""
        index = cls()
        try:
            stored = msgspec.msgpack.decode(read_foreign_file(path, MAX_INDEX_BYTES), type=Stored)
        except (OSError, msgspec.MsgspecError):
            return index
        index.generation, index.rows = stored.generation, stored.rows
        return index
