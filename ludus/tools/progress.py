"""`progress`: how a tool tells its caller how far it is, and learns that nobody waits for it any more."""

from math import isfinite

from ludus.core.progress import current_progress
from ludus.errors import InvalidArgument, shorten
from ludus.tools.outcome import ToolError

__all__ = ["ToolCancelled", "progress"]


class ToolCancelled(ToolError):
    """What `progress` raises in a tool whose caller has given it up: the call ends there, with this as its outcome.

    >>> issubclass(ToolCancelled, ToolError)
    True
    """


def progress(done: float, total: float | None = None, message: str = "") -> None:
    """Tell how far a call is: `done` of `total`, in whatever unit, and a word about it.

    It goes to clients that asked for it, from wherever the environment runs; elsewhere it does nothing. In a call that
    its client has cancelled it raises `ToolCancelled`, so that a tool which reports from time to time ends when nobody
    waits for it.

    >>> from ludus.core.progress import Progress, reporting
    >>> reports = []
    >>> with reporting(Progress(lambda *report: reports.append(report))):
    ...     progress(1, 3, "one of three")
    ...     progress(1)
    >>> reports
    [(1.0, 3.0, 'one of three')]
    """
    if not isfinite(done) or (total is not None and not isfinite(total)):
        raise InvalidArgument(f"progress: expected finite numbers, got {shorten((done, total))}")
    current = current_progress()
    if current is not None and not current.report(float(done), None if total is None else float(total), message):
        raise ToolCancelled("the call was cancelled")
