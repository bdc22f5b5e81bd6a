"""`Activity`: what goes on in a server's process. A thread that looks for a message has to let all else run."""

import asyncio
import select
from contextlib import suppress

__all__ = ["MAX_SPINNING_CONNECTIONS", "Activity"]

MAX_SPINNING_CONNECTIONS = 8
"""Connections: with more of them, no thread looks for a message before it waits for it."""


class Activity:
    """The connections that threads read, those that are awake among them, and whether anything has something to read.

    A thread that looks holds the interpreter nearly all the time, and whoever wants it next comes too late each time it
    is let go: so who is ready is told by the kernel, which needs no interpreter.

    >>> import socket
    >>> activity, (one, other) = Activity(), socket.socketpair()
    >>> activity.join("a connection", one.fileno())
    >>> len(activity.awake)
    1
    >>> activity.leave("a connection", one.fileno())
    >>> activity.close(), one.close(), other.close()
    (None, None, None)
    """

    def __init__(self) -> None:
        self.connections: set[object] = set()
        """Those that threads read."""
        self.awake: set[object] = set()
        """Those among them whose threads do not wait now."""
        self._ready: select.epoll | None = None

    @property
    def fileno(self) -> int:
        """What can be read while a connection, or the event loop, has something to read; -1: nothing tells."""
        ready = self._ready  # which the event loop may close meanwhile
        return -1 if ready is None or ready.closed else ready.fileno()

    def begin(self, loop: asyncio.AbstractEventLoop) -> None:
        """Hear of what the event loop has to do; harmless twice."""
        if self._ready is None and hasattr(select, "epoll") and (number := _descriptor(loop)) >= 0:
            with suppress(OSError):  # no descriptor is left
                self._ready = select.epoll()
                self._ready.register(number, select.EPOLLIN)

    def join(self, connection: object, fileno: int) -> None:
        """A thread reads a connection from now on."""
        self.connections.add(connection)
        self.awake.add(connection)
        ready = self._ready
        if ready is not None:
            with suppress(OSError, ValueError):  # closed meanwhile, by the event loop
                ready.register(fileno, select.EPOLLIN)

    def leave(self, connection: object, fileno: int) -> None:
        """It does not any more."""
        self.connections.discard(connection)
        self.awake.discard(connection)
        if self._ready is not None:
            with suppress(OSError, ValueError):
                self._ready.unregister(fileno)

    def close(self) -> None:
        """Free the descriptor; harmless twice."""
        found, self._ready = self._ready, None
        if found is not None:
            found.close()


def _descriptor(loop: object) -> int:
    """What an event loop waits for everything by: uvloop's and asyncio's have one, under no public name; -1: none."""
    tell: object = getattr(loop, "_get_backend_id", None) or getattr(getattr(loop, "_selector", None), "fileno", None)
    with suppress(AttributeError, ValueError):
        number = tell() if callable(tell) else -1
        return number if isinstance(number, int) else -1
    return -1
