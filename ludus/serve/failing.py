"""Failures as replies: what class of error, whose fault, and which HTTP status says so."""

from ludus import errors
from ludus.errors import (
    AccessDenied,
    ClosedEnvironment,
    CodecError,
    ConnectionLost,
    ContractViolation,
    EnvError,
    InvalidArgument,
    InvalidType,
    InvalidValue,
    LudusError,
    RenderError,
    ResetNeeded,
    SandboxError,
    ServerBusy,
    SessionBusy,
    SessionLost,
    SnapshotError,
    UnknownEnvironment,
    WorkerFailure,
)
from ludus.sandbox.environment.failure import LONGEST_MESSAGE, clean, failed
from ludus.wire.network import ErrorReply

__all__ = ["error_reply", "is_infrastructure", "status_of"]

STATUSES: tuple[tuple[type[BaseException], int], ...] = (
    (AccessDenied, 403),
    (SessionLost, 404),
    (SessionBusy, 409),
    (UnknownEnvironment, 404),
    (ServerBusy, 503),
    (ResetNeeded, 409),
    (SnapshotError, 409),
    (RenderError, 409),
    (InvalidValue, 422),
    (InvalidArgument, 422),
    (InvalidType, 422),
    (CodecError, 422),
    (SandboxError, 502),
    (ConnectionLost, 502),
)


def status_of(error: BaseException) -> int:
    """The HTTP status that says what went wrong.

    >>> status_of(ResetNeeded("step: expected reset first"))
    409
    """
    return next((status for kind, status in STATUSES if isinstance(error, kind)), 500)


def is_infrastructure(error: BaseException) -> bool:
    """Whether a process or the server failed, or the environment's own code, and not what the caller asked for.

    >>> is_infrastructure(ZeroDivisionError()), is_infrastructure(InvalidValue("no"))
    (True, False)
    """
    if not isinstance(error, LudusError) or type(error) is EnvError:  # what code behind a wall raised comes as EnvError
        return True
    return isinstance(error, SandboxError | WorkerFailure | SessionLost | ContractViolation | ClosedEnvironment)


def error_reply(error: BaseException, *, trace: bool = False) -> ErrorReply:
    """An error as a reply; with its traceback only for those who may see it, and where code has failed.

    >>> error_reply(ServerBusy("all places are taken", 2.0)).retry_after
    2.0
    """
    ours = is_infrastructure(error)
    kind = next((one.__name__ for one in type(error).__mro__ if getattr(errors, one.__name__, None) is one), None)
    after = error.retry_after if isinstance(error, ServerBusy) else None
    if trace and ours:  # a traceback takes longer to write than all the rest
        told = failed(error)
        return ErrorReply(kind or told.kind, told.message, told.trace, ours, after)
    return ErrorReply(kind or clean(type(error).__name__, 100), _message(error), "", ours, after)


def _message(error: BaseException) -> str:
    try:
        return str(error).encode("utf8", "replace").decode()[:LONGEST_MESSAGE]
    except Exception:  # an exception that cannot be shown is still one
        return "(its text could not be had)"
