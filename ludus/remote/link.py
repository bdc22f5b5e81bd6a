"""`Link`: the way to an environment that is somewhere else: one request, one reply, and the life of the other side."""

from typing import Protocol, TypeVar

from ludus.core import Info
from ludus.errors import LudusError
from ludus.wire.messages import HostRequest

__all__ = ["Link", "LinkEnded"]

ReplyT = TypeVar("ReplyT")


class LinkEnded(Exception):
    """The other side ended in the middle of a request: the episode under way is cut there."""

    def __init__(self, reason: str, info: Info) -> None:
        super().__init__(reason)
        self.reason, self.info = reason, info
        """What `info` of the step says that it cut short."""

    def error(self, what: str, advice: str = "; reset() starts it anew") -> LudusError:
        """For a call that has no episode to cut short."""
        raise NotImplementedError


class Link(Protocol):
    """What a proxy needs of a transport and of whoever starts the other side.

    Errors that the other side raised are raised by `ask` and `collect` as errors of this side's own classes. After
    `LinkEnded`, or SessionLost, `alive` is false until `reopen`.
    """

    @property
    def name(self) -> str:
        """Of the environment, for messages."""
        ...

    @property
    def alive(self) -> bool:
        """Whether there is another side to ask."""
        ...

    def ask(self, request: HostRequest, kind: type[ReplyT]) -> ReplyT:
        """The reply to a request, within the time that its kind has."""
        ...

    def post(self, request: HostRequest) -> None:
        """Send a request whose reply is collected later: other links are asked meanwhile."""
        ...

    def collect(self, kind: type[ReplyT]) -> ReplyT:
        """The reply to what was posted."""
        ...

    def reopen(self) -> dict[str, object]:
        """Begin anew where the other side is gone; what the next reset's info says of it."""
        ...

    def abandon(self) -> None:
        """What the other side says next would be taken for something else: end it, or drop the connection."""
        ...

    def forget(self, number: int) -> None:
        """A snapshot that nobody holds any more: tell the other side with the next one that is taken."""
        ...

    def dropped(self) -> list[int]:
        """The snapshots to forget, which are told now."""
        ...

    def identity(self) -> object:
        """What a snapshot belongs to: equal as long as the other side is the same one."""
        ...

    def move(self, source: "Link | None", number: int) -> None:
        """Go on from a snapshot that is another link's; SnapshotError where that cannot be, or is gone (None)."""
        ...

    def close(self) -> None:
        """Close the environment there, and end; harmless twice."""
        ...
