"""Messages: what is asked of an environment that is somewhere else, and what it answers. Each request gets one reply.

A message is a msgpack array: a number that says which, then its fields in order. Fields are typed: a decoder made from
`Request` or `Reply` refuses everything else by itself. `Any` is data that a `SpaceCodec` or `decode_value` reads.

Between a client and a server `NumberedRequest` and `NumberedReply` go around every message. Number 0 is out of order:
`HelloRequest` and `CancelRequest`; all other requests of a session are numbered from 1 on, and each is carried out
once, whatever connections come and go. Over the socket of a sandboxed process, which has one of each at a time,
messages travel bare.
"""

from typing import Any, Literal

import msgspec

from ludus.errors import CodecError
from ludus.wire.frame import FrameLimits, read_frame

__all__ = [
    "METHOD",
    "PROTOCOL",
    "NumberedReply",
    "NumberedRequest",
    "AutoresetRequest",
    "BatchReply",
    "BatchResetRequest",
    "BatchStepReply",
    "BatchStepRequest",
    "CallRequest",
    "CancelRequest",
    "CloseRequest",
    "DoneReply",
    "ExportRequest",
    "FailedReply",
    "ForkReply",
    "ForkRequest",
    "GetRequest",
    "HasRequest",
    "HeardRequest",
    "HelloRequest",
    "HostReply",
    "HostRequest",
    "ImportRequest",
    "MakeReply",
    "MakeRequest",
    "WireMessage",
    "NetworkReply",
    "NetworkRequest",
    "Plan",
    "ProgressReply",
    "RenderRequest",
    "Reply",
    "ReportedStepRequest",
    "Request",
    "ResetReply",
    "ResetRequest",
    "RestoreRequest",
    "SetRequest",
    "SnapshotReply",
    "SnapshotRequest",
    "StateRequest",
    "StepReply",
    "StepRequest",
    "ValueReply",
    "WelcomeReply",
    "read_answered",
    "read_asked",
    "write_message",
]

PROTOCOL = 2
Plan = tuple[int, Any, Any]
"""A lane, and the seed and options with which autoreset is to begin its next episode."""


METHOD = {"$method": True}
"""The value of an attribute that is a method: no value that travels has such a key."""


class WireMessage(msgspec.Struct, array_like=True, forbid_unknown_fields=True, gc=False):
    """What all messages share."""


# --- requests ---


class MakeRequest(WireMessage, tag=0):
    """Make an environment, or a batch of `lanes`, in a sandboxed process; once, and first."""

    protocol: int
    target: str
    """An id or `module:Class`; or a spec as JSON, where `is_spec`."""
    is_spec: bool
    arguments: Any
    modules: list[str]
    """What to import before, so that it can register its environments."""
    lanes: int = 0
    """0: one environment."""
    autoreset_mode: str = "NextStep"
    planned: bool = False
    """Whether requests will say how autoreset begins episodes."""


class StepRequest(WireMessage, tag=1):
    """Advance by one action."""

    action: Any


class ResetRequest(WireMessage, tag=2):
    """Begin an episode."""

    seed: Any
    options: Any


class RenderRequest(WireMessage, tag=3):
    """The current picture; of a batch, a list of one for each lane."""


class GetRequest(WireMessage, tag=4):
    """The value of an attribute, of the nearest layer that has it; of a batch, a list of one for each lane."""

    name: str


class HasRequest(WireMessage, tag=5):
    """Whether there is such an attribute."""

    name: str


class SetRequest(WireMessage, tag=6):
    """Set an attribute; of a batch, `value` holds one for each lane."""

    name: str
    value: Any
    force: bool


class SnapshotRequest(WireMessage, tag=7):
    """Keep the state; forget the snapshots of these numbers."""

    dropped: list[int]


class RestoreRequest(WireMessage, tag=8):
    """Go back to a snapshot."""

    number: int


class CloseRequest(WireMessage, tag=9):
    """Close, and end."""


