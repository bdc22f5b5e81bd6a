"""`Progress`: a call that is under way, wherever its environment runs: where its reports go, and whether one waits."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from math import inf

__all__ = ["Progress", "current_progress", "reporting"]

Tell = Callable[[float, float | None, str], None]


class Progress:
    """One call that is under way: where its reports go, and whether somebody still waits."""

    def __init__(self, tell: Tell | None = None) -> None:
        self.tell = tell
        self.cancelled = False
        """Set from any thread; the next report finds it."""
        self._last = -inf

    def report(self, done: float, total: float | None, message: str) -> bool:
        """Whether somebody still waits; one that is no further than the last is not reported, as MCP has it."""
        if not self.cancelled and self.tell is not None and done > self._last:
            self._last = done
            self.tell(done, total, message)
        return not self.cancelled


_current: ContextVar[Progress | None] = ContextVar("progress", default=None)
current_progress = _current.get
"""The call under way whose reports go somewhere; None where nobody asked for them."""


@contextmanager
def reporting(to: Progress | None) -> Generator[None]:
    """Have the reports of what is called here go somewhere.

    >>> with reporting(Progress()) as _:
    ...     current_progress().report(1, None, "")
    True
    """
    token = _current.set(to)
    try:
        yield
    finally:
        _current.reset(token)
