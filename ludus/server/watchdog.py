"""`StepWatchdog`: one look at all environments every few milliseconds: whose step takes long, and whose is stuck."""

import asyncio
import resource
import sys
from time import monotonic
from typing import NamedTuple, Protocol

from ludus.server.activity import Activity
from ludus.server.env_thread import EnvThread

__all__ = ["SLOW_STEP_S", "Stuck", "StepWatchdog"]

SLOW_STEP_S = 0.05
"""Seconds after which a step is waited for by the event loop, and no longer by its thread alone."""
SWITCH_INTERVAL_S = 0.0005
"""Seconds after which a thread has to let others run, while one takes long: it may be in an endless loop."""
DIRECT_SHARE = 4
"""One in so many descriptors of the process may belong to connections that threads read; each takes two."""

MAX_DIRECT = 64
"""Connections that threads read at once: hundreds that wake up together keep each other from the interpreter for
seconds. The event loop has those beyond, and wakes one thread after another."""


class Stuck(NamedTuple):
    """A step that is past its deadline, and still runs: in this process it cannot be ended."""

    env: str
    seconds: float
    """Since it began."""


class Detachable(Protocol):
    """A connection that a thread reads."""

    def detach(self) -> bool:
        """Give it to the event loop, while a step is under way."""
        ...


class StepWatchdog:
    """The threads of a server's environments. It looks only while one of them is at something."""

    def __init__(self) -> None:
        self._threads: dict[EnvThread, str] = {}
        """With the name of the environment."""
        self._direct: dict[EnvThread, Detachable] = {}
        self.activity = Activity()
        self._most_direct = min(MAX_DIRECT, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // (2 * DIRECT_SHARE))
        self._timer: asyncio.TimerHandle | None = None
        self._interval = 0.0
        """The switch interval that there was before one was slow."""

    def add(self, thread: EnvThread, env: str) -> None:
        """Look after a thread, until it is over."""
        self._threads[thread] = env

    def begin(self) -> None:
        """Something is under way."""
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(SLOW_STEP_S, self._look)

    # --- connections that threads read ---

    @property
    def has_place(self) -> bool:
        """Whether one more connection may be read by a thread."""
        return len(self._direct) < self._most_direct

    def begin_direct(self, thread: EnvThread, direct: Detachable) -> None:
        """A thread reads its connection from now on."""
        self._direct[thread] = direct
        self.begin()

    def end_direct(self, thread: EnvThread) -> None:
        """It does not any more."""
        self._direct.pop(thread, None)

    # --- looking ---

    def _look(self) -> None:
        self._timer = None
        now, slow, working = monotonic(), False, False
        for thread in list(self._threads):
            if thread.over:
                del self._threads[thread]
            if not thread.under_way:
                continue
            working, since = True, thread.since
            if since and now - since >= SLOW_STEP_S:
                slow = True
                direct = self._direct.get(thread)
                if direct is not None:
                    direct.detach()
        self._hurry(slow)
        if working:
            self.begin()

    def _hurry(self, slow: bool) -> None:
        """Have threads take turns more often while one does not come to an end, so that it slows others less."""
        if slow and not self._interval:
            self._interval = sys.getswitchinterval()
            sys.setswitchinterval(min(SWITCH_INTERVAL_S, self._interval))
        elif not slow and self._interval:
            sys.setswitchinterval(self._interval)
            self._interval = 0.0

    def stop(self) -> None:
        """Look no more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._hurry(False)
        self.activity.close()

    def stuck(self) -> list[Stuck]:
        """What is past its deadline and still runs, longest first."""
        now = monotonic()
        found = [
            Stuck(env, round(now - since, 3))
            for thread, env in self._threads.items()
            if thread.overdue and (since := thread.since)
        ]
        return sorted(found, key=lambda one: -one.seconds)
