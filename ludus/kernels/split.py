"""Splitting a step over threads, where that is measured to be quicker.

Lanes are cut into pieces that threads take one after another. The caller takes pieces too, and waits for no more than
those under way elsewhere: a thread that never gets a core costs nothing. Which of both ways is taken is decided by
their recent times; the slower one is tried again now and then, the more rarely the worse it did.

A thread that has done its share looks for the next one for `LOOK_SECONDS`, since being woken takes longer than half a
step of a thousand lanes, and then sleeps: a batch that is not stepped keeps no core busy.
"""

import os
import threading
from time import perf_counter
from typing import Any

from ludus.errors import InvalidArgument, shorten
from ludus.kernels.call import Call, Team, can_split

__all__ = ["Split", "cores"]

SMALLEST = 512
"""Lanes for each thread: fewer take no longer than to hand them over."""
PIECE = 64
"""Lanes of a piece are a multiple of it: flags of a byte, of different pieces, then lie on different cache lines."""
PIECES = 16
"""For each thread, at least, where there are lanes enough: the last one is waited for, so it is to be short."""
LARGEST = 1024
"""Lanes of a piece: of more, the last one would be waited for too long where threads are not equally quick."""
MOST_PIECES = 4096
TRIALS = 4
WAKE_SECONDS, MOST_WAKING = 150e-6, 16
"""How long threads may take to wake up, and in how many steps at most: what they do meanwhile says nothing."""
WEIGHT = 0.25
GAIN = 0.9
"""Of one thread's time: what saves less is not worth another core."""
STALLS = (1.5, 8.0)
"""By how much one step may exceed the mean and count in full. Whoever is alone is interrupted at times, which says
nothing; that threads wait for one that is, is what splitting costs on a busy machine."""
RETRY, RARELY = 64, 4096
UNTIMED = 7
"""Steps of one thread between two whose time is taken: taking it costs a fiftieth of a step of a thousand lanes."""
LOOK_SECONDS = 100e-6
PATIENCE_SECONDS = 200e-6
"""How long the caller looks for the end of others' pieces before it takes naps."""

Arrays = tuple[Any, Any, Any, Any]


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def piece_size(lanes: int, threads: int) -> int:
    """How many lanes a piece has.

    >>> piece_size(4096, 2), piece_size(1 << 24, 2)
    (128, 4096)
    """
    wanted = min(-(-lanes // (threads * PIECES)), LARGEST)
    least = -(-lanes // MOST_PIECES)
    return -(-max(wanted, least) // PIECE) * PIECE


class Split:
    """Runs a compiled loop over lanes, on one thread or on several.

    >>> Split.for_lanes(100, None) is None
    True
    """

    def __init__(self, lanes: int, threads: int) -> None:
        self.lanes, self.threads = lanes, threads
        self.times = [0.0, 0.0]
        self.size = piece_size(lanes, threads)
        self._calls, self._next_trial, self._untimed = 0, 0, 0
        self._trial: int | None = None
        """The way that is being tried."""
        self._tried: list[float] = []
        self._length = TRIALS
        self._failed = 0
        """Trials in a row that changed nothing: each makes the next one rarer."""

    @classmethod
    def for_lanes(cls, lanes: int, threads: int | None) -> "Split | None":
        """A split for that many lanes; None where one thread does it all."""
        if threads is not None and (isinstance(threads, bool) or threads < 1):
            raise InvalidArgument(f"threads: expected a whole number above 0, or None, got {shorten(threads)}")
        most = min(cores() if threads is None else threads, lanes // SMALLEST)
        return cls(lanes, most) if most > 1 and can_split() else None

    @property
    def splits(self) -> bool:
        """Whether the next step would be split, trials aside."""
        return 0.0 < self.times[1] < GAIN * self.times[0]

    def run(self, call: Call, arrays: Arrays) -> int:
        """Run the loop of a call over all lanes; what it gives."""
        if self._untimed:
            self._untimed -= 1
            self._calls += 1
            return call.alone(*arrays)
        way = self._way()
        if way:
            team = _team(self.threads - 1)  # started before the clock is
            if call.team is not team:
                call.join(team, -(-self.lanes // self.size), self.size, PATIENCE_SECONDS)
        start = perf_counter()
        found = call.together(*arrays) if way else call.alone(*arrays)
        self._took(way, perf_counter() - start)
        if not way and self._trial is None:
            self._untimed = UNTIMED
        return found

    def _way(self) -> int:
        """1 to split, 0 to stay serial."""
        self._calls += 1
        if self._trial is not None:
            return self._trial
        if not all(self.times):
            return self._try(int(self.times[0] > 0.0))
        better = int(self.splits)
        if self._calls < self._next_trial:
            return better
        worse = self.times[1 - better] / self.times[better]
        pause = int(RETRY * max(1.0, worse * worse * worse)) << min(self._failed, 6)
        self._next_trial = self._calls + min(RARELY, pause)
        self._failed += 1
        return self._try(1 - better)

    def _try(self, way: int) -> int:
        """Begin a trial, which is as long as threads take to wake up, and some steps more."""
        waking = min(MOST_WAKING, int(WAKE_SECONDS / self.times[0])) if way else 0
        self._trial, self._length = way, TRIALS + waking
        return way

    def _took(self, way: int, seconds: float) -> None:
        """Remember a time: of a trial the mean of its last steps, else a running mean."""
        if self._trial is None:
            mean = self.times[way]
            self.times[way] = mean + WEIGHT * (min(seconds, STALLS[way] * mean) - mean)
            return
        self._tried.append(seconds)
        if len(self._tried) == self._length:
            before, self.times[way] = self.splits, max(sum(self._tried[1 - TRIALS :]) / (TRIALS - 1), 1e-9)
            self._trial, self._tried = None, []
            self._failed = self._failed if before == self.splits else 0


class _Threads:
    """The team of this process, shared by all batches, and how many threads serve it."""

    def __init__(self) -> None:
        self.team, self.size = Team(LOOK_SECONDS), 0

    def grow(self, size: int) -> None:
        while self.size < size:
            self.size += 1
            threading.Thread(target=self.team.serve, name=f"ludus-kernel-{self.size}", daemon=True).start()


_teams: dict[int, _Threads] = {}


def _team(size: int) -> Team:
    """The team of this process: threads do not survive a fork, so a child has its own."""
    found = _teams.get(os.getpid()) or _teams.setdefault(os.getpid(), _Threads())
    found.grow(size)
    return found.team
