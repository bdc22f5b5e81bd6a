"""Numbers of descriptors that were closed: whoever has them next must not be touched by those who had them before."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["taken"]


@contextmanager
def taken(number: int) -> Iterator[int]:
    """An empty file under a number that is free, as somebody else may have opened it; the file that it shares."""
    file = os.memfd_create("somebody else's")
    found = file if file == number else fcntl.fcntl(file, fcntl.F_DUPFD_CLOEXEC, number)
    try:
        assert found == number, f"expected {number} to be free, got {found}"
        yield file
    finally:
        for one in {file, found}:
            os.close(one)
