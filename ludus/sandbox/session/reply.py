"""What an agent may answer. It runs beside hostile code: every field is checked, and every length."""

from typing import Annotated, Literal

import msgspec

__all__ = [
    "Alive",
    "AgentReply",
    "Done",
    "Entries",
    "FolderEntry",
    "Failed",
    "Jobs",
    "Lost",
    "Ok",
    "Output",
    "Ready",
    "Reply",
    "Row",
]

Count = Annotated[int, msgspec.Meta(ge=0, le=1 << 62)]
Code = Annotated[int, msgspec.Meta(ge=0, le=255)]
Seconds = Annotated[float, msgspec.Meta(ge=0, le=1e12)]
Path = Annotated[str, msgspec.Meta(max_length=65536)]


class Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The state of a job."""

    job: Count
    running: bool
    code: Code | None
    signal: Annotated[int, msgspec.Meta(ge=1, le=127)] | None
    timed_out: bool
    seconds: Seconds
    stdout: Count
    stderr: Count


class FolderEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One name in a folder."""

    name: Annotated[str, msgspec.Meta(min_length=1, max_length=4096)]
    kind: Literal["file", "folder", "link", "other"]
    size: Count
    mode: Annotated[int, msgspec.Meta(ge=0, le=0o7777)]
    time: float


class AgentReply(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", kw_only=True):
    """Which call it answers."""

    call: int


class Ready(AgentReply, frozen=True, tag="ready"):
    """The agent is there."""

    shell: Literal["bash", "sh"]
    folder: Path
    places: dict[Literal["HOME", "TMPDIR"], Path]


class Alive(AgentReply, frozen=True, tag="alive"):
    """It goes on."""


class Ok(AgentReply, frozen=True, tag="ok"):
    """It is done."""


class Output(AgentReply, frozen=True, tag="output"):
    """The bytes of this frame are of that stream: of its kept beginning, or of its end."""

    stream: Annotated[int, msgspec.Meta(ge=1, le=2)]
    end: bool


class Failed(AgentReply, frozen=True, tag="failed"):
    """The system refused."""

    number: Annotated[int, msgspec.Meta(ge=0, le=4095)]
    reason: Annotated[str, msgspec.Meta(max_length=4096)]


class Lost(AgentReply, frozen=True, tag="lost"):
    """The agent gives up."""

    reason: Annotated[str, msgspec.Meta(max_length=4096)]


class Jobs(AgentReply, frozen=True, tag="jobs"):
    """The state of jobs."""

    jobs: Annotated[list[Row], msgspec.Meta(max_length=1024)]


class Entries(AgentReply, frozen=True, tag="entries"):
    """What is in a folder."""

    entries: Annotated[list[FolderEntry], msgspec.Meta(max_length=4096)]


class Done(AgentReply, frozen=True, tag="done"):
    """A command ended; the bytes of this frame are the state of its shell."""

    job: Count
    running: bool
    code: Code
    signal: Annotated[int, msgspec.Meta(ge=1, le=127)] | None
    timed_out: bool
    seconds: Seconds
    stdout: Count
    stderr: Count
    interrupted: bool
    killed: bool
    dropped: Annotated[list[Count], msgspec.Meta(min_length=2, max_length=2)]
    begun_in: Path
    folder: Path | None


Reply = Ready | Alive | Ok | Output | Failed | Lost | Jobs | Entries | Done
