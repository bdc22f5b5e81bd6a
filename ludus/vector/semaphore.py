"""Semaphores in shared memory. One process posts, another waits; there is no file, no name, nothing to unlink.

The C library's own are used, since the standard library's have names. Posting costs no system call while nobody waits.
"""

import ctypes
import os
import time
from platform import machine

__all__ = ["SEMAPHORE_BYTES", "Semaphore", "fence"]

SEMAPHORE_BYTES = 64
"""A cache line: no platform's semaphore is larger."""


class _Timespec(ctypes.Structure):
    _fields_ = (("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long))


_blocking = ctypes.CDLL(None, use_errno=True)
_brief = ctypes.PyDLL(None)
"""Calls that return at once keep the interpreter's lock: giving it up costs more than they do."""
_fence = (ctypes.c_char * SEMAPHORE_BYTES)()
_has_clock = hasattr(_blocking, "sem_clockwait")
_CLOCK = time.CLOCK_MONOTONIC if _has_clock else time.CLOCK_REALTIME


def _no_fence() -> None:
    pass


def _real_fence() -> None:
    _brief.sem_post(_fence)  # orders what was written before it
    _brief.sem_trywait(_fence)  # and what is read after it


fence = _no_fence if machine() in ("x86_64", "AMD64", "i686") else _real_fence
"""Call it between data and the number that says it is there, when both are written, and when both are read.

Processors of that family keep the order of writes, and of reads, by themselves; others do not.
"""


class Semaphore:
    """A semaphore at the beginning of `memory`, which has `SEMAPHORE_BYTES`; the memory's maker says `new`.

    >>> from mmap import mmap
    >>> semaphore = Semaphore(memoryview(mmap(-1, SEMAPHORE_BYTES)), new=True)
    >>> semaphore.post()
    >>> semaphore.wait(1.0), semaphore.wait(0.001)
    (True, False)
    """

    def __init__(self, memory: memoryview, *, new: bool = False) -> None:
        self._place = (ctypes.c_char * SEMAPHORE_BYTES).from_buffer(memory)
        self._address: object = ctypes.byref(self._place)
        self._until = _Timespec()
        if new and _blocking.sem_init(self._address, 1, 0):
            raise OSError(ctypes.get_errno(), f"sem_init: {os.strerror(ctypes.get_errno())}")

    def post(self) -> None:
        """Wake the thread that waits, or the next that does."""
        _brief.sem_post(self._address)

    def drain(self) -> None:
        """Take back the posts that nobody has waited for."""
        while not _brief.sem_trywait(self._address):
            pass

    def try_wait(self) -> None:
        """Take one post, whose news was seen without waiting; they would pile up."""
        _brief.sem_trywait(self._address)

    def wait(self, seconds: float) -> bool:
        """Sleep until it is posted, for so many seconds at most; a signal ends the sleep early, with False."""
        end = time.clock_gettime_ns(_CLOCK) + int(seconds * 1e9)
        self._until.seconds, self._until.nanoseconds = divmod(end, 1_000_000_000)
        if _has_clock:
            return not _blocking.sem_clockwait(self._address, _CLOCK, ctypes.byref(self._until))
        return not _blocking.sem_timedwait(self._address, ctypes.byref(self._until))
