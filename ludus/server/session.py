"""`Session`: one caller's instance. Calls are carried out one after another, each within its time."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from functools import partial
from time import monotonic, time
from typing import NamedTuple, TypeVar

from ludus.errors import LimitExceeded, SessionBusy, SessionLost, SessionTaken
from ludus.remote.host import EnvHost
from ludus.server.access import Principal
from ludus.server.direct import Direct, DirectTransport, Requests
from ludus.server.env_thread import EnvThread
from ludus.server.fair_lock import FairLock
from ludus.server.metrics import Metrics
from ludus.server.served_env import RESET_DEADLINE_FACTOR, ServedEnv
from ludus.server.watchdog import StepWatchdog
from ludus.wire.dialogue import ServerDialogue

__all__ = ["Session", "SessionInfo"]

T = TypeVar("T")
SANDBOX_GRACE_S = 1.0
"""Seconds that a sandbox has to end an environment by itself, before it is ended from here."""
ABANDON_AFTER_S = 10.0
"""Seconds after which an environment that was ended, and still does not answer, is given up."""
MAX_REMEMBERED_CLIENTS = 64
"""Clients that drove it once, of which it is known."""


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
    running: float
    """Seconds since what is under way began; 0: nothing is."""


class Session:
    """An instance of an environment with its episode, its numbered requests, its thread, and the client that drives it.

    Every protocol calls `call(work)`: `work` gets the `EnvHost` and runs in the session's thread. At most one runs at a
    time. Past its deadline an environment in a sandbox is killed, which truncates the episode; one in this process
    cannot be, so the session is given up: its place is free at once, its thread ends when it ends.
    """

    def __init__(
        self,
        id: str,
        served: ServedEnv,
        owner: Principal,
        lanes: int,
        metrics: Metrics,
        watch: StepWatchdog | None = None,
    ) -> None:
        self.id, self.served, self.owner, self.lanes, self.metrics = id, served, owner, lanes, metrics
        self.dialogue, self.meter = ServerDialogue(), metrics.meter(served.name)
        self.hosted: EnvHost | None = None
        self.arguments: dict[str, object] = {}
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
        self.client: str = ""
        self.since: int = 0
        """Who drives it, and the number of the last request of those who did before."""
        self._former: OrderedDict[str, None] = OrderedDict()
        self._direct: Direct | None = None
        """Its connection, while the thread reads that by itself; the turn is the thread's for so long."""
        self._turn, self._pending = FairLock(), 0
        self._thread: EnvThread | None = None
        self._watch = StepWatchdog() if watch is None else watch

    # --- life ---

    async def open(self, make: Callable[[], EnvHost], seconds: float) -> None:
        """Make the environment, in the thread it will live in; it is closed there, if it comes too late."""

        def made() -> None:
            self.hosted = hosted = make()
            if self.lost is not None:  # nobody waits for it any more
                self.hosted = None
                hosted.close()

        self._thread = EnvThread(f"session-{self.id[:8]}")
        self._watch.add(self._thread, self.served.name)
        await self._turn.take()
        try:
            await self._in_thread(self._thread, made, seconds)
        finally:
            self._turn.release()

    async def close(self) -> None:
        """Close the environment; harmless twice. What is under way ends, where it can be ended."""
        if self.lost is None:
            self.lost = "it was closed"
        self.metrics.end(self.meter)
        hosted, self.hosted = self.hosted, None
        thread, self._thread = self._thread, None
        if thread is None:
            return
        if hosted is None:
            thread.end()
            return
        busy = bool(thread.since) or thread.under_way > (self._direct is not None)
        if self._direct is not None:
            self._direct.recall()
        if busy and hosted.can_interrupt:
            await asyncio.get_running_loop().run_in_executor(None, hosted.interrupt, "closed")
        closing = thread.run(hosted.close)
        closing.add_done_callback(self._heard)
        thread.end()
        if not busy or self.served.isolated:  # else nobody knows when its turn comes
            await asyncio.wait([closing], timeout=self.served.config.deadline)

    def _heard(self, closing: "asyncio.Future[None]") -> None:
        if not closing.cancelled() and closing.exception() is not None:
            self.metrics.count("close_failures")

    def lose(self, why: str) -> None:
        """Give the session up: whoever counts places hears of it at once."""
        if self.lost is None:
            self.lost = why
            if self.on_lost is not None:
                self.on_lost(self)

    # --- work ---

    async def call(self, work: Callable[[EnvHost], T], seconds: float | None = None, *, long: bool = False) -> T:
        """Have `work` done with the environment; SessionLost where there is none any more.

        `seconds` is what the caller grants, at most the server's own deadline; `long` is for resets and snapshots.
        """
        granted = self.allowed_seconds(seconds, long=long)
        self._pending += 1
        try:
            if self._direct is not None:
                self._direct.recall()
            await self._turn.take()
            try:
                thread, hosted = self._present()
                return await self._in_thread(thread, partial(work, hosted), granted)
            finally:
                self._turn.release()
        finally:
            self._pending -= 1
            self.used = monotonic()

    def allowed_seconds(self, seconds: float | None, *, long: bool) -> float:
        """Seconds that work may take."""
        most = self.served.config.deadline * (RESET_DEADLINE_FACTOR if long else 1.0)
        return min(most, max(seconds, 0.001)) if seconds is not None and seconds == seconds else most

    def _present(self) -> tuple[EnvThread, EnvHost]:
        thread, hosted = self._thread, self.hosted
        if thread is None or hosted is None or self.lost is not None:
            raise SessionLost(f"session {self.id[:8]}…: expected one that is there, got none: {self.lost}")
        return thread, hosted

    async def _in_thread(self, thread: EnvThread, work: Callable[[], T], seconds: float) -> T:
        running = thread.run(work)
        if running.done():
            return running.result()
        self._watch.begin()
        return await self._timed(thread, running, seconds)

    async def _timed(self, thread: EnvThread, running: "asyncio.Future[T]", seconds: float, past: float = 0.0) -> T:
        """Wait for work, of whose time some has passed."""
        own = self.served.isolated and seconds >= self.served.config.deadline  # then the sandbox keeps the time itself
        left = max(seconds + (SANDBOX_GRACE_S if own else 0.0) - past, 0.0)
        timer = asyncio.get_running_loop().call_later(left, self._expire, thread, running, seconds)
        try:
            return await running
        finally:
            timer.cancel()

    def _expire(self, thread: EnvThread, running: "asyncio.Future[T]", seconds: float) -> None:
        """The deadline has passed: end the environment where it can be ended, else give it up."""
        if running.done():
            return
        thread.overdue = True
        self.metrics.count("deadlines_passed", env=self.served.name)
        loop, hosted = asyncio.get_running_loop(), self.hosted
        if hosted is not None and hosted.can_interrupt:
            loop.run_in_executor(None, hosted.interrupt, "deadline")
            loop.call_later(ABANDON_AFTER_S, self._give_up, running, seconds)
        else:
            self._give_up(running, seconds)

    def _give_up(self, running: "asyncio.Future[T]", seconds: float) -> None:
        if running.done():
            return
        why = f"it took longer than {seconds:g} seconds, in a process that cannot be ended alone"
        running.set_exception(LimitExceeded(f"session {self.id[:8]}…: {why}; serve it with isolation='process'"))
        self.lose(why)

    # --- a connection that the thread reads ---

    def go_direct(self, link: DirectTransport, requests: Requests) -> None:
        """Have the thread read a connection by itself, where nothing else waits for the session."""
        thread, hosted = self._thread, self.hosted
        if thread is None or hosted is None or self.lost is not None or self._direct is not None:
            return
        idle = not self._pending and not thread.under_way and self.dialogue.is_idle
        if not idle or not self._watch.has_place or not self._turn.take_now():
            return
        watch, on_end = self._watch, partial(self._end_direct, thread)
        direct = Direct(thread, link, requests, hosted.answer, activity=watch.activity, on_end=on_end)
        if direct.start():
            self._direct = direct
            self._watch.begin_direct(thread, direct)
        else:
            self._turn.release()

    def _end_direct(self, thread: EnvThread, detached: bool) -> None:
        self._direct = None
        self._watch.end_direct(thread)
        if not detached:
            self._turn.release()

    async def finish(self, running: "asyncio.Future[T]", seconds: float, begun: float) -> T:
        """Wait for what the thread was at when its connection was taken from it; then its turn ends."""
        self._pending += 1
        try:
            thread = self._thread
            if thread is None:  # it was closed: nobody keeps the time of what cannot be ended
                return await running
            return await self._timed(thread, running, seconds, monotonic() - begun)
        finally:
            self._pending -= 1
            self.used = monotonic()
            self._turn.release()

    async def recall(self) -> None:
        """Wait until the event loop has the connection, if there is one."""
        while (direct := self._direct) is not None:
            direct.recall()
            await asyncio.shield(direct.ended)

    # --- who drives it ---

    def admit(self, client: str, *, takeover: bool) -> None:
        """Whether a client may connect: SessionBusy where another one is connected, SessionTaken where it was let go.

        One that is known by its name comes again: its connection was lost, whatever is known of that here.
        """
        if (client and client == self.client) or takeover:
            return
        if client in self._former:
            raise SessionTaken(
                f"session {self.id[:8]}…: expected to go on with it, got that another client has taken it over; open a "
                "session of your own, or take it back by takeover=True"
            )
        if self.connection is not None:
            raise SessionBusy(
                f"session {self.id[:8]}…: expected one that no other client is connected to, got one that is driven; "
                "open a session of your own, or drive it in the other's place by takeover=True"
            )

    def drive(self, client: str) -> None:
        """Let a client drive from now on; what was asked before belongs to whoever asked, and is not repeated to it."""
        if client and client == self.client:
            return
        self._former.pop(client, None)
        if self.client:
            self._former[self.client] = None
        if len(self._former) > MAX_REMEMBERED_CLIENTS:
            self._former.popitem(last=False)
        self.client, self.since = client, self.dialogue.begun

    # --- for others ---

    @property
    def busy(self) -> bool:
        """Whether something is under way, or waits."""
        return self._pending > 0 or (self._thread is not None and bool(self._thread.since))

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
        hosted, thread, now = self.hosted, self._thread, monotonic()
        since = 0.0 if thread is None else thread.since
        return SessionInfo(
            self.id,
            self.served.name,
            self.lanes,
            self.served.isolation,
            self.owner.name,
            self.opened,
            now - self.used,
            self.connection is not None,
            None if hosted is None else hosted.episode_id,
            0 if hosted is None else hosted.step_count,
            max(0.0, now - since) if since else 0.0,
        )
