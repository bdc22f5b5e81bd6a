"""`Dwelling`: the thread that an environment lives in, from its making to its end. Work is done in order."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from threading import Thread
from typing import Any

__all__ = ["Dwelling"]

Work = tuple[asyncio.Future[Any], Callable[[], Any]]


class Dwelling:
    """A thread of the event loop that made it. It does not keep the interpreter from ending, whatever it is at."""

    def __init__(self, name: str) -> None:
        self._loop = asyncio.get_running_loop()
        self._queue: SimpleQueue[Work | None] = SimpleQueue()
        self.under_way = 0
        """Work that was given and is not done, whether or not anybody waits for it."""
        Thread(target=_live, args=(self._queue, self._loop, self._settle), name=name, daemon=True).start()

    def run(self, work: Callable[[], Any]) -> "asyncio.Future[Any]":
        """Have work done; its result may be waited for, or not."""
        waiting: asyncio.Future[Any] = self._loop.create_future()
        self.under_way += 1
        self._queue.put((waiting, work))
        return waiting

    def end(self) -> None:
        """Let the thread end, once everything before is done."""
        self._queue.put(None)

    def _settle(self, waiting: "asyncio.Future[Any]", result: Any, error: BaseException | None) -> None:
        self.under_way -= 1
        if waiting.done():  # nobody waits any more
            return
        if error is None:
            waiting.set_result(result)
        else:
            waiting.set_exception(error)


def _live(queue: "SimpleQueue[Work | None]", loop: asyncio.AbstractEventLoop, settle: Callable[..., None]) -> None:
    while True:
        given = queue.get()
        if given is None:
            return
        waiting, work = given
        result, error = None, None
        try:
            result = work()
        except BaseException as raised:
            error = raised
        with suppress(RuntimeError):  # the loop has ended: nobody is there to hear of it
            loop.call_soon_threadsafe(settle, waiting, result, error)
        del given, waiting, work, result, error  # nothing is kept alive while the next one is waited for
