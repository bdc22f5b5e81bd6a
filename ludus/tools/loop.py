"""`Loop`: where async tools run: an event loop in a thread of its own, whatever the caller's thread is doing."""

import asyncio
from collections.abc import Awaitable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextvars import Context, copy_context
from typing import TypeVar

from ludus.tools.outcome import ToolError

__all__ = ["Loop", "within"]

T = TypeVar("T")


class Loop:
    """An event loop that is kept from call to call, since clients and locks belong to the loop they were made in."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="tools")
        self._runner: asyncio.Runner | None = None

    def run(self, coroutine: Coroutine[object, object, T], seconds: float | None) -> T:
        """What the coroutine returns; it is cancelled after `seconds`, which is a ToolError."""
        return self._thread.submit(self._run, coroutine, seconds, copy_context()).result()

    def close(self) -> None:
        """End the loop and its thread."""
        self._thread.submit(self._end).result()
        self._thread.shutdown()

    def _run(self, coroutine: Coroutine[object, object, T], seconds: float | None, context: Context) -> T:
        if self._runner is None:
            self._runner = asyncio.Runner()
        return self._runner.run(within(coroutine, seconds), context=context)

    def _end(self) -> None:
        runner, self._runner = self._runner, None
        if runner is not None:
            runner.close()


async def within(coroutine: Awaitable[T], seconds: float | None) -> T:
    """What it gives; it is cancelled after `seconds`, which is a ToolError."""
    limit = asyncio.timeout(seconds)
    try:
        async with limit:
            return await coroutine
    except TimeoutError:
        if limit.expired():
            raise ToolError(f"it took longer than {seconds:g} seconds, and was stopped") from None
        raise  # one of the tool's own
