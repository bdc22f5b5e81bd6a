"""Spin policy: whether to yield the core for a moment before sleeping, learnt from how that went.

Waking a sleeper takes 15 to 40 µs, most of a cheap step. A process that yields instead is there at once, unless others
want the core: then it comes back when they have had their turn, milliseconds late, where a sleeper would have been let
in. So a thread that was late by yielding sleeps for some time, and for longer each time it happens again.
"""

from time import monotonic_ns

__all__ = ["SpinPolicy"]

SPIN_NS = 50_000
"""For how many nanoseconds a process yields before it sleeps: nobody who waits longer burns a core."""
LATE_NS = 200_000
"""So many nanoseconds after the news, somebody else had the core."""
MIN_SLEPT_WAITS, MAX_SLEPT_WAITS = 64, 8192
"""How many waits in a row are slept through after one that was late: the first time, and at most."""


class SpinPolicy:
    """What one process has learnt.

    >>> spin_policy = SpinPolicy()
    >>> spin_policy.until() > monotonic_ns()
    True
    >>> spin_policy.learn(monotonic_ns() - 2 * LATE_NS)
    >>> spin_policy.until()
    0
    """

    def __init__(self) -> None:
        self._asleep, self._penalty = 0, MIN_SLEPT_WAITS

    def until(self) -> int:
        """When to stop yielding, in nanoseconds: at once, after it did harm."""
        if self._asleep:
            self._asleep -= 1
            return 0
        return monotonic_ns() + SPIN_NS

    def learn(self, news: int) -> None:
        """The wait that has just ended in yielding was for something that happened at `news`."""
        if monotonic_ns() - news > LATE_NS:
            self._asleep = self._penalty
            self._penalty = min(MAX_SLEPT_WAITS, 2 * self._penalty)
        elif self._penalty > MIN_SLEPT_WAITS:
            self._penalty -= 1
