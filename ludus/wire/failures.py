"""Failures: what was raised on one side, as data, and as an error of the other side's own classes.

One codec for every boundary: a sandboxed process, a server and its clients, the workers of a batch.
"""

import traceback

from ludus import errors
from ludus.errors import (
    ClosedEnvironment,
    ContractViolation,
    EnvError,
    LudusError,
    SandboxError,
    ServerBusy,
    SessionLost,
    WorkerFailure,
)
from ludus.wire.messages import FailedReply

__all__ = [
    "MAX_MESSAGE_CHARS",
    "clean",
    "is_infrastructure",
    "message_of",
    "read_failure",
    "retry_delay",
    "write_failure",
]

MAX_MESSAGE_CHARS = 1 << 12
MAX_TRACE_CHARS = 1 << 14
SHORTEST_WAIT_S, LONGEST_WAIT_S = 0.01, 60.0
"""What a server may ask a client to wait for it."""
KNOWN: dict[str, type[LudusError]] = {
    name: kind for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, LudusError)
}
"""What may be raised here for what was raised there, by name."""


def is_infrastructure(error: BaseException) -> bool:
    """Whether a process or the server failed, or the environment's own code, and not what the caller asked for.

    >>> is_infrastructure(ZeroDivisionError()), is_infrastructure(errors.InvalidValue("no"))
    (True, False)
    """
    if not isinstance(error, LudusError) or type(error) is EnvError:  # what sandboxed code raised comes as EnvError
        return True
    return isinstance(error, SandboxError | WorkerFailure | SessionLost | ContractViolation | ClosedEnvironment)


def write_failure(error: BaseException, *, trace: bool = True) -> FailedReply:
    """An exception as a message: its nearest class that the other side knows, its text, and where code failed a trace.

    >>> write_failure(ServerBusy("all places are taken", 2.0)).retry_after
    2.0
    """
    kind = next((one.__name__ for one in type(error).__mro__ if KNOWN.get(one.__name__) is one), type(error).__name__)
    ours = is_infrastructure(error)
    text = ""
    if trace:  # a traceback takes longer to write than all the rest
        text = _encodable("".join(traceback.format_exception(error)))[-MAX_TRACE_CHARS:]
    after = error.retry_after if isinstance(error, ServerBusy) else None
    return FailedReply(clean(kind, 100), message_of(error), text, ours, after)


def message_of(error: BaseException) -> str:
    """The text of an exception, as far as it can be had and sent."""
    try:
        return _encodable(str(error))[:MAX_MESSAGE_CHARS]
    except Exception:  # an exception that cannot be shown is still one
        return "(its text could not be had)"


def read_failure(reply: FailedReply, what: str, where: str, *, sandboxed: bool = False) -> LudusError:
    """The error to raise for a reply: of the class that it names, where that is one of ours, else an EnvError.

    `error.infrastructure` says whether the other side failed and not the action: a trainer leaves such an episode out.
    What is said of a sandbox itself only this side says: a `sandboxed` process that claims it has raised an EnvError.

    >>> read_failure(FailedReply("InvalidAction", "action: expected Discrete(2), got 7"), "CartPole", "at the server")
    InvalidAction('action: expected Discrete(2), got 7')
    """
    message, known = clean(reply.message, MAX_MESSAGE_CHARS), KNOWN.get(reply.kind)
    if sandboxed and known is not None and issubclass(known, SandboxError):
        known = None
    error: LudusError
    if known is ServerBusy:
        error = ServerBusy(message, retry_delay(reply.retry_after, 1.0))
    elif known is None:
        error = EnvError(f"{what}: {clean(reply.kind, 100)}: {message}")
    else:
        error = known(message)
    if reply.trace:
        error.add_note(f"Raised {where}, in {what}:\n{clean(reply.trace[-MAX_TRACE_CHARS:], MAX_TRACE_CHARS)}")
    lost = isinstance(error, SessionLost)
    setattr(error, "infrastructure", reply.infrastructure or lost)  # noqa: B010  (errors of any class carry it)
    return error


def clean(text: str, longest: int) -> str:
    """Text from a stranger for a message or a terminal: bounded, and no control characters but ends of lines."""
    bounded = text[:longest]
    if bounded.isprintable():
        return bounded
    return "".join(char if char.isprintable() or char in "\n\t" else "\ufffd" for char in bounded)


def _encodable(text: str) -> str:
    """Text without halves of surrogate pairs, which no message carries."""
    return text.encode("utf8", "replace").decode()


def retry_delay(said: object, otherwise: float) -> float:
    """The seconds that a server asks us to wait, within bounds; `otherwise` where it says nothing of use.

    >>> retry_delay(0.5, 1.0), retry_delay(float("nan"), 1.0), retry_delay("soon", 1.0), retry_delay(1e9, 1.0)
    (0.5, 1.0, 1.0, 60.0)
    """
    if not isinstance(said, int | float) or isinstance(said, bool) or said != said:
        return otherwise
    return min(max(said, SHORTEST_WAIT_S), LONGEST_WAIT_S)
