"""Looking for what comes next before waiting for it: being woken takes longer than most steps.

A look in vain costs as much as it could have saved. So after one, what comes is waited for twice without a look, after
two in a row four times, and so on. `Spin` is that; a client and a server's thread, which make no call that can be
spared, have the same in the loop that reads their messages.
"""

import os
import time
from collections.abc import Callable
from typing import Any

__all__ = ["LOOK_SECONDS", "MOST_MISSES", "Spin", "yield_core"]

CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
LOOK_SECONDS = 100e-6 if CORES > 1 else 0.0
"""How long to look: about what being woken costs. With one core, whoever looks keeps the other side from answering."""
MOST_MISSES = 10
"""Looks in vain, after which there are no fewer: one for a thousand messages."""

yield_core: Callable[[], object] = getattr(os, "sched_yield", lambda: time.sleep(0.0))
"""Between two looks: on a machine that has no core to spare, the other side is let run, and answers all the sooner."""


class Spin:
    """Looks for what comes next, by a `poll` that gives what there is within so many milliseconds.

    >>> spin = Spin(lambda milliseconds: [])
    >>> spin.look(), spin.rest
    (False, 2)
    >>> spin.look(), spin.look(), spin.rest
    (False, False, 0)
    """

    def __init__(self, poll: Callable[[int], Any]) -> None:
        self._poll = poll
        self.rest = self._misses = 0
        """How often it is waited for without a look."""

    def look(self) -> bool:
        """Whether something came, within a moment; False at once where looking was in vain before."""
        if self.rest > 0:
            self.rest -= 1
            return False
        poll, ends = self._poll, time.perf_counter() + LOOK_SECONDS
        while not (found := poll(0)) and time.perf_counter() < ends:
            yield_core()
        self._misses = 0 if found else min(self._misses + 1, MOST_MISSES)
        self.rest = 0 if found else 1 << self._misses
        return bool(found)
