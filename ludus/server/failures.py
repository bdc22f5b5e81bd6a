"""Failures as replies: what class of error, whose fault, and which HTTP status says so."""

from ludus.errors import (
    AccessDenied,
    CodecError,
    ConnectionLost,
    InvalidArgument,
    InvalidType,
    InvalidValue,
    RenderError,
    ResetNeeded,
    SandboxError,
    ServerBusy,
    SessionBusy,
    SessionLost,
    SnapshotError,
    UnknownEnvironment,
)
from ludus.wire.failures import is_infrastructure, write_failure
from ludus.wire.messages import FailedReply

__all__ = ["error_reply", "status_of"]

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


def error_reply(error: BaseException, *, trace: bool = False) -> FailedReply:
    """An error as a reply; with its traceback only for those who may see it, and where code has failed.

    >>> error_reply(ServerBusy("all places are taken", 2.0)).retry_after
    2.0
    """
    return write_failure(error, trace=trace and is_infrastructure(error))
