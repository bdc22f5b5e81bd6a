"""`WakeUp`: what one thread waits for along with its sockets, and others call."""

import os
from contextlib import suppress
from threading import RLock

__all__ = ["WakeUp"]


class WakeUp:
    """A descriptor that can be waited for along with a socket.

    The waiter closes it, and others may call later than that: then nothing happens. Without the lock a call could
    write to another file, which was given the number meanwhile. It may be called by a handler of signals, also by one
    that interrupts `close`.

    >>> wake_up = WakeUp()
    >>> wake_up.call()
    >>> wake_up.clear()
    >>> wake_up.close(), wake_up.call()
    (None, None)
    """

    def __init__(self) -> None:
        self._lock = RLock()
        if hasattr(os, "eventfd"):
            self.fileno = self._writing = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        else:  # pragma: no cover  (not Linux)
            self.fileno, self._writing = os.pipe()
            os.set_blocking(self.fileno, False)
            os.set_blocking(self._writing, False)

    @property
    def descriptors(self) -> tuple[int, ...]:
        """What is open of it."""
        return tuple({self.fileno, self._writing} - {-1})

    def call(self) -> None:
        """Wake the one that waits, or will; nothing where it is closed."""
        with self._lock, suppress(BlockingIOError):
            if self._writing >= 0:
                os.write(self._writing, (1).to_bytes(8, "little"))

    def clear(self) -> None:
        """Forget all calls."""
        with self._lock, suppress(BlockingIOError):
            if self.fileno >= 0:
                os.read(self.fileno, 4096)

    def close(self) -> None:
        """Free the descriptors; harmless twice."""
        with self._lock:
            found = self.descriptors
            self.fileno = self._writing = -1  # before they are free: a handler may call in between
            for one in found:
                os.close(one)
