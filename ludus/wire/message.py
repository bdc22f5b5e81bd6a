"""Messages: what is asked of an environment elsewhere, and what it answers. Each request gets one reply.

A message is a msgpack array: a number that says which, then its fields in order. Fields are typed: a decoder made from
`Request` or `Reply` refuses everything else by itself. `Any` is data that a `SpaceCodec` or `decode_value` reads.
"""

from typing import Any

import msgspec

__all__ = [
    "PROTOCOL",
    "BatchResetReply",
    "BatchResetRequest",
    "BatchStepReply",
    "BatchStepRequest",
    "CloseRequest",
    "DoneReply",
    "FailedReply",
    "GetRequest",
    "HasRequest",
    "MakeReply",
    "MakeRequest",
    "Message",
    "Plan",
    "RenderRequest",
    "Reply",
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
]

PROTOCOL = 1
Plan = tuple[int, Any, Any]
"""A lane, and the seed and options with which autoreset is to begin its next episode."""


class Message(msgspec.Struct, array_like=True, forbid_unknown_fields=True, gc=False):
    """What all messages share."""


# --- requests ---


class MakeRequest(Message, tag=0):
    """Make an environment, or a batch of `lanes`; once, and first."""

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


class StepRequest(Message, tag=1):
    """Advance by one action."""

    action: Any


class ResetRequest(Message, tag=2):
    """Begin an episode."""

    seed: Any
    options: Any


class RenderRequest(Message, tag=3):
    """The current picture."""


class GetRequest(Message, tag=4):
    """The value of an attribute, of the nearest layer that has it; of a batch, a list of one for each lane."""

    name: str


class HasRequest(Message, tag=5):
    """Whether there is such an attribute."""

    name: str


class SetRequest(Message, tag=6):
    """Set an attribute; of a batch, `value` holds one for each lane."""

    name: str
    value: Any
    force: bool


class SnapshotRequest(Message, tag=7):
    """Keep the state; forget the snapshots of these numbers."""

    dropped: list[int]


class RestoreRequest(Message, tag=8):
    """Go back to a snapshot."""

    number: int


class CloseRequest(Message, tag=9):
    """Close, and end."""


class BatchStepRequest(Message, tag=10):
    """Advance every lane; a list of one action for each, or (not `listed`) all of them as one array."""

    actions: Any
    listed: bool
    plans: list[Plan]


class BatchResetRequest(Message, tag=11):
    """Begin an episode in the lanes named; none named: in all, as autoreset does, by these plans."""

    lanes: list[int]
    seeds: list[Any]
    options: Any
    plans: list[Plan]


class StateRequest(Message, tag=12):
    """What the environment shows of its episode, its private fields too where `private`."""

    private: bool = False


# --- replies ---


class MakeReply(Message, tag=0):
    """What was made. Of a batch, the spaces are those of one lane."""

    protocol: int
    observation_space: dict[str, Any]
    action_space: dict[str, Any]
    metadata: dict[str, Any]
    render_mode: str | None
    name: str
    """Of the innermost class, for messages."""


class StepReply(Message, tag=1):
    """What a step gave."""

    observation: Any
    reward: int | float | dict[str, Any]
    """A number, or a NumPy scalar as `encode_value` writes it."""
    terminated: bool
    truncated: bool
    info: dict[str, Any]


class ResetReply(Message, tag=2):
    """What a reset gave."""

    observation: Any
    info: dict[str, Any]


class ValueReply(Message, tag=3):
    """A picture or an attribute."""

    value: Any


class SnapshotReply(Message, tag=4):
    """The number of a snapshot."""

    number: int


class DoneReply(Message, tag=5):
    """It is done, and there is nothing to tell."""


class FailedReply(Message, tag=6):
    """It raised."""

    kind: str
    message: str
    trace: str


Infos = list[tuple[int, dict[str, Any], list[Any]]]
"""A lane, what it adds to the infos, and the last observation of the episode that this is the info of, if it ended."""


class BatchStepReply(Message, tag=7):
    """What a step of every lane gave: observations as one value, float64 rewards and one byte for each flag."""

    observations: Any
    rewards: bytes
    terminated: bytes
    truncated: bytes
    infos: Infos


class BatchResetReply(Message, tag=8):
    """What a reset of lanes gave; observations of all of them."""

    observations: Any
    infos: Infos


Request = (
    StepRequest
    | BatchStepRequest
    | ResetRequest
    | BatchResetRequest
    | RenderRequest
    | GetRequest
    | HasRequest
    | SetRequest
    | SnapshotRequest
    | RestoreRequest
    | StateRequest
    | CloseRequest
    | MakeRequest
)
Reply = (
    StepReply
    | BatchStepReply
    | ResetReply
    | BatchResetReply
    | ValueReply
    | SnapshotReply
    | DoneReply
    | FailedReply
    | MakeReply
)
