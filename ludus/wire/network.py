"""Messages between a client and a server: those of an environment, each under a number, and what a session needs.

`Asked` and `Answered` go around every message. Number 0 is out of order: `HelloRequest` and `CancelRequest`; all other
requests of a session are numbered from 1 on, and each is carried out once, whatever connections come and go.
"""

from typing import Any, Literal

import msgspec

from ludus.errors import CodecError
from ludus.wire.frame import FrameLimits, read_frame
from ludus.wire.message import (
    CloseRequest,
    DoneReply,
    Message,
    RenderRequest,
    ResetReply,
    ResetRequest,
    RestoreRequest,
    SnapshotReply,
    SnapshotRequest,
    StateRequest,
    StepReply,
    StepRequest,
    ValueReply,
)

__all__ = [
    "NETWORK_PROTOCOL",
    "Answered",
    "Asked",
    "CancelRequest",
    "ErrorReply",
    "ForkReply",
    "ForkRequest",
    "HelloRequest",
    "NetworkReply",
    "NetworkRequest",
    "PictureRequest",
    "VectorResetReply",
    "VectorResetRequest",
    "VectorStepReply",
    "VectorStepRequest",
    "WelcomeReply",
    "read_answered",
    "read_asked",
    "write_message",
]

NETWORK_PROTOCOL = 1

# --- requests ---


class HelloRequest(Message, tag=20):
    """Open a session, or go on with one: the first message of a connection."""

    protocol: int = NETWORK_PROTOCOL
    env: str = ""
    """The name of a served environment; none: the first one."""
    session: str = ""
    """The session to go on with; none: a new one."""
    lanes: int = 0
    """0: one environment; else a batch of so many."""
    autoreset_mode: str = "NextStep"
    arguments: dict[str, Any] = msgspec.field(default_factory=dict)
    """For the constructor, as `encode_value` writes them; the orchestrator's to give."""
    pictures: Literal["raw", "png"] = "raw"
    """How observations that are pictures travel, in a new session; of one that is there, it is known already."""
    compression: Literal["none", "zstd"] = "none"
    """How large frames travel, both ways, after this one."""
    client: str = ""
    """Who asks: text that it made up and keeps; by it a client whose connection was lost is known again."""
    takeover: bool = False
    """Whether to drive a session that another client is connected to, in its place."""


class CancelRequest(Message, tag=21):
    """Do not carry out request `number`, or end it where it is under way and that can be done."""

    number: int


class ForkRequest(Message, tag=22):
    """A new session that goes on from a snapshot of this one; number 0: from now."""

    number: int = 0


class VectorStepRequest(Message, tag=23):
    """Advance every lane of a batch: the actions as a value of the batch's action space."""

    actions: Any


class VectorResetRequest(Message, tag=24):
    """Begin episodes in a batch, as `VectorEnv.reset(seed=…, options=…)`."""

    seed: Any
    options: Any


class PictureRequest(Message, tag=25):
    """The current picture as the bytes of a PNG."""


# --- replies ---


class WelcomeReply(Message, tag=20):
    """The session. Spaces are those of one lane."""

    protocol: int
    session: str
    env: str
    lanes: int
    autoreset_mode: str
    observation_space: dict[str, Any]
    action_space: dict[str, Any]
    metadata: dict[str, Any]
    render_mode: str | None
    name: str
    """Of the innermost class, for messages."""
    spec: str
    """As JSON; empty where there is none."""
    last: int
    """The number of the last request that was begun; the next one is this plus 1."""
    role: str
    limits: dict[str, int]
    """What a frame may hold: size, depth, items."""
    compression: str
    pictures: str


class ErrorReply(Message, tag=21):
    """It could not be done."""

    kind: str
    message: str
    trace: str = ""
    infrastructure: bool = False
    """Whether the server failed and not the action: a trainer leaves such an episode out."""
    retry_after: float | None = None
    """Seconds after which the same request may go well."""


class ForkReply(Message, tag=22):
    """The new session."""

    session: str


class VectorStepReply(Message, tag=23):
    """What a step of every lane gave: float64 rewards, one byte for each flag, infos as `write_infos` writes them."""

    observations: Any
    rewards: bytes
    terminated: bytes
    truncated: bytes
    infos: dict[str, Any]


class VectorResetReply(Message, tag=24):
    """What a reset of a batch gave."""

    observations: Any
    infos: dict[str, Any]


NetworkRequest = (
    StepRequest
    | VectorStepRequest
    | ResetRequest
    | VectorResetRequest
    | RenderRequest
    | PictureRequest
    | StateRequest
    | SnapshotRequest
    | RestoreRequest
    | ForkRequest
    | CloseRequest
    | HelloRequest
    | CancelRequest
)
NetworkReply = (
    StepReply
    | VectorStepReply
    | ResetReply
    | VectorResetReply
    | ValueReply
    | SnapshotReply
    | DoneReply
    | WelcomeReply
    | ForkReply
    | ErrorReply
)

# --- around them ---


class Asked(msgspec.Struct, array_like=True, forbid_unknown_fields=True, gc=False):
    """A request under its number, with the seconds that it may take, if they are fewer than the server's."""

    number: int
    request: NetworkRequest
    seconds: float | None = None
    received: int = 0
    """The number up to which the client has all replies: the server need not keep them."""


class Answered(msgspec.Struct, array_like=True, forbid_unknown_fields=True, gc=False):
    """The reply to the request of that number."""

    number: int
    reply: NetworkReply


_ENCODER = msgspec.msgpack.Encoder()
_ASKED: msgspec.msgpack.Decoder[Asked] = msgspec.msgpack.Decoder(Asked)
_ANSWERED: msgspec.msgpack.Decoder[Answered] = msgspec.msgpack.Decoder(Answered)


def write_message(message: Asked | Answered) -> bytes:
    r"""A message as bytes, for a transport that keeps messages apart by itself.

    >>> write_message(Asked(1, StepRequest(0)))
    b'\x94\x01\x92\x01\x00\xc0\x00'
    """
    return _ENCODER.encode(message)


def read_asked(payload: bytes, limits: FrameLimits) -> Asked:
    r"""The request in a payload; CodecError, and nothing else, on any bytes.

    >>> read_asked(b'\x93\x01\x92\x01\x00\xc0', FrameLimits())
    Asked(number=1, request=StepRequest(action=0), seconds=None, received=0)
    """
    return _read(payload, _ASKED, limits)


def read_answered(payload: bytes, limits: FrameLimits) -> Answered:
    r"""The reply in a payload; CodecError, and nothing else, on any bytes.

    >>> read_answered(b'\x92\x01\x91\x05', FrameLimits())
    Answered(number=1, reply=DoneReply())
    """
    return _read(payload, _ANSWERED, limits)


def _read(payload: bytes, decoder: Any, limits: FrameLimits) -> Any:
    if len(payload) > limits.size:
        raise CodecError(f"message: expected at most {limits.size} bytes, got {len(payload)}")
    return read_frame(payload, decoder, limits)
