"""`Sessions`: all sessions of one server process: opened, found, forked, closed, and reaped when nobody wants them."""

import asyncio
import secrets
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from time import monotonic
from typing import NamedTuple

from ludus.core import VectorEnv
from ludus.core.env import AnyEnv
from ludus.errors import InvalidArgument, LudusError, ServerBusy, SessionLost, UnknownEnvironment, listing, shorten
from ludus.remote.host import EnvHost
from ludus.remote.plans import EpisodePlans
from ludus.server.access import Principal
from ludus.server.config import ServerConfig
from ludus.server.metrics import Metrics
from ludus.server.recorder import RememberedPlans, SessionRecorder, new_file, open_folder
from ludus.server.served_env import RESET_DEADLINE_FACTOR, ServedEnv
from ludus.server.session import Session, SessionInfo
from ludus.server.watchdog import StepWatchdog

__all__ = ["Sessions"]

REAP_INTERVAL_S = 1.0
"""Seconds between two looks for sessions that nobody wants."""
ADVICE = "a step is past its deadline and cannot be ended in the server's own process; serve with isolation='process'"
MAX_REMEMBERED_SESSIONS = 1024
"""Sessions that are gone, of which it is known why."""

Listener = Callable[[str, dict[str, object]], None]
"""Hears what happens to sessions: `opened`, `refused`, `stuck`, `unrecorded` or `closed`, and what belongs to it."""


