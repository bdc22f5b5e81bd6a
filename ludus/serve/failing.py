"""Failures as replies: what class of error, whose fault, and which HTTP status says so."""

from ludus.errors import (
    AccessDenied,
    CodecError,
    ConnectionLost,
    InvalidArgument,
    InvalidType,
    InvalidValue,
    LudusError,
    ResetNeeded,
    SandboxError,
    ServerBusy,
    SessionLost,
    SnapshotError,
    UnknownEnvironment,
    WorkerFailure,
)
from ludus.sandbox.environment.failure import failed
from ludus.wire.network import ErrorReply

__all__ = ["error_reply", "is_infrastructure", "status_of"]

STATUSES: tuple[tuple[type[BaseException], int], ...] = (
    (AccessDenied, 403),
    (SessionLost, 404),
    (UnknownEnvironment, 404),
    (ServerBusy, 503),
    (ResetNeeded, 409),
    (SnapshotError, 409),
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
    return not isinstance(error, LudusError) or isinstance(error, SandboxError | WorkerFailure | SessionLost)


def error_reply(error: BaseException, *, trace: bool = False) -> ErrorReply:
    """An error as a reply; with its traceback only for those who may see it.

    >>> error_reply(ServerBusy("all places are taken", 2.0)).retry_after
    2.0
    """
    told = failed(error)
    after = error.retry_after if isinstance(error, ServerBusy) else None
    return ErrorReply(told.kind, told.message, told.trace if trace else "", is_infrastructure(error), after)
