"""`Bucket`: how much may come in a second. Every message takes a drop; an empty bucket says how long to wait."""

from collections import OrderedDict
from time import monotonic

__all__ = ["Bucket", "Buckets"]

BURST_S = 1.0
"""Seconds' worth that may come at once."""
MAX_PEERS = 4096


class Bucket:
    """A token bucket: `rate` drops in a second, a second's worth at once.

    >>> bucket = Bucket(2.0, now=0.0)
    >>> bucket.take(now=0.0), bucket.take(now=0.0), bucket.take(now=0.0)
    (0.0, 0.0, 0.5)
    >>> bucket.take(now=10.0)
    0.0
    """

    __slots__ = ("_at", "_left", "_most", "_rate")

    def __init__(self, rate: float, now: float | None = None) -> None:
        self._rate, self._most = rate, max(1.0, rate * BURST_S)
        self._left, self._at = self._most, monotonic() if now is None else now

    def take(self, drops: float = 1.0, now: float | None = None) -> float:
        """Take drops; the seconds to wait before going on: 0 where there were enough."""
        left = self._left - drops
        if left < 0.0:
            now = monotonic() if now is None else now
            left = min(self._most, self._left + (now - self._at) * self._rate) - drops
            self._at = now
        self._left = left
        return 0.0 if left >= 0.0 else -left / self._rate

    def refill(self, now: float | None = None) -> bool:
        """Whether there is a drop, without taking one."""
        now = monotonic() if now is None else now
        self._left = min(self._most, self._left + (now - self._at) * self._rate)
        self._at = now
        return self._left >= 1.0


class Buckets:
    """A bucket for each peer; those that were not used for longest are forgotten.

    >>> buckets = Buckets(1.0)
    >>> buckets.admit("a"), buckets.admit("a") > 0, buckets.admit("b")
    (0.0, True, 0.0)
    """

    def __init__(self, rate: float, most: int = MAX_PEERS) -> None:
        self._rate, self._most = rate, most
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()

    def admit(self, peer: str) -> float:
        """Take a drop of a peer's; the seconds after which to come again, or 0. A refusal costs nothing."""
        bucket = self._buckets.get(peer)
        if bucket is None:
            bucket = self._buckets[peer] = Bucket(self._rate)
            if len(self._buckets) > self._most:
                self._buckets.popitem(last=False)
        else:
            self._buckets.move_to_end(peer)
        return bucket.take() if bucket.refill() else 1.0 / self._rate
