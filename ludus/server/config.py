"""`ServerConfig`: all settings of a server, in one value: its limits, who may use it, where it is reached.

The defaults are those of a server on the caller's own machine. What it serves is not here.
"""

from typing import Literal, get_args

import msgspec

from ludus.errors import InvalidArgument, listing, shorten
from ludus.sandbox.deadlines import STEP_DEADLINE_S
from ludus.server.access import Access
from ludus.server.listen_config import ListenConfig
from ludus.trajectory.header import LEVELS, Level
from ludus.wire import FrameLimits

__all__ = ["ServerConfig"]

Mode = Literal["simulation", "production"]
MODES: tuple[Mode, ...] = get_args(Mode)
POSITIVE = (
    *("max_sessions", "sessions_per_token", "max_lanes", "max_snapshots", "queue_seconds", "idle_seconds"),
    *("resume_seconds", "deadline", "rate", "body", "workers", "record_bytes", "record_files"),
)
TIMERS = ("queue_seconds", "deadline")
MAX_TIMER_S = 1e7
"""Seconds that a timer of an event loop is good for."""


class ServerConfig(msgspec.Struct, frozen=True, kw_only=True):
    """Limits are on everything.

    >>> ServerConfig().max_sessions
    4096
    """

    max_sessions: int = 4096
    """Sessions at one time, lanes of batches not counted; more have to wait."""
    sessions_per_token: int = 1024
    max_lanes: int = 65_536
    max_snapshots: int = 64
    """Of one session."""
    queue_seconds: float = 30.0
    """How long a caller waits for a place, before it is asked to come again."""
    idle_seconds: float = 900.0
    """A session that nobody used for so long is closed."""
    resume_seconds: float = 600.0
    """A session whose connection was lost is kept for so long."""
    deadline: float = STEP_DEADLINE_S
    """Seconds for a step; five times as many for a reset or the making of an environment."""
    rate: float = 20_000.0
    """Messages in a second, of one connection or one address."""
    body: int = 64 << 20
    """Bytes of a message or of a request's body."""
    limits: FrameLimits = msgspec.field(default_factory=FrameLimits)
    isolation: str | None = None
    """The isolation of every session; None: what trust asks for."""
    install: bool = False
    """Whether what a folder made for OpenEnv requires is installed for it alone, in the user's cache."""
    variables: dict[str, str] = {}
    """Of the process of an isolated session: those of the server stay with it."""
    workers: int = 1
    mode: Mode = "simulation"
    """Of OpenEnv's protocol: in `production` it has no `/reset`, `/step`, `/state` and `/close`."""
    record: str | None = None
    """A folder for a file of each session, as `ludus.trajectory` has it; None: nothing is recorded."""
    record_level: Level = "seeds"
    record_bytes: int = 1 << 28
    """At which the recording of a session stops; the session goes on."""
    record_files: int = 10_000
    """Files in the folder, with which no more sessions are opened."""
    access: Access = msgspec.field(default_factory=Access)
    """Whose token stands for which role."""
    listen: ListenConfig = msgspec.field(default_factory=ListenConfig)
    """Where it is reached, and by which names."""

    def __post_init__(self) -> None:
        for name in POSITIVE:
            value: object = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
                raise InvalidArgument(f"config {name}: expected a number above 0, got {shorten(value)}")
        if self.record_level not in LEVELS:
            raise InvalidArgument(
                f"config record_level: expected one of {listing(LEVELS)}, got {shorten(self.record_level)}"
            )
        if self.mode not in MODES:
            raise InvalidArgument(f"config mode: expected one of {listing(MODES)}, got {shorten(self.mode)}")
        for name in TIMERS:
            if not getattr(self, name) <= MAX_TIMER_S:
                raise InvalidArgument(
                    f"config {name}: expected at most {MAX_TIMER_S:g} seconds, got {getattr(self, name)}"
                )
