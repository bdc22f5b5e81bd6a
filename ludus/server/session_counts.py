"""`SessionCounts`: how many sessions each worker holds, in memory that all of them see."""

import mmap
from collections.abc import Sequence

__all__ = ["SessionCounts"]

COUNT_BYTES = 8


class SessionCounts:
    """One number for each worker. A worker writes its own alone, and reads those of the others.

    >>> session_counts = SessionCounts([1, 2])
    >>> session_counts.add(0, 1)
    >>> session_counts.is_full(0), session_counts.roomiest()
    (True, 1)
    """

    def __init__(self, shares: Sequence[int]) -> None:
        self.shares = tuple(shares)
        """How many each may hold."""
        self._counts = memoryview(mmap.mmap(-1, COUNT_BYTES * len(shares))).cast("q")

    def add(self, worker: int, amount: int) -> None:
        """Count one more, or one less."""
        self._counts[worker] += amount

    def forget(self, worker: int) -> None:
        """A worker begins anew: what it held is gone."""
        self._counts[worker] = 0

    def is_full(self, worker: int) -> bool:
        """Whether a worker holds all that it may."""
        return self._counts[worker] >= self.shares[worker]

    def roomiest(self) -> int | None:
        """The worker with the most places left; None where there are none."""
        left = [share - count for share, count in zip(self.shares, self._counts, strict=True)]
        best = max(range(len(left)), key=left.__getitem__)
        return best if left[best] > 0 else None
