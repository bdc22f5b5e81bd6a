"""`Stopwatch`: the seconds that a sandboxed process was given, which is not what the clock says on a busy machine.

A limit by the clock alone fails whoever shares a machine: two seconds of work took six minutes beside a full one. A
limit by processor time alone never ends who sleeps. So the clock counts, less what the process, and this side that
reads its answers, stood in line for a processor, and never less than the processor time that was used: more threads in
the line do not buy time. `MAX_TIMES` the seconds by the clock end it in any case.
"""

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from ludus.sandbox.backend import SandboxedProcess
from ludus.sandbox.framed_process import Late

__all__ = ["MAX_TIMES", "Stopwatch", "own_queue"]

MAX_TIMES = 20
"""How many times its seconds a process may take by the clock, where it had no processor."""
LOOK_S = 0.05
"""Seconds between two looks at who is late, at least."""
OWN = Path("/proc/thread-self/schedstat")
T = TypeVar("T")


class Stopwatch:
    """Counts while it is `running`; `spent` is what of `seconds` is gone.

    >>> from ludus.sandbox import Sandbox
    >>> with Sandbox().start(["/bin/sh", "-c", "exit 3"]) as process:
    ...     watch = Stopwatch(process, 5.0)
    ...     with watch.running():
    ...         process.wait()
    3
    >>> 0 < watch.spent < 5
    True
    """

    def __init__(
        self,
        process: SandboxedProcess,
        seconds: float,
        *,
        now: Callable[[], float] = time.monotonic,
        queue: Callable[[], float] | None = None,
    ) -> None:
        self.process, self.seconds, self._now = process, seconds, now
        self._queue = queue or own_queue
        self.others: list[Stopwatch] = []
        """Of processes for which this one waits; their time is its own."""
        self._clock = self._queued = 0.0

    @property
    def clock(self) -> float:
        """Seconds by the clock."""
        return self._clock + sum(one.clock for one in self.others)

    @property
    def spent(self) -> float:
        """Seconds in which it could run."""
        used = self.process.usage()
        could_run = max(used.cpu or 0.0, self._clock - used.waited - self._queued)
        return min(self._clock, could_run) + sum(one.spent for one in self.others)

    @property
    def left(self) -> float:
        """Of its seconds; nobody has to look at processes that are in time by the clock."""
        clock = self.clock
        if clock > MAX_TIMES * self.seconds:
            return 0.0
        return max(0.0, self.seconds - (clock if clock < self.seconds else self.spent))

    @contextmanager
    def running(self) -> Generator[None, None, None]:
        """Count what is done inside."""
        begun, queued = self._now(), self._queue()
        try:
            yield
        finally:
            self._clock += self._now() - begun
            self._queued += max(0.0, self._queue() - queued)

    def wait(self, receive: Callable[[float], T]) -> T:
        """What `receive` gives by a deadline that is put off as long as there is time left; Late when there is none."""
        while True:
            try:
                with self.running():
                    return receive(self._now() + max(LOOK_S, self.left))
            except Late:
                if not self.left:
                    raise


def own_queue() -> float:
    """Seconds that this thread stood in line for a processor so far."""
    try:
        return int(OWN.read_text(encoding="ascii").split()[1]) / 1e9
    except (OSError, IndexError, ValueError):  # this system keeps no such account
        return 0.0
