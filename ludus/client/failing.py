"""Failures: what a server says went wrong, as errors of our own classes, with whose fault it was."""

from typing import Any

from ludus import errors
from ludus.core.spec import load_entry_point
from ludus.errors import ConnectionLost, EnvError, LudusError, ServerBusy, SessionLost
from ludus.wire.network import ErrorReply

__all__ = ["clean", "failure", "lost", "marked"]

KNOWN: dict[str, type[LudusError]] = {
    name: kind for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, LudusError)
}
LONGEST_MESSAGE = 1 << 12
LONGEST_TRACE = 1 << 14
CLEAN = "ludus.sandbox.environment.failure:clean"
"""By name: it is needed when something went wrong."""
LONGEST_WAIT = 60.0
"""Seconds that a server may ask us to wait for it."""


def failure(reply: ErrorReply, what: str) -> LudusError:
    """The error to raise for a reply: of the class that it names, where that is one of ours.

    `error.infrastructure` says whether the server failed and not the action: a trainer leaves such an episode out.

    >>> failure(ErrorReply("InvalidAction", "action: expected Discrete(2), got 7"), "CartPole")
    InvalidAction('action: expected Discrete(2), got 7')
    >>> failure(ErrorReply("ZeroDivisionError", "division by zero", infrastructure=True), "CartPole").infrastructure
    True
    """
    message, known = clean(reply.message, LONGEST_MESSAGE), KNOWN.get(reply.kind)
    error: Any
    if known is ServerBusy:
        error = ServerBusy(message, min(max(reply.retry_after or 1.0, 0.01), LONGEST_WAIT))
    elif known is None:
        error = EnvError(f"{what}: {clean(reply.kind, 100)}: {message}")
    else:
        error = known(message)
    if reply.trace:
        error.add_note(f"Raised at the server, in {what}:\n{clean(reply.trace[-LONGEST_TRACE:], LONGEST_TRACE)}")
    return marked(error, reply.infrastructure or isinstance(error, SessionLost))


def lost(where: object, error: BaseException, todo: str = "") -> ConnectionLost:
    """The error for a server that cannot be reached."""
    said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    found = ConnectionLost(f"{where}: expected a server that answers, got {clean(said, 300)}{todo and '; '}{todo}")
    return marked(found, True)


def clean(text: str, longest: int) -> str:
    """Text from a stranger, bounded and without control characters."""
    return load_entry_point(CLEAN)(text, longest)


def marked(error: Any, infrastructure: bool) -> Any:
    """The error, with word of whose fault it was."""
    error.infrastructure = infrastructure
    return error
