"""Failures: what went wrong in a worker, as data on its way to the batch, and as the error that is raised there."""

import signal
import traceback
from typing import Any

from ludus.errors import LudusError, WorkerFailure, shorten
from ludus.vector.parcel import dumps, loads

__all__ = ["Failure", "error_of", "failure_of", "how_it_ended"]

Failure = list[Any]
"""The lane, the traceback as text, the error in one line, and the error itself, pickled if it can be."""


def failure_of(error: BaseException, lane: int) -> Failure:
    """An error in a worker, as data."""
    text = "".join(traceback.format_exception(error))
    line = traceback.format_exception_only(error)[0].strip()
    try:
        return [lane, text, line, dumps(error, "error")]
    except LudusError:
        return [lane, text, line, None]


def error_of(failure: Failure, expected: str, action: Any = None, *, as_it_was: bool = False) -> BaseException:
    """The error to raise: what Ludus refuses is raised as it was, with a note; `as_it_was`, every error that can be."""
    lane, text, line, data = failure
    original = _loaded(data)
    after = "" if action is None else f" after action {shorten(action)}"
    if isinstance(original, LudusError) or (as_it_was and original is not None):
        original.add_note(f"lane {lane}{after}, in its worker process:\n{text.rstrip()}")
        return original
    error = WorkerFailure(
        f"lane {lane}: expected {expected}, got {shorten_line(line)}{after}; in the worker:\n{text.rstrip()}",
        lanes=(lane,),
        action=action,
        worker_traceback=text,
    )
    error.__cause__ = original
    return error


def shorten_line(line: str, limit: int = 200) -> str:
    """One line of text, cut."""
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
