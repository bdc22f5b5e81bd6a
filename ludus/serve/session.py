"""`Session`: one caller's instance. Calls are carried out one after another, each within its time."""

import asyncio
from collections.abc import Callable
from time import monotonic, time
from typing import Any, NamedTuple, TypeVar

from ludus.errors import LimitExceeded, SessionLost
from ludus.remote.host import EnvHost
from ludus.serve.access import Principal
from ludus.serve.dwelling import Dwelling
from ludus.serve.metrics import Metrics
from ludus.serve.served import LONG, Served
from ludus.wire.dialogue import ServerDialogue

__all__ = ["Session", "SessionInfo"]

T = TypeVar("T")
TOO_SLOW = 0.002
"""Seconds: what took longer the last time is not done between two messages, but in the session's thread."""
GRACE = 1.0
"""Seconds that a wall has to end an environment by itself, before it is ended from here."""
PATIENCE = 10.0
"""Seconds after which an environment that was ended, and still does not answer, is given up."""


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

    Every door calls `call(work)`: `work` gets the `EnvHost` and runs where the environment lives. At most one runs at a
    time. Past its deadline an environment behind a wall is killed, which truncates the episode; one in this process
    cannot be, so the session is given up: its place is free at once, its thread ends when it ends.
    """

    def __init__(self, id: str, served: Served, owner: Principal, lanes: int, metrics: Metrics) -> None:
        self.id, self.served, self.owner, self.lanes, self.metrics = id, served, owner, lanes, metrics
        self.dialogue = ServerDialogue()
        self.hosted: EnvHost | None = None
        self.arguments: dict[str, Any] = {}
        """What it was made with beside what the server gives."""
        self.opened, self.used = time(), monotonic()
        self.connection: object | None = None
        """Whoever is connected to it; one at a time."""
        self.was_connected = False
        """Whether somebody was, who may come again: for as long as a lost connection is waited for."""
        self.lost: str | None = None
        """Why it is of no use any more."""
        self.on_lost: Callable[[Session], None] | None = None
        self.under_way = 0
        """The number of the request that has its turn."""
        self.cancelled: set[int] = set()
        """Requests that wait for their turn, and are not to be carried out."""
        self.tasks: set[asyncio.Task[None]] = set()
        """What carries out its requests, whoever is connected."""
        self._turn = asyncio.Lock()
        self._pending = 0
        self._thread: Dwelling | None = None
        self._quick = False
        """Whether the environment may be used on the event loop at all."""
        self._shown: dict[object, bool] = {}
        """Of each kind of work, whether it was quick the last time; a batch is compiled by its first calls."""

    # --- life ---

    async def open(self, make: Callable[[], EnvHost], seconds: float) -> None:
        """Make the environment, in the thread it will live in; it is closed there, if it comes too late."""

        def made() -> None:
            self.hosted = hosted = make()
            if self.lost is not None:  # nobody waits for it any more
                self.hosted = None
                hosted.close()

        async with self._turn:
            await self._in_thread(made, seconds)
        self._quick = self.served.description().quick and not self.served.walled
        if self._quick and not self.lanes:
            self._end_thread()

    async def close(self) -> None:
        """Close the environment; harmless twice. What is under way ends, where it can be ended."""
        if self.lost is None:
            self.lost = "it was closed"
        hosted, self.hosted = self.hosted, None
        if hosted is None:
            self._end_thread()
            return
        if self._thread is None:
            self._closed_here(hosted)
            return
        thread, self._thread = self._thread, None
        busy = thread.under_way > 0
        if busy and hosted.can_interrupt:
            await asyncio.get_running_loop().run_in_executor(None, hosted.interrupt, "closed")
        closing = thread.run(hosted.close)
        closing.add_done_callback(self._heard)
        thread.end()
        if not busy or self.served.walled:  # else nobody knows when its turn comes
            await asyncio.wait([closing], timeout=self.served.settings.deadline)

    def _closed_here(self, hosted: EnvHost) -> None:
        try:
            hosted.close()
        except Exception:
            self.metrics.count("close_failures")

    def _heard(self, closing: "asyncio.Future[Any]") -> None:
        if not closing.cancelled() and closing.exception() is not None:
            self.metrics.count("close_failures")

    def _end_thread(self) -> None:
        thread, self._thread = self._thread, None
        if thread is not None:
            thread.end()

    def lose(self, why: str) -> None:
        """Give the session up: whoever counts places hears of it at once."""
        if self.lost is None:
            self.lost = why
            if self.on_lost is not None:
                self.on_lost(self)

    # --- work ---

    async def call(
        self, work: Callable[[EnvHost], T], seconds: float | None = None, *, long: bool = False, kind: object = None
    ) -> T:
        """Have `work` done with the environment; SessionLost where there is none any more.

        `seconds` is what the caller grants, at most the server's own deadline; `long` is for resets and snapshots.
        Work of one `kind` takes about the same time: what is quick needs no thread, and no turn where none waits.
        """
        if kind is None:
            kind = long
        if self.is_quick(kind):
            return self.now(work, kind)
        most = self.served.settings.deadline * (LONG if long else 1.0)
        granted = min(most, max(seconds, 0.001)) if seconds is not None and seconds == seconds else most
        self._pending += 1
        try:
            async with self._turn:
                if self._is_shown(kind):
                    return self.now(work, kind)
                hosted = self._present()
                return await self._in_thread(lambda: self._timed(work, hosted, kind), granted)
        finally:
            self._pending -= 1
            self.used = monotonic()

    def is_quick(self, kind: object) -> bool:
        """Whether work of this kind can be done between two messages, by `now`: nothing else waits or is under way."""
        return not self._pending and self._is_shown(kind)

    def now(self, work: Callable[[EnvHost], T], kind: object) -> T:
        """Do it here and now."""
        begin, hosted = monotonic(), self._present()
        try:
            return work(hosted)
        finally:
            self.used = end = monotonic()
            if end - begin > TOO_SLOW:
                self._shown[kind] = False

    def _is_shown(self, kind: object) -> bool:
        if not self._quick or not self._shown.get(kind, not self.lanes):
            return False
        return self._thread is None or not self._thread.under_way

    def _timed(self, work: Callable[[EnvHost], T], hosted: EnvHost, kind: object) -> T:
        """In the thread: do it, and remember how quick it was."""
        begin = monotonic()
        try:
            return work(hosted)
        finally:
            self._shown[kind] = monotonic() - begin <= TOO_SLOW

    def _present(self) -> EnvHost:
        hosted = self.hosted
        if hosted is None or self.lost is not None:
            raise SessionLost(f"session {self.id[:8]}…: expected one that is there, got none: {self.lost}")
        return hosted

    async def _in_thread(self, work: Callable[[], T], seconds: float) -> T:
        if self._thread is None:
            self._thread = Dwelling(f"session-{self.id[:8]}")
        running = self._thread.run(work)
        own = self.served.walled and seconds >= self.served.settings.deadline  # then the wall keeps the time itself
        loop = asyncio.get_running_loop()
        timer = loop.call_later(seconds + (GRACE if own else 0.0), self._expire, running, seconds)
        try:
            return await running
        finally:
            timer.cancel()

    def _expire(self, running: "asyncio.Future[Any]", seconds: float) -> None:
        """The deadline has passed: end the environment where it can be ended, else give it up."""
        if running.done():
            return
        self.metrics.count("deadlines_passed", env=self.served.name)
        loop, hosted = asyncio.get_running_loop(), self.hosted
        if hosted is not None and hosted.can_interrupt:
            loop.run_in_executor(None, hosted.interrupt, "deadline")
            loop.call_later(PATIENCE, self._give_up, running, seconds)
        else:
            self._give_up(running, seconds)

    def _give_up(self, running: "asyncio.Future[Any]", seconds: float) -> None:
        if running.done():
            return
        why = f"it took longer than {seconds:g} seconds, in a process that cannot be ended alone"
        running.set_exception(LimitExceeded(f"session {self.id[:8]}…: {why}; serve it with isolation='process'"))
        self.lose(why)

    # --- for others ---

    @property
    def busy(self) -> bool:
        """Whether something is under way, or waits."""
        return self._pending > 0

    def touch(self) -> None:
        """It is used now."""
        self.used = monotonic()

    def cancel(self, number: int) -> None:
        """Do not carry out a request that waits for its turn; end one that is under way, where that can be done."""
        if not self.dialogue.is_open(number):
            return
        self.cancelled.add(number)
        hosted = self.hosted
        if number == self.under_way and hosted is not None and hosted.can_interrupt:
            asyncio.get_running_loop().run_in_executor(None, self._interrupt, hosted, number)

    def _interrupt(self, hosted: EnvHost, number: int) -> None:
        if self.under_way == number:
            hosted.interrupt("cancelled")

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
