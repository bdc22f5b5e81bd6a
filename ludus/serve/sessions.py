"""`Sessions`: all sessions of one server process: opened, found, forked, closed, and reaped when nobody wants them."""

import asyncio
import secrets
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from time import monotonic
from typing import Any

from ludus.errors import ServerBusy, SessionLost, UnknownEnvironment, listing, shorten
from ludus.serve.access import Principal
from ludus.serve.hosted import Hosted
from ludus.serve.metrics import Metrics
from ludus.serve.served import LONG, Served
from ludus.serve.session import Session, SessionInfo
from ludus.serve.settings import Settings

__all__ = ["Sessions"]

REAPING = 1.0
"""Seconds between two looks for sessions that nobody wants."""


class Sessions:
    """The sessions of the environments in `offered`, by id. An id is a secret: whoever has it may use the session."""

    def __init__(self, offered: Iterable[Served], settings: Settings, *, worker: int = 0) -> None:
        self.offered: dict[str, Served] = {one.name: one for one in offered}
        self.settings, self.worker, self.metrics = settings, worker, Metrics()
        self._sessions: dict[str, Session] = {}
        self._opening: Counter[str] = Counter()
        self._places = asyncio.Semaphore(settings.max_sessions)
        self._waiting = 0
        self._reaper: asyncio.Task[None] | None = None

    # --- life ---

    async def start(self) -> None:
        """Begin to look for sessions that nobody wants."""
        self._reaper = asyncio.get_running_loop().create_task(self._reap())

    async def stop(self) -> None:
        """Close every session."""
        if self._reaper is not None:
            self._reaper.cancel()
            with suppress(asyncio.CancelledError):
                await self._reaper
        await asyncio.gather(*(self.close(one, "the server stops") for one in list(self._sessions.values())))

    # --- sessions ---

    def served(self, name: str = "") -> Served:
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
        arguments: Mapping[str, Any] | None = None,
    ) -> Session:
        """A new session, once there is a place for it; ServerBusy after `queue_seconds`."""
        owner.need("run", "open a session")
        served = self.served(name)
        self._check_share(owner)
        self._opening[owner.name] += 1
        try:
            await self._place()
            try:
                return await self._made(served, owner, lanes, autoreset_mode, arguments)
            except BaseException:
                self._places.release()
                raise
        finally:
            self._opening[owner.name] -= 1

    def _check_share(self, owner: Principal) -> None:
        most = self.settings.sessions_per_token
        held = sum(one.owner.name == owner.name for one in self._sessions.values()) + self._opening[owner.name]
        if owner.name != "anybody" and held >= most:
            raise ServerBusy(f"session: expected at most {most} of one token, got one more; close some", 5.0)

    async def _place(self) -> None:
        self._waiting += 1
        try:
            await asyncio.wait_for(self._places.acquire(), self.settings.queue_seconds)
        except TimeoutError:
            most, ahead = self.settings.max_sessions, self._waiting
            raise ServerBusy(
                f"session: expected one of {most} places to become free within {self.settings.queue_seconds:g} "
                f"seconds, got none; {ahead} are waiting",
                min(60.0, 1.0 + ahead / most * self.settings.queue_seconds),
            ) from None
        finally:
            self._waiting -= 1

    async def _made(
        self, served: Served, owner: Principal, lanes: int, mode: str, arguments: Mapping[str, Any] | None
    ) -> Session:
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(None, served.description)
        session = Session(f"{self.worker}.{secrets.token_urlsafe(18)}", served, owner, lanes, self.metrics)

        def make() -> Hosted:
            env = served.make(lanes=lanes, autoreset_mode=mode, arguments=arguments)
            return Hosted(env, max_snapshots=self.settings.max_snapshots)

        try:
            await session.open(make, LONG * self.settings.deadline)
        except BaseException:
            await session.close()
            raise
        self._sessions[session.id] = session
        self.metrics.count("sessions_opened", env=served.name)
        return session

    def find(self, id: str) -> Session:
        """The session of an id."""
        found = self._sessions.get(id)
        if found is None:
            raise SessionLost(
                f"session {shorten(id[:12])}: expected one that is open, got none; it was closed, left alone for "
                "too long, or ended with its process"
            )
        return found

    async def fork(self, session: Session, number: int, owner: Principal) -> Session:
        """A new session that goes on from a snapshot of another; number 0: from now."""
        taken = await session.call(lambda hosted: _taken(hosted, number), long=True)
        twin = await self.open(session.served.name, owner, lanes=session.lanes, autoreset_mode=_mode(session))
        try:
            await twin.call(lambda hosted: hosted.adopt(taken), long=True)
        except BaseException:
            await self.close(twin, "it could not be forked")
            raise
        return twin

    async def close(self, session: Session, why: str = "it was closed") -> None:
        """Close a session and free its place; harmless twice."""
        if self._sessions.pop(session.id, None) is None:
            return
        session.lost = session.lost or why
        self._places.release()
        self.metrics.count("sessions_closed", env=session.served.name)
        await session.close()

    def infos(self) -> list[SessionInfo]:
        """All sessions, oldest first."""
        return [one.info() for one in self._sessions.values()]

    @property
    def waiting(self) -> int:
        """How many wait for a place."""
        return self._waiting

    # --- the reaper ---

    async def _reap(self) -> None:
        while True:
            await asyncio.sleep(REAPING)
            now = monotonic()
            unwanted = [one for one in self._sessions.values() if self._is_unwanted(one, now)]
            for session in unwanted:
                self.metrics.count("sessions_reaped", env=session.served.name)
            await asyncio.gather(*(self.close(one, "nobody used it for too long") for one in unwanted))

    def _is_unwanted(self, session: Session, now: float) -> bool:
        if session.lost is not None:
            return True
        if session.busy or session.connection is not None:
            return False
        patience = self.settings.resume_seconds if session.dialogue.begun else self.settings.idle_seconds
        return now - session.used > patience


def _taken(hosted: Hosted, number: int) -> Any:
    """A snapshot that was taken before, or one of now, which nobody else needs."""
    if number:
        return hosted.kept(number)
    now = hosted.keep()
    return hosted.dropped(now)


def _mode(session: Session) -> str:
    env: Any = None if session.hosted is None else session.hosted.env
    return env.autoreset_mode.value if session.lanes else "NextStep"
