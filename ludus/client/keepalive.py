"""`keep_alive`: transports that nobody uses for a while are looked after, by one thread for all of them.

A server asks from time to time whether its clients live. A program that thinks for minutes between two steps does not
read its socket, would be taken for dead, and lose its session.
"""

import threading
from typing import Protocol
from weakref import WeakSet

__all__ = ["keep_alive"]

PERIOD_S = 5.0
"""Seconds between two looks: servers ask every twenty, and wait as long."""


class Tended(Protocol):
    """A line that is looked after."""

    def tend(self) -> None:
        """Answer a server that asks whether we live."""
        ...


_lines: "WeakSet[Tended]" = WeakSet()
_lock = threading.Lock()
_thread: threading.Thread | None = None
_nothing = threading.Event()


def keep_alive(line: Tended) -> None:
    """Have `line.tend()` called from time to time, as long as there is the line."""
    global _thread
    with _lock:
        _lines.add(line)
        if _thread is None or not _thread.is_alive():  # in a fork it is not
            _thread = threading.Thread(target=_run, name="ludus-client-keeper", daemon=True)
            _thread.start()


def _run() -> None:
    """Look after all lines, until there is none."""
    global _thread
    while not _nothing.wait(PERIOD_S):
        with _lock:
            lines = list(_lines)
            if not lines:
                _thread = None
                return
        while lines:  # no name is left for a line, which would keep the last one, and this thread, for ever
            lines.pop().tend()
