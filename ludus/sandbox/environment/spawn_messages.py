"""What is said to a fork server inside the sandbox, and what it answers; a `MakeRequest` comes first."""

from ludus.wire.messages import DoneReply, FailedReply, MakeRequest, WireMessage

__all__ = ["EndReply", "EndRequest", "ServerReply", "ServerRequest", "SpawnReply", "SpawnRequest"]


class SpawnRequest(WireMessage, tag=100):
    """Fork; the child serves the socket that came with this, and may take so many bytes more than it has."""

    memory: int | None = None


class EndRequest(WireMessage, tag=101):
    """Wait for a child for so many seconds, then kill it; None: kill it, and do not wait."""

    number: int
    seconds: float | None


class SpawnReply(WireMessage, tag=100):
    """The number of the child."""

    number: int


class EndReply(WireMessage, tag=101):
    """How a child ended: its exit code, negative for a signal; None where that is not known."""

    code: int | None


ServerRequest = MakeRequest | SpawnRequest | EndRequest
ServerReply = SpawnReply | EndReply | DoneReply | FailedReply
