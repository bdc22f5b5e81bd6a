"""`FairLock`: one at a time, in order. As asyncio's lock, but it can also be taken at once or not at all."""

import asyncio
from collections import deque

__all__ = ["FairLock"]


class FairLock:
    """Used on one event loop.

    >>> turn = FairLock()
    >>> turn.take_now(), turn.take_now()
    (True, False)
    >>> turn.release()
    >>> turn.take_now()
    True
    """

    def __init__(self) -> None:
        self._held = False
        self._waiting: deque[asyncio.Future[None]] = deque()

    def take_now(self) -> bool:
        """Take it, if nobody has it."""
        if self._held:
            return False
        self._held = True
        return True

    async def take(self) -> None:
        """Take it, after all who waited before."""
        if self.take_now():
            return
        waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(waiting)
        try:
            await waiting
        except asyncio.CancelledError:
            if waiting.done() and not waiting.cancelled():  # it was ours already
                self.release()
            raise

    def release(self) -> None:
        """Let the next one have it."""
        while self._waiting:
            waiting = self._waiting.popleft()
            if not waiting.done():
                waiting.set_result(None)
                return
        self._held = False
