"""`Handle`: a snapshot that stays at the server, of which this side holds the number."""

import weakref
from typing import Any

from ludus.client.session import WireSession
from ludus.client.talk import Talk
from ludus.errors import SnapshotError
from ludus.wire.message import DoneReply, RestoreRequest, SnapshotReply, SnapshotRequest
from ludus.wire.network import ForkReply, ForkRequest

__all__ = ["Handle", "take_handle"]


class Handle:
    """A snapshot that a session keeps: forgotten there when it is here."""

    def __init__(self, session: WireSession, number: int, mine: Any, line: Any = None) -> None:
        self.session, self.id, self.number, self.mine, self.line = session, session.id, number, mine, line
        weakref.finalize(self, _forget, session, session.id, number)

    def belongs_to(self, session: WireSession) -> bool:
        """Whether it is one of that session, as it is now."""
        return self.session is session and self.id == session.id

    def restore(self, session: WireSession) -> Talk[None]:
        """Go back to it, in its own session."""
        if not self.belongs_to(session):
            raise SnapshotError(
                f"restore: expected a snapshot of this session of {session.name}, got one of another; "
                "fork() gives a session that goes on from one"
            )
        yield from session.ask(RestoreRequest(self.number), DoneReply)

    def fork(self) -> Talk[str]:
        """The id of a new session that goes on from it."""
        if self.id != self.session.id or self.session.closed:
            raise SnapshotError(
                f"restore: expected a snapshot whose session is open, got one of a session of {self.session.name} "
                "that was closed: the state went with it"
            )
        reply = yield from self.session.ask(ForkRequest(self.number), ForkReply)
        return reply.session


def take_handle(session: WireSession, mine: Any, line: Any = None) -> Talk[Handle]:
    """Have a snapshot taken, with what this side knows beside it; those that were forgotten here go with it."""
    dropped = list(session.dropped)
    reply = yield from session.ask(SnapshotRequest(dropped), SnapshotReply)
    del session.dropped[: len(dropped)]
    return Handle(session, reply.number, mine, line)


def _forget(session: WireSession, id: str, number: int) -> None:
    if session.id == id:
        session.dropped.append(number)
