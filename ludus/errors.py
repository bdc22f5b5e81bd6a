"""Every exception Ludus raises on purpose; the tree is the contract, and each message says: expected, got, what to do.

```
LudusError
├── InvalidArgument        a constructor or call got a value it cannot use            (ValueError)
│   ├── InvalidSeed        a seed that cannot be honoured
│   ├── InvalidSpace       a space that cannot exist
│   └── InvalidMask        a sampling mask or probability that does not fit the space
├── InvalidType            a constructor or call got a value of the wrong type        (TypeError)
│   └── KernelError        rules that cannot be compiled
├── InvalidValue           a value that is not in its space                           (ValueError)
│   ├── InvalidAction
│   └── InvalidObservation
├── CodecError             bytes or JSON that do not describe a space or its value    (ValueError)
├── EnvError               an environment broke its contract, or was used against it
│   ├── ResetNeeded        step or render before reset, or step after the end
│   ├── ContractViolation  the environment returned something the contract forbids
│   ├── ClosedEnvironment  used after close
│   ├── RenderError        rendering that was not asked for, or cannot be had
│   ├── SnapshotError      state that cannot be copied, or does not fit
│   ├── MissingAttribute   an attribute that a remote environment or a compiled lane lacks (AttributeError)
│   ├── OutOfTurn          lanes asked again before they answered, or waited for without being asked
│   └── WorkerFailure      a lane raised in its worker process, or the worker died or hung
├── SandboxError           sandboxed code could not be started, or did not keep its channel
│   ├── SandboxUnavailable a backend that does not work here, with the reason
│   ├── LimitExceeded      sandboxed code hit a limit and was stopped
│   └── ChannelError       bytes from sandboxed code that are no message
├── ServiceError           a server could not do what it was asked
│   ├── SessionLost        the session is not there, or not any more
│   │   └── SessionTaken   another client drives it now
│   ├── SessionBusy        another client is connected to the session, and drives it
│   ├── ConnectionLost     the server cannot be reached, or is not one
│   ├── AccessDenied       the caller may not do this
│   └── ServerBusy         all places are taken; asks to come again later
├── TrajectoryError        a recorded run that cannot be written, read or replayed       (ValueError)
├── EvaluationError        an evaluation that says nothing of the agent
└── RegistryError
    ├── MalformedId        not `[namespace/]Name[-vN]`                                (ValueError)
    ├── RegistrationError  an id that cannot be registered
    │   └── DuplicateId    two packages claim one id
    ├── UnknownEnvironment                                                            (LookupError)
    │   ├── NamespaceNotFound
    │   ├── NameNotFound
    │   └── VersionNotFound
    ├── EntryPointError    an environment's or plugin's code cannot be loaded
    │   └── MissingExtra   an optional package is not installed                       (ImportError)
    ├── IsolationNeeded    isolation that an environment asks for cannot be given
    └── InvalidSpec        a spec that cannot be built, written or read               (ValueError)
```
"""

from collections.abc import Iterable, Mapping
from typing import TypeGuard

__all__ = [
    "AccessDenied",
    "ChannelError",
    "ClosedEnvironment",
    "CodecError",
    "ConnectionLost",
    "ContractViolation",
    "DuplicateId",
    "EntryPointError",
    "EnvError",
    "EvaluationError",
    "InvalidAction",
    "InvalidArgument",
    "InvalidMask",
    "InvalidObservation",
    "InvalidSeed",
    "InvalidSpace",
    "InvalidSpec",
    "InvalidType",
    "InvalidValue",
    "IsolationNeeded",
    "KernelError",
    "LimitExceeded",
    "LudusError",
    "MalformedId",
    "MissingAttribute",
    "MissingExtra",
    "NameNotFound",
    "NamespaceNotFound",
    "OutOfTurn",
    "RegistrationError",
    "RegistryError",
    "RenderError",
    "ResetNeeded",
    "SandboxError",
    "SandboxUnavailable",
    "ServerBusy",
    "ServiceError",
    "SessionBusy",
    "SessionLost",
    "SessionTaken",
    "SnapshotError",
    "TrajectoryError",
    "UnknownEnvironment",
    "VersionNotFound",
    "WorkerFailure",
    "closest",
    "did_you_mean",
    "listing",
    "shorten",
]


class LudusError(Exception):
    """The base of every error that Ludus raises on purpose."""


class InvalidArgument(LudusError, ValueError):
    """A constructor or call got a value it cannot use."""


class InvalidSeed(InvalidArgument):
    """A seed that cannot be honoured; it is never ignored."""


class InvalidSpace(InvalidArgument):
    """The arguments describe a space that cannot exist."""


class InvalidMask(InvalidArgument):
    """A sampling mask or probability that does not fit the space."""


class InvalidType(LudusError, TypeError):
    """A constructor or call got a value of the wrong type."""


class KernelError(InvalidType):
    """Rules that cannot be compiled; the message names the line and what to change."""


class InvalidValue(LudusError, ValueError):
    """A value that is not in its space; the message lists each violation with its path."""


class InvalidAction(InvalidValue):
    """An action that is not in the action space."""


class InvalidObservation(InvalidValue):
    """An observation that is not in the observation space."""


class CodecError(LudusError, ValueError):
    """Bytes or JSON that do not describe a space, or a value of it."""


class EnvError(LudusError):
    """An environment broke its contract, or was used against it."""


class ResetNeeded(EnvError):
    """`step` or `render` before `reset`, or `step` after the episode ended."""


class ContractViolation(EnvError):
    """The environment returned something the `Env` contract forbids."""