class BatchStepRequest(WireMessage, tag=10):
    """Advance every lane, or those of `mask`: the actions as a value of the batch's action space."""

    actions: Any
    plans: list[Plan] = []
    mask: bytes = b""
    """One byte for each lane; empty: all of them."""


class BatchResetRequest(WireMessage, tag=11):
    """Begin episodes in a batch, as `VectorEnv.reset(seed=…, options=…)` does."""

    seed: Any
    options: Any
    plans: list[Plan] = []


class StateRequest(WireMessage, tag=12):
    """What the environment shows of its episode, its private fields too where `private`."""

    private: bool = False


class AutoresetRequest(WireMessage, tag=13):
    """Begin the next episode in the lanes of `mask`, as autoreset begins it."""

    mask: bytes
    plans: list[Plan] = []


class CallRequest(WireMessage, tag=14):
    """Call a method with data, or get an attribute; of a batch, of each lane, and the answer is a list of one each."""

    name: str
    args: list[Any] = []
    kwargs: dict[str, Any] = {}


class ExportRequest(WireMessage, tag=15):
    """A snapshot (0: of now) as bytes for another process that is sandboxed as this one is; of these lanes, if any."""

    number: int = 0
    lanes: list[int] | None = None


class ImportRequest(WireMessage, tag=16):
    """Go on from what other processes exported. Only a sandboxed process takes it: such bytes are code."""

    states: list[bytes]
    """One, or one for each lane."""


class ReportedStepRequest(WireMessage, tag=17):
    """Advance by one action, and say how far it is: each `ProgressReply` before the last reply is answered."""

    action: Any


class HeardRequest(WireMessage, tag=18):
    """A report was heard; a call that was cancelled is to end."""

    cancelled: bool


class HelloRequest(WireMessage, tag=20):
    """Open a session, or go on with one: the first message of a connection."""

    protocol: int = PROTOCOL
    env: str = ""
    """The name of a served environment; none: the first one."""
    session: str = ""
    """The session to go on with; none: a new one."""
    lanes: int = 0
    """0: one environment; else a batch of so many."""
    autoreset_mode: str = "NextStep"
    arguments: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])
    """For the constructor, as `encode_value` writes them; the orchestrator's to give."""
    compression: Literal["none", "zstd"] = "none"
    """How large frames travel, both ways, after this one."""
    client: str = ""
    """Who says hello: the same one may always come again, another one only by `takeover`."""
    takeover: bool = False
    """Whether to drive a session that another client drives."""
    planned: bool = False
    """Whether requests will say how autoreset begins episodes of a batch."""


class CancelRequest(WireMessage, tag=21):
    """Do not carry out request `number`, or end it where it is under way and that can be done."""

    number: int


class ForkRequest(WireMessage, tag=22):
    """A new session that goes on from a snapshot of this one (0: from now); of a batch, with these lanes."""

    number: int = 0
    lanes: list[int] | None = None


# --- replies ---


class MakeReply(WireMessage, tag=0):
    """What was made. Of a batch, the spaces are those of one lane."""

    protocol: int
    observation_space: dict[str, Any]
    action_space: dict[str, Any]
    metadata: dict[str, Any]
    render_mode: str | None
    name: str
    """Of the innermost class, for messages."""


class StepReply(WireMessage, tag=1):
    """What a step gave."""

    observation: Any
    reward: int | float | dict[str, Any]
    """A number, or a NumPy scalar as `encode_value` writes it."""
    terminated: bool
    truncated: bool
    info: dict[str, Any]


class ResetReply(WireMessage, tag=2):
    """What a reset gave."""

    observation: Any
    info: dict[str, Any]


class ValueReply(WireMessage, tag=3):
    """A picture, an attribute, or what a method returned."""

    value: Any


class SnapshotReply(WireMessage, tag=4):
    """The number of a snapshot."""

    number: int


class DoneReply(WireMessage, tag=5):
    """It is done, and there is nothing to tell."""


