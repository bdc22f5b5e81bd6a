"""Bytes of files, moved between descriptors: what is only zeros is not written, and a limit holds."""

import fcntl
import os
from collections.abc import Callable

from ludus.errors import LimitExceeded

__all__ = ["clone", "copy", "read_all", "write_all"]

CHUNK_BYTES = 1 << 20
ZEROS = bytes(CHUNK_BYTES)
FICLONE = 0x40049409


def clone(source: int, target: int) -> bool:
    """Share the blocks of a file with an empty one; false where the file system cannot."""
    try:
        fcntl.ioctl(target, FICLONE, source)
    except OSError:
        return False
    return True


def copy(source: int, target: int | None, most: int, hashed: Callable[[bytes], object] | None = None) -> int:
    """Copy a file from its beginning to its end, and hash it on the way; LimitExceeded beyond `most` bytes.

    Whole blocks of zeros become holes: a sparse file must not fill the disk of the store.
    """
    size = 0
    while piece := os.pread(source, CHUNK_BYTES, size):
        if size + len(piece) > most:
            raise LimitExceeded(f"workspace: expected at most {most} bytes more, got a file with {size + len(piece)}")
        if hashed is not None:
            hashed(piece)
        if target is not None and piece != ZEROS[: len(piece)]:
            write_all(target, piece, size)
        size += len(piece)
    if target is not None:
        os.ftruncate(target, size)
    return size


def read_all(file: int, most: int) -> bytes:
    """A file from its beginning, at most so many bytes."""
    pieces: list[bytes] = []
    size = 0
    while size < most and (piece := os.pread(file, most - size, size)):
        pieces.append(piece)
        size += len(piece)
    return b"".join(pieces)


def write_all(file: int, data: bytes, offset: int = 0) -> None:
    """Write bytes at a place."""
    view = memoryview(data)
    while view:
        done = os.pwrite(file, view, offset)
        view, offset = view[done:], offset + done