class ClosedEnvironment(EnvError):
    """The environment was used after `close`."""


class RenderError(EnvError):
    """A rendering that was not asked for, or that cannot be had here."""


class SnapshotError(EnvError):
    """State that cannot be copied, or a snapshot that does not fit the environment."""


class MissingAttribute(EnvError, AttributeError):
    """An environment somewhere else, or a compiled lane, has no such attribute, as `getattr` and `hasattr` know it."""


class SandboxError(LudusError):
    """Sandboxed code could not be started, or did not keep to its channel."""


class SandboxUnavailable(SandboxError):
    """The backend asked for does not work on this machine; no weaker one is taken in its place."""


class LimitExceeded(SandboxError):
    """Sandboxed code hit a limit and was stopped."""


class ChannelError(SandboxError):
    """Bytes from sandboxed code that are no message, or one beyond the limits."""


class OutOfTurn(EnvError):
    """Lanes were asked again before they had answered, or waited for without having been asked."""


class WorkerFailure(EnvError):
    """A lane raised in its worker process, or the worker died, hung, or could not begin."""

    def __init__(
        self,
        message: str,
        *,
        lanes: tuple[int, ...] = (),
        action: object = None,
        worker_traceback: str = "",
        lost: bool = False,
    ) -> None:
        super().__init__(message)
        self.lanes = lanes
        """The lanes that failed."""
        self.action = action
        """The last action of the first of them."""
        self.worker_traceback = worker_traceback
        """Where the worker was, as its own interpreter tells it; empty if it could not."""
        self.lost = lost
        """Whether the process itself is gone, and not only what one lane raised in it."""


class ServiceError(LudusError):
    """A server could not do what it was asked."""


class SessionLost(ServiceError):
    """The session is not there: it was never opened, was closed, or ended with its process."""


class SessionTaken(SessionLost):
    """The session goes on without this client: another one has taken it over."""


class SessionBusy(ServiceError):
    """Another client is connected to the session; `takeover` is how to drive it in its place."""


class ConnectionLost(ServiceError):
    """The server cannot be reached, or is not one."""


class AccessDenied(ServiceError):
    """The caller may not do this."""


class ServerBusy(ServiceError):
    """All places are taken; `retry_after` says in how many seconds to ask again."""

    def __init__(self, message: str, retry_after: float = 1.0) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class TrajectoryError(LudusError, ValueError):
    """A recorded run that cannot be written, read or replayed; of a file, the message names the place in it."""


class EvaluationError(LudusError):
    """An evaluation that says nothing of the agent: too much of it failed."""


class RegistryError(LudusError):
    """Something is wrong with a name, a registration or a spec."""


class MalformedId(RegistryError, ValueError):
    """The id does not read `[namespace/]Name[-vN]`."""


class RegistrationError(RegistryError):
    """The id cannot be registered."""


class DuplicateId(RegistrationError):
    """Two packages claim one id; neither is chosen."""


class UnknownEnvironment(RegistryError, LookupError):
    """No environment has this id; the message names the closest one."""


class NamespaceNotFound(UnknownEnvironment):
    """No environment is registered in this namespace."""


class NameNotFound(UnknownEnvironment):
    """The namespace exists, the name in it does not."""


class VersionNotFound(UnknownEnvironment):
    """The environment exists, but not in this version."""


class EntryPointError(RegistryError):
    """The code behind an id or a plugin could not be loaded."""


class MissingExtra(EntryPointError, ImportError):
    """An optional package is missing; the message names the extra to install."""


class IsolationNeeded(RegistryError):
    """The environment asks for isolation that cannot be given here; running it without one takes an explicit word."""


class InvalidSpec(RegistryError, ValueError):
    """A spec that cannot be built, written to JSON or read from it."""


def shorten(value: object, limit: int = 80) -> str:
    """The `repr` of a value on one line, cut to `limit` characters, for use in a message.

    >>> shorten([10**5000])
    'a list'
    """
    try:
        text = " ".join(repr(value).split())
    except Exception:  # an integer of thousands of digits, or a class whose repr is wrong: there still is a message
        text = f"a {type(value).__name__}"
    return text if len(text) <= limit else text[: limit - 1] + "…"


def listing(names: Iterable[object], limit: int = 20) -> str:
    """Names joined by commas, cut to the first `limit`, for use in a message."""
    shown = [str(name) for name in names]
    more = len(shown) - limit
    return ", ".join(shown[:limit]) + (f" and {more} more" if more > 0 else "")


SIMILARITY = 0.6
"""From which on a name is alike enough to be suggested, in the measure of `difflib`."""


def closest(word: str, known: Iterable[str] | Mapping[str, str]) -> str | None:
    """The known name most like `word`, whatever their case; of a mapping, what that name stands for."""
    from difflib import get_close_matches

    meant = dict(known) if _is_mapping(known) else {one: one for one in known}
    folded: dict[str, str] = {}
    for spelling, name in meant.items():
        folded.setdefault(spelling.casefold(), name)
    found = get_close_matches(word.casefold(), folded, n=1, cutoff=SIMILARITY)
    return folded[found[0]] if found else None


def _is_mapping(known: Iterable[str] | Mapping[str, str]) -> TypeGuard[Mapping[str, str]]:
    return isinstance(known, Mapping)


def did_you_mean(word: str, known: Iterable[str] | Mapping[str, str]) -> str:
    """`; did you mean 'GridWorld-v0'?`, or nothing."""
    found = closest(word, known)
    return "" if found is None else f"; did you mean {found!r}?"
