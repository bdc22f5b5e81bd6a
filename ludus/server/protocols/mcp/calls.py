"""`CallsUnderWay`: calls of tools that have begun, so that their progress is told and a client can give one up."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from ludus.core.progress import Progress
from ludus.spaces.kinds import is_dict

__all__ = ["CANCELLED", "CallGivenUp", "CallsUnderWay", "Send", "cancelled_request"]

T = TypeVar("T")
CANCELLED = "notifications/cancelled"
MAX_MESSAGE_CHARS = 1024

Send = Callable[[dict[str, object]], None]
"""Passes a notification to the client, on the event loop."""


class CallGivenUp(Exception):
    """The client has cancelled the call: it gets no reply."""


class CallsUnderWay:
    """Of one environment's sessions; each is known by its session and the number of its request."""

    def __init__(self) -> None:
        self._calls: dict[tuple[str, int | str | None], tuple[Progress, asyncio.Future[None]]] = {}
        self._tasks: set[object] = set()
        """Kept until they end: an event loop alone does not keep them."""

    async def carry_out(
        self,
        key: tuple[str, int | str | None],
        token: int | str | None,
        send: Send | None,
        work: Callable[[Progress], Awaitable[T]],
    ) -> T:
        """What the work gives; CallGivenUp once somebody cancels it, while a step that has begun is made.

        Where whoever waits for it is cancelled, nobody does any more, and the tool learns of it as well.
        """
        loop = asyncio.get_running_loop()
        progress = Progress(None if send is None or token is None else _telling(loop, token, send))
        given_up = loop.create_future()
        self._calls[key] = (progress, given_up)
        task = asyncio.ensure_future(work(progress))
        self._tasks.add(task)
        task.add_done_callback(self._forget)
        try:
            await asyncio.wait({task, given_up}, return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                raise CallGivenUp
            return task.result()
        except asyncio.CancelledError:
            progress.cancelled = True
            raise
        finally:
            self._calls.pop(key, None)
            given_up.cancel()

    def _forget(self, task: asyncio.Future[T]) -> None:
        """Of a call that was given up, nobody asks what came of it."""
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()

    def cancel(self, session: str, number: object) -> None:
        """Give a call up; one that has ended, or never was, is no error: the two may cross."""
        if not isinstance(number, int | str):
            return
        found = self._calls.get((session, number))
        if found is not None:
            progress, given_up = found
            progress.cancelled = True
            if not given_up.done():
                given_up.set_result(None)


def cancelled_request(data: object) -> object:
    """The number of the request that a message cancels; None where it is no such message."""
    if not is_dict(data) or data.get("method") != CANCELLED:
        return None
    params: object = data.get("params")
    return params.get("requestId") if is_dict(params) else None


def _telling(
    loop: asyncio.AbstractEventLoop, token: int | str, send: Send
) -> Callable[[float, float | None, str], None]:
    def tell(done: float, total: float | None, message: str) -> None:
        params: dict[str, object] = {"progressToken": token, "progress": done}
        params |= {} if total is None else {"total": total}
        params |= {"message": message[:MAX_MESSAGE_CHARS]} if message else {}
        progress: dict[str, object] = {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}
        loop.call_soon_threadsafe(send, progress)

    return tell
