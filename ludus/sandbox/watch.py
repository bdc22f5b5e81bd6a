"""The watcher: one thread that looks after every sandboxed tree, so that nobody has to poll."""

import contextlib
import heapq
import itertools
import logging
import os
import selectors
import socket
import threading
import time
from collections import deque
from collections.abc import Callable

__all__ = ["Alarm", "Watcher", "watcher"]

log = logging.getLogger(__package__)
Call = Callable[[], object]


class Alarm:
    """A call at a time, which may be taken back."""

    def __init__(self, function: Call) -> None:
        self.function: Call | None = function

    def cancel(self) -> None:
        """Forget the function, and with it all that it holds."""
        self.function = None

    def ring(self) -> None:
        """Call it, unless it was taken back."""
        if self.function is not None:
            _attempt(self.function)


class Watcher(threading.Thread):
    """Calls back when a descriptor can be read, or at a time; callbacks run in its thread and must be short."""

    def __init__(self) -> None:
        super().__init__(name="ludus-sandbox-watch", daemon=True)
        self.process = os.getpid()
        self._selector = selectors.DefaultSelector()
        self._calls: deque[Call] = deque()
        self._times: list[tuple[float, int, Alarm]] = []
        self._order = itertools.count()
        self._wake_sender, self._wake_receiver = socket.socketpair()
        self._wake_sender.setblocking(False)
        self._wake_receiver.setblocking(False)
        self._selector.register(self._wake_receiver, selectors.EVENT_READ, self._drain_wakes)
        self.start()

    def call(self, function: Call) -> None:
        """Call a function in the watcher's thread, soon; everything below is for that thread alone."""
        self._calls.append(function)
        with contextlib.suppress(BlockingIOError):  # another wake-up is on its way
            self._wake_sender.send(b"!")

    def add(self, descriptor: int, function: Call) -> None:
        """Call a function whenever a descriptor can be read."""
        self._selector.register(descriptor, selectors.EVENT_READ, function)

    def drop(self, descriptor: int) -> None:
        """Look at it no more; it must still be open."""
        self._selector.unregister(descriptor)

    def at(self, when: float, function: Call) -> Alarm:
        """Call a function when `time.monotonic()` has reached `when`."""
        alarm = Alarm(function)
        heapq.heappush(self._times, (when, next(self._order), alarm))
        return alarm

    def run(self) -> None:
        while True:
            for key, _ in self._selector.select(self._pause()):
                if self._selector.get_map().get(key.fileobj) is key:  # else what came before it has dropped it
                    _attempt(key.data)
            while self._times and self._times[0][0] <= time.monotonic():
                heapq.heappop(self._times)[2].ring()

    def _pause(self) -> float | None:
        return max(0.0, self._times[0][0] - time.monotonic()) if self._times else None

    def _drain_wakes(self) -> None:
        self._wake_receiver.recv(4096)
        while self._calls:
            _attempt(self._calls.popleft())


def _attempt(function: Call) -> None:
    try:
        function()
    except Exception:  # the others still need their watcher
        log.exception("sandbox: watching failed")


_watcher: Watcher | None = None
_lock = threading.Lock()


def watcher() -> Watcher:
    """The watcher of this process: a fork starts its own."""
    global _watcher
    with _lock:
        if _watcher is None or _watcher.process != os.getpid():
            _watcher = Watcher()
        return _watcher