class FailedReply(WireMessage, tag=6):
    """It could not be done."""

    kind: str
    message: str
    trace: str = ""
    infrastructure: bool = False
    """Whether the server or the environment's code failed, not the action: a trainer leaves such an episode out."""
    retry_after: float | None = None
    """Seconds after which the same request may go well."""


class BatchStepReply(WireMessage, tag=7):
    """What a step of a batch gave: float64 rewards, one byte for each flag, infos as `write_infos` writes them."""

    observations: Any
    rewards: bytes
    terminated: bytes
    truncated: bytes
    infos: dict[str, Any]


class BatchReply(WireMessage, tag=8):
    """What a reset of a batch gave; observations of all lanes."""

    observations: Any
    infos: dict[str, Any]


class ProgressReply(WireMessage, tag=9):
    """How far a reported step is; `HeardRequest` is waited for."""

    done: float
    total: float | None
    message: str


class WelcomeReply(WireMessage, tag=20):
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


class ForkReply(WireMessage, tag=22):
    """The new session."""

    session: str


HostRequest = (
    StepRequest
    | BatchStepRequest
    | ResetRequest
    | BatchResetRequest
    | AutoresetRequest
    | RenderRequest
    | GetRequest
    | HasRequest
    | SetRequest
    | CallRequest
    | SnapshotRequest
    | RestoreRequest
    | StateRequest
    | CloseRequest
)
"""What an environment is asked, wherever it is."""
Request = HostRequest | ExportRequest | ImportRequest | MakeRequest | ReportedStepRequest | HeardRequest
"""What a sandboxed process is asked."""
NetworkRequest = HostRequest | ForkRequest | HelloRequest | CancelRequest
"""What a server is asked."""
HostReply = StepReply | BatchStepReply | ResetReply | BatchReply | ValueReply | SnapshotReply | DoneReply | FailedReply
"""What an environment answers, wherever it is."""
Reply = HostReply | MakeReply | ProgressReply
NetworkReply = HostReply | WelcomeReply | ForkReply

# --- around them ---


class NumberedRequest(msgspec.Struct, array_like=True, forbid_unknown_fields=True, gc=False):
    """A request under its number, with the seconds that it may take, if they are fewer than the server's."""

    number: int
    request: NetworkRequest
    seconds: float | None = None
    received: int = 0
    """The number up to which the client has all replies: the server need not keep them."""


class NumberedReply(msgspec.Struct, array_like=True, forbid_unknown_fields=True, gc=False):
    """The reply to the request of that number."""

    number: int
    reply: NetworkReply


_ENCODER = msgspec.msgpack.Encoder()
_ASKED: msgspec.msgpack.Decoder[NumberedRequest] = msgspec.msgpack.Decoder(NumberedRequest)
_ANSWERED: msgspec.msgpack.Decoder[NumberedReply] = msgspec.msgpack.Decoder(NumberedReply)


write_message = _ENCODER.encode
"""A message as bytes, for a transport that keeps messages apart by itself. The encoder's own: every step is one."""


def read_asked(payload: bytes, limits: FrameLimits) -> NumberedRequest:
    r"""The request in a payload; CodecError, and nothing else, on any bytes.

    >>> read_asked(write_message(NumberedRequest(1, StepRequest(0))), FrameLimits())
    NumberedRequest(number=1, request=StepRequest(action=0), seconds=None, received=0)
    """
    if len(payload) > limits.size:
        raise _too_large(payload, limits)
    return read_frame(payload, _ASKED, limits)


def read_answered(payload: bytes, limits: FrameLimits) -> NumberedReply:
    r"""The reply in a payload; CodecError, and nothing else, on any bytes.

    >>> read_answered(b'\x92\x01\x91\x05', FrameLimits())
    NumberedReply(number=1, reply=DoneReply())
    """
    if len(payload) > limits.size:
        raise _too_large(payload, limits)
    return read_frame(payload, _ANSWERED, limits)


def _too_large(payload: bytes, limits: FrameLimits) -> CodecError:
    return CodecError(f"message: expected at most {limits.size} bytes, got {len(payload)}")
