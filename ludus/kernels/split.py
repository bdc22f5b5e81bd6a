"""Splitting a step over threads, where that is measured to be quicker.

Lanes are cut into pieces that threads take one after another. The caller takes pieces too, and waits for no more than
those under way elsewhere: a thread that never gets a core costs nothing. Which of both ways is taken is decided by
their recent times; the slower one is tried again now and then, the more rarely the worse it did.

A thread that has done its share looks for the next one for `LOOK_SECONDS`, since being woken takes longer than half a
step of a thousand lanes, and then sleeps: a batch that is not stepped keeps no core busy.
"""

import os
import threading
from collections.abc import Callable
from itertools import count
from time import perf_counter
from typing import Any

from ludus.errors import InvalidArgument, shorten
from ludus.kernels.signal import NEVER, Signal, can_signal

__all__ = ["Split", "cores"]

SMALLEST = 512
"""Lanes of a piece: fewer take no longer than to hand them over."""
LARGEST = 4096
"""Lanes of a piece: of more, the last one would be waited for too long where threads are not equally quick."""
TRIALS = 4
WEIGHT = 0.25
GAIN = 0.9
"""Of one thread's time: what saves less is not worth another core."""
STALLS = (1.5, 8.0)
"""By how much one step may exceed the mean and count in full. Whoever is alone is interrupted at times, which says
nothing; that threads wait for one that is, is what splitting costs on a busy machine."""
RETRY, RARELY = 64, 4096
UNTIMED = 7
"""Steps of one thread between two whose time is taken: taking it costs a fiftieth of a step of a thousand lanes."""
LOOK_SECONDS = 50e-6
HOLD_SECONDS = 2e-6
"""What the caller takes from giving out a step to letting the interpreter lock go: who comes sooner is put to sleep."""
HEAD_SECONDS = 3e-6
"""How much longer the caller works than the others, who begin later."""
PATIENCE_SECONDS = 200e-6


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Split:
    """Runs a compiled loop over lanes, on one thread or on several.

    >>> Split.for_lanes(100, None) is None
    True
    """

    def __init__(self, lanes: int, threads: int) -> None:
        self.lanes, self.threads = lanes, threads
        self.times = [0.0, 0.0]
        self.pieces = self._cut()
        self._calls, self._next_trial, self._trial = 0, 0, 2 * TRIALS
        self._tried: list[float] = []
        self._untimed = 0
        self._failed = 0
        """Trials in a row that changed nothing: each makes the next one rarer."""

    def _cut(self) -> list[tuple[int, int]]:
        """The pieces; of few, the caller's is the first, and larger by what it is ahead."""
        size = -(-self.lanes // self.threads)
        if size > LARGEST:
            return [(first, min(first + LARGEST, self.lanes)) for first in range(0, self.lanes, LARGEST)]
        ahead = min(int(HEAD_SECONDS * self.lanes / self.times[0]), size // 2) if self.times[0] else 0
        first = size + ahead * (self.threads - 1) // self.threads
        size = -(-(self.lanes - first) // (self.threads - 1))
        rest = [(start, min(start + size, self.lanes)) for start in range(first, self.lanes, size)]
        return [(0, first), *rest]

    @classmethod
    def for_lanes(cls, lanes: int, threads: int | None) -> "Split | None":
        """A split for that many lanes; None where one thread does it all."""
        if threads is not None and (isinstance(threads, bool) or threads < 1):
            raise InvalidArgument(f"threads: expected a whole number above 0, or None, got {shorten(threads)}")
        most = min(cores() if threads is None else threads, lanes // SMALLEST)
        return cls(lanes, most) if most > 1 and can_signal() else None

    @property
    def splits(self) -> bool:
        """Whether the next step would be split, trials aside."""
        return 0.0 < self.times[1] < GAIN * self.times[0]

    def run(self, loop: Callable[..., int], rest: tuple[Any, ...]) -> int:
        """Run the loop over all lanes; what it counts, or -1 where it refused."""
        if self._untimed:
            self._untimed -= 1
            self._calls += 1
            return loop(0, self.lanes, *rest)
        way = self._way()
        team = _team(self.threads - 1) if way else None  # started before the clock is
        start = perf_counter()
        found = loop(0, self.lanes, *rest) if team is None else team.run(_Job(loop, rest, self.pieces))
        self._took(way, perf_counter() - start)
        if not way and not self._trial and not self._tried:
            self._untimed = UNTIMED
        return found

    def _way(self) -> int:
        """1 to split, 0 to stay serial."""
        self._calls += 1
        better = int(self.splits)
        if self._trial:
            self._trial -= 1
            return int(self._trial < TRIALS) if self._calls <= 2 * TRIALS else 1 - better
        if self._calls >= self._next_trial:
            worse = self.times[1 - better] / max(self.times[better], 1e-9)
            pause = int(RETRY * max(1.0, worse * worse * worse)) << min(self._failed, 6)
            self._next_trial = self._calls + min(RARELY, pause)
            self._trial, self._failed = TRIALS - 1, self._failed + 1
            return 1 - better
        return better

    def _took(self, way: int, seconds: float) -> None:
        """Remember a time: of a trial the mean but for its first step, which wakes the threads, else a running mean."""
        if self._calls <= 2 * TRIALS or self._trial or self._tried:
            self._tried.append(seconds)
            if len(self._tried) == TRIALS:
                before, self.times[way] = self.splits, sum(self._tried[1:]) / (TRIALS - 1)
                self._tried, self.pieces = [], self._cut()
                self._failed = self._failed if before == self.splits else 0
        else:
            mean = self.times[way]
            self.times[way] = mean + WEIGHT * (min(seconds, STALLS[way] * mean) - mean)


class _Job:
    """Pieces that are taken one after another, by whoever comes.

    No lock: what is counted is counted by one call into C, which no other thread comes between.
    """

    __slots__ = ("done", "end", "error", "found", "loop", "over", "pieces", "rest", "take", "ticket")

    def __init__(self, loop: Callable[..., int], rest: tuple[Any, ...], pieces: list[tuple[int, int]]) -> None:
        self.loop, self.rest, self.pieces = loop, rest, pieces
        self.take, self.end = count().__next__, count(1).__next__
        self.found: list[int] = []
        self.error: BaseException | None = None
        self.ticket, self.done = NEVER, False
        self.over: threading.Lock | None = None

    def work(self) -> bool:
        """Take pieces until there are none; whether the last one to be done was among them."""
        total = len(self.pieces)
        while (piece := self.take()) < total:
            try:
                self.found.append(self.loop(*self.pieces[piece], *self.rest))
            except BaseException as error:
                self.error = error
            if self.end() == total:
                self.done = True
                if self.over is not None:
                    self.over.release()
                return True
        return False

    def sleep(self) -> None:
        """Sleep until all is done."""
        over = threading.Lock()
        over.acquire()
        self.over = over
        if not self.done:
            over.acquire()

    def result(self) -> int:
        if self.error is not None:
            raise self.error
        return -1 if min(self.found) < 0 else sum(self.found)


class _Team:
    """Threads of this process that wait for jobs; shared by all batches."""

    def __init__(self) -> None:
        self.signal = Signal(look_seconds=LOOK_SECONDS, hold_seconds=HOLD_SECONDS)
        self.job: _Job | None = None
        self.tickets = count(1)
        self.size = 0

    def run(self, job: _Job) -> int:
        job.ticket, self.job = next(self.tickets), job
        self.signal.post(job.ticket)
        if not job.work() and not job.done and not self.signal.await_done(job.ticket, PATIENCE_SECONDS):
            job.sleep()
        if self.job is job:
            self.job = None  # it holds the memory of a batch
        return job.result()

    def grow(self, size: int) -> None:
        while self.size < size:
            self.size += 1
            threading.Thread(target=self._serve, name=f"ludus-kernel-{self.size}", daemon=True).start()

    def _serve(self) -> None:
        seen, done = 0, NEVER
        while True:
            seen = self.signal.await_ticket(seen, done)
            job, done = self.job, NEVER
            if job is not None and job.work():
                done = job.ticket
            job = None


_teams: dict[int, _Team] = {}


def _team(size: int) -> _Team:
    """The team of this process: threads do not survive a fork, so a child has its own."""
    team = _teams.get(os.getpid()) or _teams.setdefault(os.getpid(), _Team())
    team.grow(size)
    return team
