"""`Session`: one caller's instance. Calls are carried out one after another, each within its time."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from time import monotonic, time
from typing import Any, NamedTuple, TypeVar

from ludus.errors import LimitExceeded, SessionLost
from ludus.serve.access import Principal
from ludus.serve.hosted import Hosted
from ludus.serve.metrics import Metrics
from ludus.serve.served import LONG, Served
from ludus.wire.dialogue import ServerDialogue

__all__ = ["Session", "SessionInfo"]

T = TypeVar("T")
TOO_SLOW = 0.02
"""Seconds: an environment that took longer once is not stepped between two messages any more."""
GRACE = 1.0
"""Seconds that a wall has to end an environment by itself, before it is ended from here."""


class SessionInfo(NamedTuple):
    """What is told of a session to whoever runs the server."""

    id: str
    env: str
    lanes: int
    isolation: str
    owner: str
    opened: float
    """Seconds since the epoch."""
    idle: float
    """Seconds since it was last used."""
    connected: bool
    episode_id: str | None
    steps: int


class Session:
    """An instance of an environment with its episode, its numbered requests, and the thread it lives in.

    Every door calls `call(work)`: `work` gets the `Hosted` and runs where the environment lives. At most one runs at a
    time. Past its deadline an environment behind a wall is killed, which truncates the episode; one in this process
    cannot be, so the session is given up.
    """

    def __init__(self, id: str, served: Served, owner: Principal, lanes: int, metrics: Metrics) -> None:
        self.id, self.served, self.owner, self.lanes, self.metrics = id, served, owner, lanes, metrics
        self.dialogue = ServerDialogue()
        self.hosted: Hosted | None = None
        self.opened, self.used = time(), monotonic()
        self.steps = 0
        self.connection: object | None = None
        """Whoever is connected to it; one at a time."""
        self.lost: str | None = None
        """Why it is of no use any more."""
        self._turn = asyncio.Lock()
        self._thread: ThreadPoolExecutor | None = None
        self.inline = False

    # --- life ---

    async def open(self, make: Callable[[], Hosted], seconds: float) -> None:
        """Make the environment, in the thread it will live in."""
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=f"session-{self.id[:8]}")
        self.hosted = await self._in_thread(make, seconds)
        self.inline = self.served.description().quick and not self.served.walled
        if self.inline:
            self._end_thread()

    async def close(self) -> None:
        """Close the environment; harmless twice."""
        hosted, self.hosted = self.hosted, None
        if self.lost is None:
            self.lost = "it was closed"
        if hosted is None:
            self._end_thread()
            return
        if self._turn.locked():
            hosted.interrupt()
        async with self._turn:
            try:
                await self._run(hosted.close, self.served.settings.deadline)
            except Exception:
                self.metrics.count("close_failures")
            finally:
                self._end_thread()

    def _end_thread(self) -> None:
        if self._thread is not None:
            self._thread.shutdown(wait=False, cancel_futures=True)
            self._thread = None

    # --- work ---

    async def call(self, work: Callable[[Hosted], T], seconds: float | None = None, *, long: bool = False) -> T:
        """Have `work` done with the environment; SessionLost where there is none any more.

        `seconds` is what the caller grants, at most the server's own deadline; `long` is for resets and snapshots.
        """
        self.used = monotonic()
        most = self.served.settings.deadline * (LONG if long else 1.0)
        async with self._turn:
            hosted = self.hosted
            if hosted is None or self.lost is not None:
                raise SessionLost(f"session {self.id[:8]}…: expected one that is there, got none: {self.lost}")
            try:
                return await self._run(partial(work, hosted), most if seconds is None else min(seconds, most))
            finally:
                self.used = monotonic()

    async def _run(self, work: Callable[[], T], seconds: float) -> T:
        if not self.inline:
            return await self._in_thread(work, seconds)
        begin = monotonic()
        try:
            return work()
        finally:
            if monotonic() - begin > TOO_SLOW:
                self.inline = False

    async def _in_thread(self, work: Callable[[], T], seconds: float) -> T:
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, thread_name_prefix=f"session-{self.id[:8]}")
        running = asyncio.get_running_loop().run_in_executor(self._thread, work)
        try:
            walled = self.served.walled
            return await asyncio.wait_for(asyncio.shield(running), seconds + (GRACE if walled else 0.0))
        except TimeoutError:
            if self.hosted is not None and self.hosted.interrupt():
                return await running
            self.lost = f"it took longer than {seconds:g} seconds, in a process that cannot be ended alone"
            self.metrics.count("deadlines_passed")
            running.add_done_callback(_heard)
            raise LimitExceeded(f"session {self.id[:8]}…: {self.lost}; serve it with isolation='process'") from None

    # --- for others ---

    @property
    def busy(self) -> bool:
        """Whether something is under way."""
        return self._turn.locked()

    def interrupt(self) -> bool:
        """End what is under way, where that can be done."""
        return self.busy and self.hosted is not None and self.hosted.interrupt()

    def info(self) -> SessionInfo:
        """What is told of it."""
        hosted = self.hosted
        return SessionInfo(
            self.id,
            self.served.name,
            self.lanes,
            self.served.isolation,
            self.owner.name,
            self.opened,
            monotonic() - self.used,
            self.connection is not None,
            None if hosted is None else hosted.episode_id,
            0 if hosted is None else hosted.step_count,
        )


def _heard(running: "asyncio.Future[Any]") -> None:
    """What an abandoned call still raises is nobody's business."""
    if not running.cancelled():
        running.exception()
