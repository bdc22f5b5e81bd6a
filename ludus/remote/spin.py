"""Looking for what comes next before waiting for it: being woken takes longer than most steps.

`Spin` says whether to look. A client and a server's thread, which make no call that can be spared, have the loop of
`look` where they read their messages.
"""

import ctypes
import os
import sys
import time
from collections.abc import Callable

__all__ = ["LOOK_SECONDS", "Spin", "yield_core"]

CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
LOOK_SECONDS = 100e-6 if CORES > 1 else 0.0
"""How long to look: about what being woken costs. With one core, looking keeps the other side from answering."""
MAX_MISSES = 10
"""Looks in vain that count: with so many, there is one look for a thousand messages."""
STREAK_LOOKS = 32
"""Looks not in vain, one after another, that make up for one that was: those cost tens of times what these save."""


def _yield() -> Callable[[], object]:
    """That of `os` keeps the interpreter before Python 3.12, while whoever is let run may run for milliseconds."""
    if not hasattr(os, "sched_yield"):
        return lambda: time.sleep(0.0)
    return os.sched_yield if sys.version_info >= (3, 12) else ctypes.CDLL(None).sched_yield


yield_core = _yield()
"""Between two looks: where both sides share a core, the other one is let run, and answers all the sooner.

On a machine with more to do than it has cores, somebody else may be let run, for long: that look was in vain as well.
"""


class Spin:
    """Looks for what comes next, by a `poll` that gives what there is within so many milliseconds.

    >>> spin = Spin(lambda milliseconds: [])
    >>> spin.look(), spin.rest
    (False, 1)
    >>> spin.look(), spin.rest
    (False, 0)
    >>> spin.look(), spin.rest
    (False, 3)
    """

    __slots__ = ("_poll", "_streak", "misses", "rest")

    def __init__(self, poll: Callable[[int], object]) -> None:
        self._poll = poll
        self.rest = 0
        """How often it is waited for without a look, from now on."""
        self.misses = self._streak = 0

    def look(self) -> bool:
        """Whether something came, within a moment; False at once where looking was in vain before."""
        if self.rest:
            self.rest -= 1
            return False
        poll, ends = self._poll, time.perf_counter() + LOOK_SECONDS
        while not (found := poll(0)) and time.perf_counter() < ends:
            yield_core()
        self.judge(bool(found) and time.perf_counter() < ends)
        return bool(found)

    def judge(self, hit: bool) -> None:
        """A look was in vain, or not: nothing to note where none was before."""
        self._streak = self._streak + 1 if hit else 0
        if not hit:
            self.misses = min(self.misses + 1, MAX_MISSES)
        elif self._streak >= STREAK_LOOKS:
            self.misses, self._streak = max(self.misses - 1, 0), 0
        self.rest = (1 << self.misses) - 1
