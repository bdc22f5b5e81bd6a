"""Splitting a step over threads, where that is measured to be quicker.

Lanes are cut into pieces that threads take one after another. The caller takes pieces too, and waits for no more than
those under way elsewhere: a thread that never gets a core costs nothing. Which of both ways is taken is decided by
what they took in windows of some milliseconds, long enough that one interruption, which every machine has, decides
nothing; the slower way is tried again now and then, the more rarely the more often it was the slower one.

A thread that has done its share looks for the next one for `LOOK_SECONDS`, since being woken takes longer than half a
step of a thousand lanes, and then sleeps: a batch that is not stepped keeps no core busy.
"""

import os
import threading
from time import perf_counter

from ludus.errors import InvalidArgument, shorten
from ludus.kernels.call import KernelCall, Team, can_split
from ludus.spaces.array_space import Array

__all__ = ["ThreadSplit", "cores"]

MIN_LANES_PER_THREAD = 512
"""Lanes for each thread: fewer take no longer than to hand them over."""
PIECE_LANES = 64
"""Lanes of a piece are a multiple of it: flags of a byte, of different pieces, then lie on different cache lines."""
PIECES = 16
"""For each thread, at least, where there are lanes enough: the last one is waited for, so it is to be short."""
MAX_PIECE_LANES = 1024
"""Lanes of a piece: of more, the last one would be waited for too long where threads are not equally quick."""
MAX_PIECES = 4096
WINDOW_SECONDS = 3e-3
"""How long one way is taken before its time is judged: about as long as others keep a core that they took."""
FEWEST, MOST = 4, 256
"""Steps of a window; the first ones of a batch are the fewest."""
WEIGHT = 0.25
"""Of the last window in the running mean."""
WORST = 2.0
"""How many times the mean a window counts at most: a long interruption is still only one."""
GAIN = 0.9
"""Of one thread's time: what saves less is not worth another core."""
RETRY, RARELY = 8, 128
"""Windows of one thread until splitting is tried again: after one trial that changed nothing, and after many."""
MAX_FAILED = 4
HOLDS, MAX_CONFIRMED = 32, 2
"""Windows of a split until one thread is tried again; a split that lasted so long was no accident. Each trial that
confirms it doubles them, that many times: a split that becomes slow is noticed by its own time, without a trial."""
LOOK_SECONDS = 100e-6
PATIENCE_SECONDS = 200e-6
"""How long the caller looks for the end of others' pieces before it takes naps."""

Arrays = tuple[Array, Array, Array, Array]


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def piece_size(lanes: int, threads: int) -> int:
    """How many lanes a piece has.

    >>> piece_size(4096, 2), piece_size(1 << 24, 2)
    (128, 4096)
    """
    even = min(-(-lanes // (threads * PIECES)), MAX_PIECE_LANES)
    least = -(-lanes // MAX_PIECES)
    return -(-max(even, least) // PIECE_LANES) * PIECE_LANES


class ThreadSplit:
    """Runs a compiled loop over lanes, on one thread or on several.

    >>> ThreadSplit.for_lanes(100, None) is None
    True
    """

    def __init__(self, lanes: int, threads: int) -> None:
        self.lanes, self.threads = lanes, threads
        self.times = [0.0, 0.0]
        """Seconds of a step, on one thread and split."""
        self.size = piece_size(lanes, threads)
        self._now, self._usual = 0, 0
        """The way of the window under way, and the way that is taken where nothing is tried."""
        self._steps = self._left = FEWEST
        self._spent = 0.0
        self._until_trial = 0
        self._failed = 0
        """Trials of a split in a row that led to nothing: each makes the next one rarer."""
        self._confirmed = 0
        """Trials of one thread in a row that led to nothing."""

    @classmethod
    def for_lanes(cls, lanes: int, threads: int | None) -> "ThreadSplit | None":
        """A split for that many lanes; None where one thread does it all."""
        if threads is not None and (isinstance(threads, bool) or threads < 1):
            raise InvalidArgument(f"threads: expected a whole number above 0, or None, got {shorten(threads)}")
        most = min(cores() if threads is None else threads, lanes // MIN_LANES_PER_THREAD)
        return cls(lanes, most) if most > 1 and can_split() else None

    @property
    def splits(self) -> bool:
        """Whether the next step would be split, trials aside."""
        return 0.0 < self.times[1] < GAIN * self.times[0]

    def run(self, call: KernelCall, arrays: Arrays) -> int:
        """Run the loop of a call over all lanes; what it gives."""
        way = self._way()
        if way:
            team = _team(self.threads - 1)  # started before the clock is
            if call.team is not team:
                call.join(team, -(-self.lanes // self.size), self.size, PATIENCE_SECONDS, self.threads)
        start = perf_counter()
        found = call.together(*arrays) if way and call.together is not None else call.alone(*arrays)
        self._took(perf_counter() - start)
        return found

    def _way(self) -> int:
        """1 to split, 0 to stay serial."""
        return self._now

    def _took(self, seconds: float) -> None:
        """Count the time of a step; at the end of a window, choose the way of the next."""
        self._spent += seconds
        self._left -= 1
        if self._left:
            return
        self._judge(max(self._spent / self._steps, 1e-9))
        self._steps = self._left = max(FEWEST, min(MOST, int(WINDOW_SECONDS / self.times[0])))
        self._spent = 0.0

    def _judge(self, mean: float) -> None:
        """Take in what a step of this window took; of a way that is being tried, nothing older counts."""
        way, known = self._now, self.times[self._now]
        tried = way != self._usual or not known
        self.times[way] = mean if tried else known + WEIGHT * (min(mean, WORST * known) - known)
        if not self.times[1]:
            self._now = 1
            return
        self._usual = int(self.splits)
        if not self._usual and way:  # what was tried was slower, or what was quicker is so no longer
            self._until_trial = min(RARELY, RETRY << self._failed)
            self._failed = min(self._failed + 1, MAX_FAILED)
        elif self._usual and tried:
            self._until_trial = HOLDS << self._confirmed
            self._confirmed = 0 if way else min(self._confirmed + 1, MAX_CONFIRMED)
            self._failed = self._failed if way else 0
        self._now = self._usual
        if self._until_trial:
            self._until_trial -= 1
        else:
            self._now = 1 - self._usual


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
