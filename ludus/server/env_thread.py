"""`EnvThread`: the thread of one environment, from its making to its end. Work is done in order."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from threading import Lock, Thread
from time import monotonic
from typing import Any, TypeVar

from ludus.errors import EnvError
from ludus.server.wake_up import WakeUp

__all__ = ["EnvThread"]

T = TypeVar("T")
QUICK_WORK_S = 200e-6
"""Seconds: work that takes less is waited for on the spot, for as long. Hearing of it takes longer than that."""
UNKNOWN_WORK_S = 1.0
"""Seconds: what the work of a thread is taken to take that has done none."""
FADING_WEIGHT = 0.5
"""How much of what work took counts when the next is done."""


class Handover:
    """The result of work, for a caller that waits on the spot; one that is too late gets it from the event loop."""

    __slots__ = ("_open", "done", "error", "result")

    def __init__(self) -> None:
        self.done = Lock()
        self.done.acquire()
        self.result: object = None
        self.error: Exception | None = None
        self._open = [True]

    def close(self) -> bool:
        """Whether nobody closed it before: of both sides one does, and the other one knows."""
        try:
            return self._open.pop()
        except IndexError:
            return False


Work = tuple[asyncio.Future[Any], Callable[[], object], bool, Handover | None]
"""Whose result it is, what to do, whether that is brief as a rule, and who waits for it on the spot."""


class EnvThread:
    """A thread of the event loop that made it. It does not keep the interpreter from ending, whatever it is at.

    Environments may belong to a thread (a database of sqlite, a context of OpenGL): one is made, used and closed here.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.under_way = 0
        """Work that was given and is not done, whether or not anybody waits for it."""
        self.since = 0.0
        """When the environment began what it is at, as `monotonic` tells; 0: it is at nothing."""
        self.overdue = False
        """Whether what is under way has passed its deadline."""
        self.over = False
        self.usual = UNKNOWN_WORK_S
        """About how many seconds its work took lately: the longest, of which less counts with each that was shorter."""
        self.wake_up: WakeUp | None = None
        """What wakes it while it waits for a connection and not for work; made when it is needed."""
        self._loop = asyncio.get_running_loop()
        self._queue: SimpleQueue[Work | None] = SimpleQueue()
        Thread(target=self._live, name=name, daemon=True).start()

    def run(self, work: Callable[[], T], *, brief: bool = True) -> "asyncio.Future[T]":
        """Have work done; its result may be waited for, or not. Where all that is brief was quick, it is there at once.

        Work that is not brief by its nature is not waited for, and says nothing about what the rest takes.
        """
        waiting: asyncio.Future[T] = self._loop.create_future()
        self.under_way += 1
        if not brief or self.under_way > 1 or self.usual > QUICK_WORK_S:
            self._queue.put((waiting, work, brief, None))
            return waiting
        handover = Handover()
        self._queue.put((waiting, work, brief, handover))
        if handover.done.acquire(timeout=QUICK_WORK_S) or not handover.close():
            self._resolve(waiting, handover.result, handover.error)
        else:  # it blocks, or no core was free for it: the next ones are not waited for, either
            self.usual = UNKNOWN_WORK_S
        return waiting

    def end(self) -> None:
        """Let the thread end, once everything before is done."""
        self._queue.put(None)

    def _live(self) -> None:
        while (given := self._queue.get()) is not None:
            waiting, work, brief, handover = given
            result, error = None, None
            self.since = begun = monotonic()
            try:
                result = work()
            except BaseException as raised:
                error = _for_future(raised)
            self.since = 0.0
            if brief:
                self.usual = max(monotonic() - begun, FADING_WEIGHT * self.usual)
            if handover is not None:
                handover.result, handover.error = result, error
            if handover is not None and handover.close():
                handover.done.release()
            else:
                self._tell(self._resolve, waiting, result, error)
            # Nothing is kept alive while the next one is waited for.
            del given, waiting, work, handover, result, error
        if self.wake_up is not None:
            self.wake_up.close()
        self.over = True

    def _tell(self, do: Callable[..., object], *arguments: object) -> None:
        with suppress(RuntimeError):  # the loop has ended: nobody is there to hear of it
            self._loop.call_soon_threadsafe(do, *arguments)

    def _resolve(self, waiting: "asyncio.Future[Any]", result: object, error: BaseException | None) -> None:
        self.under_way -= 1
        if not self.under_way:
            self.overdue = False
        if waiting.done():  # nobody waits any more
            return
        if error is None:
            waiting.set_result(result)
        else:
            waiting.set_exception(error)


def _for_future(error: BaseException) -> Exception:
    """An error that may be raised in a task: what ends a program, a task or a generator would end more than that."""
    if isinstance(error, Exception) and not isinstance(error, StopIteration):
        return error
    wrapped = EnvError(f"environment: expected a result or an error, got {type(error).__name__}: {error}")
    wrapped.__cause__ = error
    return wrapped
