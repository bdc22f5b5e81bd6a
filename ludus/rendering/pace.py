"""Pace: when the next picture is due, and which to leave out so that time does not fall behind."""

import time
from collections.abc import Callable

from ludus.errors import InvalidArgument, shorten

__all__ = ["Pace", "as_fps"]

MAX_GAP_S = 0.1
"""Seconds without a picture after which one is shown, however late it is all."""
MAX_LAG_S = 0.25
"""Seconds behind after which lost time is forgotten: somebody stopped at a breakpoint, or the steps are slow."""


class Pace:
    """Keeps pictures at `fps`: waits for the next when early, leaves it out when late.

    >>> slept = []
    >>> pace = Pace(clock=lambda: 0.0, sleep=slept.append)
    >>> pace.wait(10), pace.wait(10)
    (True, True)
    >>> slept
    [0.1]
    """

    def __init__(
        self, clock: Callable[[], float] = time.perf_counter, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._clock = clock
        self._sleep = sleep
        self._due: float | None = None
        self._shown = 0.0

    def wait(self, fps: float | None) -> bool:
        """Sleep until the next picture is due, at most one period; False if it is late and to be left out."""
        now = self._clock()
        if fps is None or self._due is None:
            self._due, self._shown = now + (0.0 if fps is None else 1.0 / as_fps(fps)), now
            return True
        period = 1.0 / as_fps(fps)
        if now < self._due:
            self._sleep(min(self._due - now, period))
            now = max(now, self._due)
        late = now - self._due
        self._due = now + period if late > MAX_LAG_S else self._due + period
        if late > period and now - self._shown < MAX_GAP_S:
            return False
        self._shown = now
        return True


def as_fps(fps: object) -> float:
    """`fps` if it is a number of pictures a second that can be meant."""
    if not isinstance(fps, int | float) or isinstance(fps, bool) or not 0.0 < fps <= 1000.0:
        raise InvalidArgument(f"fps: expected a number above 0 and up to 1000, got {shorten(fps)}")
    return float(fps)
