"""Files, read, written and listed inside, as the sandboxed user: a link leads nowhere that a command could not go."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator

from ludus.sandbox.session.inside.wire import PIECE_BYTES, to_text

__all__ = ["list_folder", "read", "write"]

KINDS = {stat.S_IFREG: "file", stat.S_IFDIR: "folder", stat.S_IFLNK: "link"}


def read(path: bytes, offset: int, limit: int) -> Iterator[bytes]:
    """At most `limit` bytes of a file, in pieces."""
    file = _open(path, os.O_RDONLY)
    try:
        os.lseek(file, offset, os.SEEK_SET)
        while limit > 0:
            piece = os.read(file, min(PIECE_BYTES, limit))
            if not piece:
                return
            limit -= len(piece)
            yield piece
    finally:
        os.close(file)


def write(path: bytes, data: bytes, *, append: bool, mode: int | None) -> None:
    """Write a file, or go on writing it."""
    if not append:
        os.makedirs(os.path.dirname(path) or b".", exist_ok=True)
    file = _open(path, os.O_WRONLY | os.O_CREAT | (os.O_APPEND if append else 0))
    try:
        if not append:
            os.ftruncate(file, 0)
        if mode is not None:
            os.fchmod(file, mode)
        view = memoryview(data)
        while view:
            view = view[os.write(file, view) :]
    finally:
        os.close(file)


def list_folder(path: bytes, limit: int) -> Iterator[dict[str, object]]:
    """What is in a folder, one more than `limit` at most; links are not followed."""
    with os.scandir(path) as entries:
        for place, entry in enumerate(entries):
            try:
                status = entry.stat(follow_symlinks=False)
            except OSError:
                continue  # gone meanwhile
            yield {
                "name": to_text(entry.name),
                "kind": KINDS.get(stat.S_IFMT(status.st_mode), "other"),
                "size": status.st_size,
                "mode": stat.S_IMODE(status.st_mode),
                "time": status.st_mtime,
            }
            if place >= limit:
                return


def _open(path: bytes, flags: int) -> int:
    """A regular file; a pipe or a device would let us wait, or read for ever."""
    file = os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY, 0o666)
    kind = os.fstat(file).st_mode
    if stat.S_ISREG(kind):
        return file
    os.close(file)
    number = errno.EISDIR if stat.S_ISDIR(kind) else errno.EINVAL
    raise OSError(number, os.strerror(number))
