"""Events: what happened around a step that is no number: messages, tool calls, usage, scores, failures.

An event is keyed by the row and lane of the step it belongs to, as the columns are. A kind that this version does not
know is read as `Unknown`, and written again as it was.
"""

from typing import Any, ClassVar

import msgspec

from ludus.errors import InvalidArgument, InvalidType, TrajectoryError, shorten
from ludus.spaces.plain import decode_value, encode_value

__all__ = [
    "EVENT_KINDS",
    "Event",
    "EventValue",
    "Failure",
    "FileDiff",
    "LimitReached",
    "Message",
    "ModelUsage",
    "Note",
    "Reasoning",
    "ResourceUse",
    "Score",
    "StoredEvent",
    "ToolCall",
    "ToolResult",
    "Unknown",
    "stored",
    "value_of",
]


Data = dict[str, Any]
"""An object as JSON and msgpack have it."""


class EventValue(msgspec.Struct, kw_only=False):
    """The base of what events say; a subclass names its kind.

    >>> EventValue.kind
    ''
    """

    kind: ClassVar[str] = ""

    def data(self) -> Data:
        """The fields as plain data; raises CodecError for what is none."""
        return {name: encode_value(getattr(self, name), f"{self.kind}.{name}") for name in self.__struct_fields__}


class Message(EventValue):
    """What a party said.

    >>> Message("user", "Open the box.").kind
    'message'
    """

    kind: ClassVar[str] = "message"
    role: str
    content: Any
    """Text, or parts as chat formats have them."""
    name: str = ""


class ToolCall(EventValue):
    """A tool that the agent called.

    >>> ToolCall("c1", "open", {"box": 3}).arguments
    {'box': 3}
    """

    kind: ClassVar[str] = "tool_call"
    id: str
    name: str
    arguments: Any = None


class ToolResult(EventValue):
    """What a call gave back.

    >>> ToolResult("c1", "empty").error
    ''
    """

    kind: ClassVar[str] = "tool_result"
    id: str
    content: Any = None
    error: str = ""


class Reasoning(EventValue):
    """What the agent thought.

    >>> Reasoning("It must be in the box.").text
    'It must be in the box.'
    """

    kind: ClassVar[str] = "reasoning"
    text: str


class ModelUsage(EventValue):
    """What one call of a model used; `tokens` names a blob with its token ids, so that nobody has to guess them.

    >>> ModelUsage("m", 900, 12).completion_tokens
    12
    """

    kind: ClassVar[str] = "model_usage"
    model: str
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    cost_usd: float | None = None
    seconds: float | None = None
    tokens: str = ""


class Score(EventValue):
    """A number that somebody gave the step, beside the reward.

    >>> Score("tests_passed", 0.5).value
    0.5
    """

    kind: ClassVar[str] = "score"
    name: str
    value: float
    explanation: str = ""


class LimitReached(EventValue):
    """A limit that was met.

    >>> LimitReached("tokens", 1000).limit
    1000
    """

    kind: ClassVar[str] = "limit"
    name: str
    limit: float | int
    used: float | int | None = None


class FileDiff(EventValue):
    """How a file changed; long diffs are a blob.

    >>> FileDiff("main.py", "+pass").path
    'main.py'
    """

    kind: ClassVar[str] = "file_diff"
    path: str
    diff: str = ""
    blob: str = ""


class ResourceUse(EventValue):
    """What the step took.

    >>> ResourceUse(cpu_seconds=0.5).cpu_seconds
    0.5
    """

    kind: ClassVar[str] = "resource"
    cpu_seconds: float | None = None
    memory_bytes: int | None = None
    disk_bytes: int | None = None
    network_bytes: int | None = None


class Failure(EventValue):
    """What broke.

    >>> Failure("TimeoutError", "no answer").type
    'TimeoutError'
    """

    kind: ClassVar[str] = "failure"
    type: str
    message: str = ""
    traceback: str = ""


class Note(EventValue):
    """Anything else.

    >>> Note("begin of phase 2").text
    'begin of phase 2'
    """

    kind: ClassVar[str] = "note"
    text: str
    value: Any = None


class Unknown(EventValue):
    """An event of a kind that this version does not know, kept as it is.

    >>> Unknown("thermal", {"celsius": 61}).data()
    {'celsius': 61}
    """

    name: str
    fields: Data

    def data(self) -> Data:
        """The fields as they were."""
        return self.fields


KINDS = (
    Message, ToolCall, ToolResult, Reasoning, ModelUsage, Score, LimitReached, FileDiff, ResourceUse, Failure, Note,
)  # fmt: skip
EVENT_KINDS: dict[str, type[EventValue]] = {one.kind: one for one in KINDS}
"""The kinds by their names in files."""


class StoredEvent(msgspec.Struct, array_like=True):
    """An event as a file has it: row, lane, seconds since the run began, kind and fields."""

    row: int
    lane: int
    seconds: float
    kind: str
    data: Data


class Event(msgspec.Struct, frozen=True):
    """An event as it is read: where and when it happened, and what.

    >>> Event(0, 3, 1.5, Note("here")).kind
    'note'
    """

    episode: int | None
    """The number of the episode in its run; None outside of any."""
    step: int
    """After how many steps of the episode."""
    seconds: float
    """Since the run began."""
    value: EventValue

    @property
    def kind(self) -> str:
        """The name of what it is."""
        return self.value.name if isinstance(self.value, Unknown) else self.value.kind


def stored(value: object, row: int, lane: int, seconds: float) -> StoredEvent:
    """An event as it is written; raises InvalidType for what is none."""
    if not isinstance(value, EventValue) or not (value.kind or isinstance(value, Unknown)):
        raise InvalidType(
            f"event: expected a Message, ToolCall, Note or another of {', '.join(EVENT_KINDS)}, got {shorten(value)}"
        )
    name = value.name if isinstance(value, Unknown) else value.kind
    if isinstance(value, Unknown) and name in EVENT_KINDS:
        raise InvalidArgument(f"event: expected a kind of its own, got {name!r}; use {EVENT_KINDS[name].__name__}")
    return StoredEvent(row, lane, seconds, name, value.data())


def value_of(kind: str, data: dict[str, object]) -> EventValue:
    """What a stored event says; raises TrajectoryError where its fields are not those of its kind."""
    known = EVENT_KINDS.get(kind)
    if known is None:
        return Unknown(kind, data)
    try:
        fields = {str(name): decode_value(one, f"{kind}.{name}") for name, one in data.items()}
        return msgspec.convert(fields, known)
    except (msgspec.ValidationError, ValueError, TypeError) as error:
        raise TrajectoryError(
            f"event {kind!r}: expected the fields of {known.__name__}, got {shorten(data)}: {error}"
        ) from error
