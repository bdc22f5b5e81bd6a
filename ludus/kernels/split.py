"""Splitting a step over threads, where that is measured to be quicker.

Lanes are cut into pieces that threads take one after another. The caller takes pieces too, and waits for no more than
those under way elsewhere: a thread that never gets a core costs nothing. Which of both ways is taken is decided by
their recent times; the slower one is tried again now and then, the more rarely the worse it did.
"""

import os
import threading
from collections.abc import Callable
from itertools import count
from queue import SimpleQueue
from time import perf_counter
from typing import Any

from ludus.errors import InvalidArgument, shorten

__all__ = ["Split", "cores"]

SMALLEST = 1024
"""Lanes of a piece: fewer take no longer than to hand them over."""
TRIALS = 4
WEIGHT = 0.25
RETRY, RARELY = 64, 4096


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
        size = max(SMALLEST, lanes // (4 * threads))
        self.pieces = [(first, min(first + size, lanes)) for first in range(0, lanes, size)]
        self.times = [0.0, 0.0]
        self._calls, self._next_trial, self._pause = 0, 0, RETRY

    @classmethod
    def for_lanes(cls, lanes: int, threads: int | None) -> "Split | None":
        """A split for that many lanes; None where one thread does it all."""
        if threads is not None and (isinstance(threads, bool) or threads < 1):
            raise InvalidArgument(f"threads: expected a whole number above 0, or None, got {shorten(threads)}")
        most = min(cores() if threads is None else threads, lanes // SMALLEST)
        return cls(lanes, most) if most > 1 else None

    @property
    def splits(self) -> bool:
        """Whether the next step would be split, trials aside."""
        return 0.0 < self.times[1] < self.times[0]

    def run(self, loop: Callable[..., int], rest: tuple[Any, ...]) -> int:
        """Run the loop over all lanes; what it counts, or -1 where it refused."""
        way = self._way()
        start = perf_counter()
        found = self._spread(loop, rest) if way else loop(0, self.lanes, *rest)
        took = perf_counter() - start
        self.times[way] = took if not self.times[way] else self.times[way] + WEIGHT * (took - self.times[way])
        return found

    def _way(self) -> int:
        """1 to split, 0 to stay serial."""
        self._calls += 1
        if self._calls <= 2 * TRIALS:
            return self._calls % 2
        better = int(self.splits)
        if self._calls >= self._next_trial:
            worse = self.times[1 - better] / max(self.times[better], 1e-9)
            self._pause = min(RARELY, int(RETRY * max(1.0, worse * worse * worse)))
            self._next_trial = self._calls + self._pause
            return 1 - better
        return better

    def _spread(self, loop: Callable[..., int], rest: tuple[Any, ...]) -> int:
        job = _Job(loop, rest, self.pieces)
        _team(self.threads - 1).post(job, self.threads - 1)
        job.work()
        return job.result()


class _Job:
    """Pieces that are taken one after another, by whoever comes."""

    def __init__(self, loop: Callable[..., int], rest: tuple[Any, ...], pieces: list[tuple[int, int]]) -> None:
        self.loop, self.rest, self.pieces = loop, rest, pieces
        self.take = count().__next__
        self.counts: list[int] = []
        self.error: BaseException | None = None
        self.left = len(pieces)
        self.lock, self.over = threading.Lock(), threading.Lock()
        self.over.acquire()

    def work(self) -> None:
        while (piece := self.take()) < len(self.pieces):
            try:
                found = self.loop(*self.pieces[piece], *self.rest)
            except BaseException as error:
                found, self.error = 0, error
            with self.lock:
                self.counts.append(found)
                self.left -= 1
                if not self.left:
                    self.over.release()

    def result(self) -> int:
        self.over.acquire()
        if self.error is not None:
            raise self.error
        return -1 if min(self.counts) < 0 else sum(self.counts)


class _Team:
    """Threads of this process that wait for jobs; shared by all batches."""

    def __init__(self) -> None:
        self.jobs: SimpleQueue[_Job] = SimpleQueue()
        self.size = 0

    def post(self, job: _Job, hands: int) -> None:
        for _ in range(hands):
            self.jobs.put(job)

    def grow(self, size: int) -> None:
        while self.size < size:
            self.size += 1
            threading.Thread(target=self._serve, name=f"ludus-kernel-{self.size}", daemon=True).start()

    def _serve(self) -> None:
        while True:
            self.jobs.get().work()


_teams: dict[int, _Team] = {}


def _team(size: int) -> _Team:
    """The team of this process: threads do not survive a fork, so a child has its own."""
    team = _teams.setdefault(os.getpid(), _Team())
    team.grow(size)
    return team
