"""`SessionLink`: the link to an environment at a server: a session, and the line that it is carried on over."""

import weakref
from threading import RLock
from time import monotonic
from typing import TypeVar

from ludus.client.connection_config import ConnectionConfig
from ludus.client.flow import Flow, Transport, run_flow
from ludus.client.session import ClientSession, WireSession
from ludus.errors import SnapshotError
from ludus.remote.link import Link
from ludus.wire.messages import ForkReply, ForkRequest, NetworkRequest

__all__ = ["SessionLink", "let_go"]

ReplyT = TypeVar("ReplyT")
T = TypeVar("T")
REOPENED = "session_reopened"
"""The key of `info` under which the first reset of a new session tells why there is one."""


class SessionLink:
    """A session at a server over a line that blocks. Threads that share it wait for each other."""

    def __init__(self, opening: ConnectionConfig, line: Transport, session: ClientSession) -> None:
        self.opening, self.session, self._line = opening, session, line
        self._turn = RLock()
        self._posted: list[NetworkRequest] = []
        self.finalizer = weakref.finalize(self, let_go, line, opening)

    def run_flow(self, flow: Flow[T]) -> T:
        """Carry out a flow; nobody else has the transport meanwhile."""
        with self._turn:
            return run_flow(flow, self._line)

    @property
    def name(self) -> str:
        """Of the environment, for messages."""
        return self.session.name

    @property
    def alive(self) -> bool:
        """Whether the session is there, as far as is known."""
        return self.session.alive

    def ask(self, request: NetworkRequest, kind: type[ReplyT]) -> ReplyT:
        """The reply to a request; a connection that is lost meanwhile is made anew."""
        session, line = self.session, self._line
        with self._turn:
            if not isinstance(session, WireSession):
                return run_flow(session.ask(request, kind), line)
            number, data = session.number(request)
            seconds = session.terms.timeout
            try:
                payload = line.exchange(data, seconds)
            except OSError as error:
                return run_flow(session.wait(number, kind, monotonic() + seconds, error), line)
            reply = session.reply(payload, number, kind)
            if reply is None:
                return run_flow(session.wait(number, kind, monotonic() + seconds), line)
            return reply

    def post(self, request: NetworkRequest) -> None:
        """Remember a request until its reply is collected: there is one server to ask."""
        self._posted = [request]

    def collect(self, kind: type[ReplyT]) -> ReplyT:
        """The reply to what was posted."""
        return self.ask(self._posted.pop(), kind)

    def reopen(self) -> dict[str, object]:
        """Open another session in place of one that was lost."""
        return {REOPENED: self.run_flow(self.session.reopen())}

    def abandon(self) -> None:
        """Drop the connection: the session goes on over the next one."""
        self._line.close()

    # --- snapshots ---

    def forget(self, number: int) -> None:
        """A snapshot that nobody holds any more."""
        self.session.dropped.append(number)

    def dropped(self) -> list[int]:
        """Those to be forgotten there with the next one that is taken."""
        found = list(self.session.dropped)
        self.session.dropped.clear()
        return found

    def identity(self) -> object:
        """The session, which keeps its snapshots."""
        return self.session.id if self.alive else None

    def move(self, source: Link | None, number: int) -> None:
        """Go on with a session that is forked from a snapshot of another one at the same server."""
        ours = self.session
        if not isinstance(source, SessionLink) or not source.alive:
            raise self._gone()
        theirs = source.session
        if not isinstance(theirs, WireSession) or not isinstance(ours, WireSession):
            raise self._gone()
        if (ours.terms.where, ours.env) != (theirs.terms.where, theirs.env):
            raise SnapshotError(
                f"restore: expected a snapshot of {ours.name} at {ours.terms.where}, got one of {theirs.name} at "
                f"{theirs.terms.where}: the state stays with its server"
            )
        self.run_flow(ours.attach(source.ask(ForkRequest(number), ForkReply).session))

    def _gone(self) -> SnapshotError:
        return SnapshotError(
            f"restore: expected a snapshot whose session is open, got one of a session of {self.name} "
            "that was closed: the state went with it"
        )

    def fork(self, lanes: list[int] | None = None) -> ConnectionConfig:
        """How to open a new session that goes on from here."""
        return self.opening.forked(self.ask(ForkRequest(0, lanes), ForkReply).session)

    def close(self) -> None:
        """Have the session closed, and end the connection; harmless twice."""
        self.run_flow(self.session.close())
        self.finalizer()


def let_go(line: Transport, opening: ConnectionConfig) -> None:
    """End the connection, and what was started for it: also where an environment is forgotten without `close`."""
    line.close()
    opening.end()
