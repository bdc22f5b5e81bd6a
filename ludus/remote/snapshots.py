"""`SnapshotHandle`: a snapshot that stays where its environment is, of which this side holds the number."""

import weakref
from typing import Never

from ludus.errors import SnapshotError
from ludus.remote.link import Link, LinkEnded
from ludus.wire.messages import DoneReply, RestoreRequest, SnapshotReply, SnapshotRequest

__all__ = ["SnapshotHandle"]


class SnapshotHandle:
    """A snapshot that the other side keeps; it is forgotten there when it is here."""

    def __init__(self, link: Link) -> None:
        try:
            number = link.ask(SnapshotRequest(link.dropped()), SnapshotReply).number
        except LinkEnded as ended:
            raise ended.error(f"{link.name}.snapshot") from None
        self.number, self.link, self.identity = number, link, link.identity()
        weakref.finalize(self, _forget, link, self.identity, number)

    def __reduce__(self) -> Never:
        raise SnapshotError(
            f"pickle of a snapshot: expected the state of an environment of this process, got number {self.number} of "
            f"those that {self.link.name} keeps where it is; seed and actions lead there again"
        )

    def restore(self, link: Link) -> None:
        """Bring the environment of a link to it: in place where it is that one's own, else by moving the state."""
        if link is not self.link or link.identity() != self.identity:
            link.move(self.link if self.link.identity() == self.identity else None, self.number)
            return
        try:
            link.ask(RestoreRequest(self.number), DoneReply)
        except LinkEnded as ended:
            raise ended.error(f"{link.name}.restore") from None


def _forget(link: Link, identity: object, number: int) -> None:
    if link.identity() == identity:
        link.forget(number)
