"""Failures: what was raised behind the wall, as text, and as an error of this side's own classes."""

import traceback
from typing import Any

from ludus import errors
from ludus.errors import EnvError, LudusError, SandboxError
from ludus.wire.message import FailedReply

__all__ = ["clean", "failed", "failure"]

LONGEST_MESSAGE = 1 << 12
LONGEST_TRACE = 1 << 14
KNOWN: dict[str, type[LudusError]] = {
    name: kind
    for name, kind in vars(errors).items()
    if isinstance(kind, type) and issubclass(kind, LudusError) and not issubclass(kind, SandboxError)
}
"""What a child may have raised here, by name; what is said of the sandbox itself, only this side says."""


class MissingAttribute(EnvError, AttributeError):
    """An attribute that is not there, as `getattr` and `hasattr` know it."""


def failed(error: BaseException) -> FailedReply:
    """An exception as a message: its nearest class that the other side knows, its text and its traceback."""
    kind = next((one.__name__ for one in type(error).__mro__ if KNOWN.get(one.__name__) is one), type(error).__name__)
    try:
        message = str(error)
    except Exception:  # an exception that cannot be shown is still one
        message = "(its text could not be had)"
    trace = "".join(traceback.format_exception(error))
    return FailedReply(
        _encodable(kind)[:100], _encodable(message)[:LONGEST_MESSAGE], _encodable(trace)[-LONGEST_TRACE:]
    )


def failure(reply: FailedReply, what: str) -> LudusError:
    """The error to raise for it: of the same class where that is one of Ludus's, else an EnvError that names it."""
    message, trace = clean(reply.message, LONGEST_MESSAGE), clean(reply.trace[-LONGEST_TRACE:], LONGEST_TRACE)
    known = KNOWN.get(reply.kind)
    other = MissingAttribute if reply.kind == "AttributeError" else EnvError
    error: Any = other(f"{what}: {clean(reply.kind, 100)}: {message}") if known is None else known(message)
    error.add_note(f"Raised behind the wall, in {what}:\n{trace}")
    return error


def clean(text: str, longest: int) -> str:
    """Text from a stranger for a message or a terminal: bounded, and no control characters but ends of lines."""
    return "".join(char if char.isprintable() or char in "\n\t" else "\ufffd" for char in text[:longest])


def _encodable(text: str) -> str:
    """Text without halves of surrogate pairs, which no message carries."""
    return text.encode("utf8", "replace").decode()
