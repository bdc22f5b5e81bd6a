"""Links: one worker process, as the batch that started it sees it."""

import os
import signal
import time
import weakref
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import NamedTuple

from ludus.errors import WorkerFailure, shorten
from ludus.vector.block import DONE, PLACE, PROGRESS, WorkQueue
from ludus.vector.channel import WorkerChannel
from ludus.vector.failure import how_it_ended
from ludus.vector.parent_watch import WHERE
from ludus.vector.split import Span
from ludus.vector.worker import serve
from ludus.vector.worker_options import WorkerOptions

__all__ = ["WorkerLink", "Loss"]

TRACEBACK_DEADLINE_S = 10.0
"""For how many seconds a worker that hangs is given to write down where it is, and to end of it."""


class Loss(NamedTuple):
    """How a worker was lost."""

    how: str
    lane: int
    """Which lane was being asked something."""
    traceback: str
    """Where the worker was, as far as its interpreter could tell."""


class WorkerLink:
    """A worker process with the lanes of `span`, from its start until it is let go."""

    work_queue: WorkQueue
    """Where it finds what to do, once memory is shared."""
    box: int
    """The box for what it is asked and answers."""

    def __init__(self, worker_options: WorkerOptions, span: Span, lanes: object) -> None:
        self.span = span
        self.lost: Loss | None = None
        """Until a new worker is started, the lanes of one that was lost are not there."""
        self.taken = 0
        """How many of the things that it has done were looked at."""
        self._progress, self._since, self._open = -1, 0.0, True
        self.channel, theirs = WorkerChannel.pair()
        reader, self._parent_pipe = os.pipe()
        self._notebook = os.memfd_create("ludus worker")
        self._files = [self._parent_pipe, self._notebook]
        _links.add(self)
        self.process = worker_options.process(
            target=serve, args=(theirs.end, lanes, span[0], worker_options.mode.value), name=f"ludus lanes {span}"
        )
        try:
            with _interrupts_held():
                self.process.start()
            self.channel.send_file(reader)
            self.channel.send_file(self._notebook)
        except BaseException:
            self.let_go()
            raise
        finally:
            os.close(reader)
            theirs.close()

    @property
    def lanes(self) -> range:
        """The lanes it has."""
        return range(*self.span)

    @property
    def waiting(self) -> bool:
        """Whether it is there and has something to do."""
        return self.lost is None and self.work_queue.waiting

    def look_after(self, timeout: float | None) -> None:
        """While it has something to do: lose it if it has ended, or makes no progress for `timeout` seconds."""
        if not self.process.is_alive():
            self.lose(how_it_ended(self.process.exitcode))
            return
        progress, now = self.work_queue.counters[PROGRESS] + self.work_queue.counters[DONE], time.monotonic()
        if progress != self._progress:
            self._progress, self._since = progress, now
        if timeout is not None and now - self._since >= timeout:
            self.lose(f"made no progress for {timeout:g} s and was killed")

    def lose(self, how: str) -> None:
        """Note how and where it was lost, and let it go."""
        lane = self.work_queue.counters[PLACE] if hasattr(self, "work_queue") else self.span[0]
        self.lost = Loss(how, lane if lane in self.lanes else self.span[0], self._where())
        self.let_go()

    def error(self, expected: str, action: object = None, advice: str = "") -> WorkerFailure:
        """What to raise now that it is lost."""
        how, lane, where = self.lost or Loss("is there", self.span[0], "")
        after = "" if action is None else f" after action {shorten(action)}"
        share = "" if len(self.lanes) == 1 else f" (of lanes {self.span[0]} to {self.span[1] - 1})"
        trace = f"; in the worker:\n{where.rstrip()}" if where else ""
        return WorkerFailure(
            f"lane {lane}{share}: expected {expected}, got a worker process that {how}{after}{advice}{trace}",
            lanes=tuple(self.lanes),
            action=action,
            worker_traceback=where,
            lost=True,
        )

    def _where(self) -> str:
        """Where the worker is or was, if its interpreter can tell: it writes that down when asked, and in a crash.

        A worker that is asked ends when all is written; what is there before may be the half of it.
        """
        pid = self.process.pid
        if pid is not None and self.process.is_alive():
            with suppress(ProcessLookupError):
                os.kill(pid, WHERE)
            end = time.monotonic() + TRACEBACK_DEADLINE_S
            while time.monotonic() < end and self.process.is_alive():
                time.sleep(0.005)
        return os.pread(self._notebook, os.fstat(self._notebook).st_size, 0).decode(errors="replace")

    def let_go(self, seconds: float = 0.0) -> None:
        """See the process end, within so many seconds or by force, and keep nothing of it; once is enough."""
        if not self._open:
            return
        started = self.process.pid is not None
        try:
            if started and seconds:
                self.process.join(seconds)
        finally:
            if started:
                self.process.kill()
                self.process.join()
            self.process.close()
            self.forget()

    def forget(self) -> None:
        """Close what this process has open of the worker; in a fork of it, that is all there is to do."""
        self._open = False
        _links.discard(self)
        self.channel.close()
        with suppress(IndexError):  # each is closed by the one that takes it: twice, and it would be another's
            while True:
                os.close(self._files.pop())


_links: "weakref.WeakSet[WorkerLink]" = weakref.WeakSet()


def _forget_all() -> None:
    """A fork must not hold the pipes of its parent's workers, or they would not see it end."""
    for link in list(_links):
        link.forget()


os.register_at_fork(after_in_child=_forget_all)


@contextmanager
def _interrupts_held() -> Generator[None]:
    """Keep Ctrl-C for afterwards: a worker must not meet it before it has said that it ignores it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