class Sessions:
    """The sessions of the environments in `offered`, by id. An id is a secret: whoever has it may use the session.

    >>> async def play():
    ...     sessions = Sessions([ServedEnv("CartPole-v1")], ServerConfig())
    ...     session = await sessions.open("", Principal("orchestrator", "me"))
    ...     outcome = await session.call(lambda hosted: hosted.reset(seed=0))
    ...     await sessions.stop()
    ...     return outcome.observation.shape
    >>> asyncio.run(play())
    (4,)
    """

    def __init__(self, offered: Iterable[ServedEnv], config: ServerConfig, *, worker: int = 0) -> None:
        self.offered: dict[str, ServedEnv] = {one.name: one for one in offered}
        self.config, self.worker, self.metrics, self.watch = config, worker, Metrics(), StepWatchdog()
        self._folder = None if config.record is None else open_folder(config.record)
        self._sessions: dict[str, Session] = {}
        self._held: Counter[str] = Counter()
        """Places that each owner has, those included that are being made ready."""
        self._places = asyncio.Semaphore(config.max_sessions)
        self._waiting = 0
        self._reaper: asyncio.Task[None] | None = None
        self._closing: set[asyncio.Task[None]] = set()
        self._gone: OrderedDict[str, str] = OrderedDict()
        """Why the last ones are not there any more."""
        self.listeners: list[Listener] = []

    # --- life ---

    async def start(self) -> None:
        """Begin to look for sessions that nobody wants."""
        if self._reaper is None:
            self._reaper = asyncio.get_running_loop().create_task(self._reap())

    async def stop(self) -> None:
        """Close every session."""
        reaper, self._reaper = self._reaper, None
        if reaper is not None:
            reaper.cancel()
            with suppress(asyncio.CancelledError):
                await reaper
        for session in list(self._sessions.values()):
            self._close_later(session, "the server stops")
        if self._closing:
            await asyncio.wait(self._closing)
        self.watch.stop()

    # --- sessions ---

    def served(self, name: str = "") -> ServedEnv:
        """An environment that is offered; by default the first."""
        if not name:
            return next(iter(self.offered.values()))
        if name not in self.offered:
            raise UnknownEnvironment(f"env: expected one of {listing(self.offered)}, got {shorten(name)}")
        return self.offered[name]

    async def open(
        self,
        name: str,
        owner: Principal,
        *,
        lanes: int = 0,
        autoreset_mode: str = "NextStep",
        arguments: Mapping[str, object] | None = None,
        planned: bool = False,
        patience: float | None = None,
    ) -> Session:
        """A new session, once there is a place for it; ServerBusy after `patience`, or else `queue_seconds`."""
        options = SessionOptions(lanes, autoreset_mode, dict(arguments or {}), planned, patience)
        try:
            session = await self._opened(name, owner, options)
        except LudusError as error:
            self._tell("refused", env=name, by=owner.name, kind=type(error).__name__, why=str(error))
            raise
        extra = {"lanes": lanes} if lanes else {}
        self._tell("opened", session=session.id, env=session.served.name, by=owner.name, **extra)
        return session

    def _tell(self, name: str, **fields: object) -> None:
        for listener in self.listeners:
            listener(name, fields)

    async def _opened(self, name: str, owner: Principal, options: "SessionOptions") -> Session:
        owner.need("run", "open a session")
        served = self.served(name)
        most = self.config.sessions_per_token
        if owner.name != "anybody" and self._held[owner.name] >= most:
            raise ServerBusy(f"session: expected at most {most} of one token, got one more; close some", 5.0)
        self._held[owner.name] += 1
        try:
            await self._place(self.config.queue_seconds if options.patience is None else options.patience)
            try:
                return await self._made(served, owner, options)
            except BaseException:
                self._places.release()
                raise
        except BaseException:
            self._let_go(owner)
            raise

    def _let_go(self, owner: Principal) -> None:
        self._held[owner.name] -= 1
        if self._held[owner.name] <= 0:
            del self._held[owner.name]

    async def _place(self, patience: float) -> None:
        most = self.config.max_sessions
        if not patience and self._places.locked():
            raise ServerBusy(f"session: expected one of {most} places to be free, got none; come again", 1.0)
        if self._waiting >= most:
            raise ServerBusy(f"session: expected at most {most} to wait for a place, got one more", patience)
        self._waiting += 1
        try:
            async with asyncio.timeout(patience or None):
                await self._places.acquire()
        except TimeoutError:
            ahead = self._waiting
            raise ServerBusy(
                f"session: expected one of {most} places to become free within {patience:g} seconds, got none; "
                f"{ahead} are waiting",
                min(60.0, 1.0 + ahead / most * patience),
            ) from None
        finally:
            self._waiting -= 1

    async def _made(self, served: ServedEnv, owner: Principal, options: "SessionOptions") -> Session:
        name = f"{self.worker}.{secrets.token_urlsafe(18)}"
        session = Session(name, served, owner, options.lanes, self.metrics, self.watch)
        session.arguments = options.arguments
        loop = asyncio.get_running_loop()

        def make() -> EnvHost:
            served.description()
            plans = EpisodePlans() if options.planned and options.lanes else None
            known = plans if plans is None or self._folder is None else RememberedPlans(plans)
            env = served.make(
                lanes=options.lanes, autoreset_mode=options.autoreset_mode, arguments=options.arguments, episodes=known
            )
            if self._folder is not None:
                env = self._recorded(env, session, loop, known if isinstance(known, RememberedPlans) else None)
            return EnvHost(env, max_snapshots=self.config.max_snapshots, plans=plans)

        try:
            await session.open(make, RESET_DEADLINE_FACTOR * self.config.deadline)
        except BaseException:
            await session.close()
            raise
        self._sessions[session.id] = session
        session.on_lost = self._give_up
        self.metrics.count("sessions_opened", env=served.name)
        return session

    def _recorded(
        self,
        env: AnyEnv,
        session: Session,
        loop: asyncio.AbstractEventLoop,
        plans: RememberedPlans | None,
    ) -> AnyEnv:
        """The environment with a file of its own; it is closed where there is no place for one."""
        name = session.served.name
        tell = partial(self._tell, "unrecorded", session=session.id, env=name)

        def stopped(why: str) -> None:
            self.metrics.count("recordings_stopped", env=name)
            with suppress(RuntimeError):  # the server has stopped
                loop.call_soon_threadsafe(partial(tell, why=why))

        try:
            path = new_file(self._folder or Path(), name, self.config.record_files)
            about = {"served": name, "owner": session.owner.name, "isolation": session.served.isolation}
            return SessionRecorder(env, path, self.config, plans=plans, on_stop=stopped, metadata=about)
        except BaseException:
            env.close()
            raise

    def find(self, id: str) -> Session:
        """The session of an id."""
        found = self._sessions.get(id)
        if found is None:
            why = self._gone.get(id, "it was closed, left alone for too long, or ended with its process")
            raise SessionLost(f"session {shorten(id[:12])}: expected one that is open, got none; {why}")
        return found

    async def fork(self, session: Session, number: int, owner: Principal, *, lanes: list[int] | None = None) -> Session:
        """A new session that goes on from a snapshot of another (0: from now); of a batch, with these lanes."""
        owner.need("run", "fork a session")
        if lanes is not None and not session.lanes:
            raise InvalidArgument(f"fork: expected no lanes for one environment, got {shorten(lanes)}")
        taken = await session.call(lambda hosted: hosted.transfer(number, lanes), long=True)
        twin = await self.open(
            session.served.name,
            owner,
            lanes=session.lanes if lanes is None else len(lanes),
            autoreset_mode=_mode(session),
            arguments=session.arguments,
            planned=session.hosted is not None and session.hosted.plans is not None,
        )
        try:
            await twin.call(lambda hosted: hosted.accept(taken), long=True)
        except BaseException:
            await self.close(twin, "it could not be forked")
            raise
        return twin

    async def close(self, session: Session, why: str = "it was closed") -> None:
        """Close a session and free its place; harmless twice."""
        if self._forget(session, why):
            await session.close()

    def _forget(self, session: Session, why: str) -> bool:
        """Free the place of a session; False where that was done before."""
        if self._sessions.pop(session.id, None) is None:
            return False
        session.lost = session.lost or why
        self._gone[session.id] = session.lost
        while len(self._gone) > MAX_REMEMBERED_SESSIONS:
            self._gone.popitem(last=False)
        self._places.release()
        self._let_go(session.owner)
        self.metrics.count("sessions_closed", env=session.served.name)
        info = session.info()
        self._tell("closed", session=session.id, env=info.env, steps=info.steps, why=session.lost)
        return True

    def _close_later(self, session: Session, why: str) -> None:
        """Free the place at once, and close without anybody waiting for it."""
        if self._forget(session, why):
            task = asyncio.get_running_loop().create_task(session.close())
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)

    def _give_up(self, session: Session) -> None:
        """A session does not come back from what it is at: tell, and free its place."""
        if session.busy:
            why, env = session.lost or "", session.served.name
            self._tell("stuck", session=session.id, env=env, why=why, advice=ADVICE)
        self._close_later(session, session.lost or "")

    def health(self) -> dict[str, object]:
        """Whether all is well; what is stuck in this process takes time from all others."""
        stuck = self.watch.stuck()
        if not stuck:
            return {"status": "healthy"}
        return {"status": "degraded", "stuck": len(stuck), "seconds": stuck[0].seconds, "advice": ADVICE}

    def infos(self) -> list[SessionInfo]:
        """All sessions, oldest first."""
        return [one.info() for one in list(self._sessions.values())]

    @property
    def waiting(self) -> int:
        """How many wait for a place."""
        return self._waiting

    # --- the reaper ---

    async def _reap(self) -> None:
        while True:
            await asyncio.sleep(REAP_INTERVAL_S)
            self.reap(monotonic())

    def reap(self, now: float) -> None:
        """Close those that nobody wants any more, at a time of `monotonic`."""
        for session in [one for one in self._sessions.values() if self._is_unwanted(one, now)]:
            self.metrics.count("sessions_reaped", env=session.served.name)
            self._close_later(session, "nobody used it for too long")

    def _is_unwanted(self, session: Session, now: float) -> bool:
        if session.busy or session.connection is not None:
            return False
        patience = self.config.resume_seconds if session.was_connected else self.config.idle_seconds
        return now - session.used > patience


class SessionOptions(NamedTuple):
    """How a session is to be made."""

    lanes: int
    autoreset_mode: str
    arguments: dict[str, object]
    planned: bool
    patience: float | None = None


def _mode(session: Session) -> str:
    env = None if session.hosted is None else session.hosted.env
    return env.autoreset_mode.value if isinstance(env, VectorEnv) else "NextStep"
