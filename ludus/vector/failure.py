"""Failures: what went wrong in a worker, as data on its way to the batch, and as the error that is raised there."""

import signal

from ludus.core import Outcome
from ludus.errors import InvalidAction, LudusError, WorkerFailure, shorten
from ludus.vector.payload import dumps, loads
from ludus.wire.failures import write_failure

__all__ = ["Failure", "error_of", "failure_of", "how_it_ended", "line_of", "outcome_of"]

Failure = tuple[int, str, str, str, bytes | None]
"""The lane; the error's class, its text and its traceback, as every boundary tells them; and the error itself, pickled
if it can be."""


def failure_of(error: BaseException, lane: int) -> Failure:
    """An error in a worker, as data."""
    failure = write_failure(error)
    try:
        original = dumps(error, "error")
    except LudusError:
        original = None
    return lane, failure.kind, failure.message, failure.trace, original


def error_of(failure: Failure, expected: str, action: object = None, *, as_it_was: bool = False) -> BaseException:
    """The error to raise: what Ludus refuses is raised as it was, with a note; `as_it_was`, every error that can be."""
    lane, _, _, text, data = failure
    original = _loaded(data)
    after = "" if action is None else f" after action {shorten(action)}"
    if isinstance(original, LudusError) or (as_it_was and original is not None):
        original.add_note(f"lane {lane}{after}, in its worker process:\n{text.rstrip()}")
        return original
    error = WorkerFailure(
        f"lane {lane}: expected {expected}, got {_cut(line_of(failure))}{after}; in the worker:\n{text.rstrip()}",
        lanes=(lane,),
        action=action,
        worker_traceback=text,
    )
    error.__cause__ = original
    return error


def line_of(failure: Failure) -> str:
    """What went wrong in one line."""
    return f"{failure[1]}: {failure[2].strip()}".partition("\n")[0].rstrip(": ")


def outcome_of(failure: Failure) -> Outcome:
    """How the episode of its lane ended."""
    return Outcome.INVALID_ACTION if failure[1] == InvalidAction.__name__ else Outcome.ENVIRONMENT_FAILED


def _cut(line: str, limit: int = 200) -> str:
    return line if len(line) <= limit else line[: limit - 1] + "…"


def _loaded(data: bytes | None) -> BaseException | None:
    try:
        error = None if data is None else loads(data)
    except Exception:  # an error whose class is not known here, or that cannot be made of what it says
        return None
    return error if isinstance(error, BaseException) else None


def how_it_ended(code: int | None) -> str:
    """What the exit code of a process says.

    >>> how_it_ended(-9), how_it_ended(3)
    ('was killed by SIGKILL', 'exited with code 3')
    """
    if code is None or code >= 0:
        return f"exited with code {code}"
    try:
        return f"was killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"was killed by signal {-code}"
