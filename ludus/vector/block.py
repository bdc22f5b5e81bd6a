"""Blocks: the memory that a batch shares with its workers, a file without a name that goes when its last user does.

Each worker has a queue of what to do and a queue of what is done, both rings of numbers that one side writes and the
other reads. The numbers are what counts: semaphores only wake, and one too many does no harm.
"""

import os
from collections.abc import Callable
from mmap import mmap
from time import monotonic_ns
from typing import Any

import numpy as np

from ludus.spaces import Space
from ludus.vector.channel import WorkerChannel
from ludus.vector.columns import ValueColumn, column_of, measure
from ludus.vector.payload import pack, unpack
from ludus.vector.semaphore import SEMAPHORE_BYTES, Semaphore, fence
from ludus.vector.split import Span

__all__ = [
    "ALL",
    "ASKED",
    "DONE",
    "ISSUED",
    "MASKED",
    "PLACE",
    "PROGRESS",
    "QUIT",
    "REQUEST",
    "SharedBlock",
    "WorkQueue",
]

ALL, REQUEST, QUIT, MASKED = -1, -2, -3, -4
"""What a worker may find in its queue besides a lane to step: all of its lanes, a request in its box, the end, or those
of its lanes that the mask has."""

LANE_BOX, WORKER_BOX = 16_384, 65_536
"""Bytes of a lane's and of a worker's box; what is longer goes through the channel."""

ISSUED, ASKED, DONE, PLACE, PROGRESS = 0, 1, 8, 9, 10
"""Places of a queue's counters. The first two, how much was asked and when, are the batch's; the rest the worker's."""
EXTRA_ITEMS = 2
"""Besides every lane once, a queue holds a request and an end."""
_COUNTERS = 16
_ALIGN = 64


class SharedBlock:
    """Shared memory for lanes of these spaces, split over workers as `spans` says; made alike by every process.

    >>> from ludus.spaces import Discrete
    >>> block = SharedBlock(Discrete(3), Discrete(2), [(0, 2), (2, 4)])
    >>> block.rewards.shape, len(block.work_queues)
    ((4,), 2)
    """

    def __init__(
        self, observation_space: Space[object], action_space: Space[object], spans: list[Span], file: int | None = None
    ) -> None:
        n, new = spans[-1][1], file is None
        total = _total(observation_space, action_space, spans)
        self.file = os.memfd_create("ludus batch") if file is None else file
        if new:
            os.truncate(self.file, total)
        self._memory = memoryview(mmap(self.file, total))
        self._used = 0
        self.semaphore = Semaphore(self._view(SEMAPHORE_BYTES), new=new)
        """The batch's own: workers ring it when something is done."""
        self.work_queues = [WorkQueue(self._view, span, new) for span in spans]
        self.mailboxes = Mailboxes(self._view, n, len(spans))
        self.observations = column_of(observation_space, n, self._view)
        self.actions = column_of(action_space, n, self._view)
        self.action_codec = ValueColumn(action_space, 0)
        """For actions that shared memory does not hold as they are."""
        self.rewards = np.frombuffer(self._view(8 * n), np.float64)
        self.terminated = np.frombuffer(self._view(n), np.bool_)
        self.truncated = np.frombuffer(self._view(n), np.bool_)
        self.numbers = np.frombuffer(self._view(8 * n), np.int64)
        """Which episode each lane is in."""
        self.mask = np.frombuffer(self._view(n), np.bool_)
        """The lanes of a masked step."""

    def _view(self, size: int) -> memoryview:
        start = self._used
        self._used = start + _aligned(size)
        return self._memory[start : start + size]

    def release(self) -> None:
        """Close the file; the memory goes when nobody looks at it any more."""
        os.close(self.file)


def _aligned(size: int) -> int:
    return -(-size // _ALIGN) * _ALIGN


def _total(observation_space: Space[object], action_space: Space[object], spans: list[Span]) -> int:
    """The bytes of all views that a block takes."""
    n = spans[-1][1]
    sizes = [SEMAPHORE_BYTES, 8 * n, n, n, 8 * n, n, 8 * (n + len(spans))]
    sizes += [LANE_BOX] * n + [WORKER_BOX] * len(spans)
    for start, stop in spans:
        room = 8 * (stop - start + EXTRA_ITEMS)
        sizes += [8 * _COUNTERS, room, room, room, SEMAPHORE_BYTES]
    measure(observation_space, n, sizes.append)
    measure(action_space, n, sizes.append)
    return sum(map(_aligned, sizes))


View = Callable[[int], memoryview]
"""Gives the next so many bytes of the shared memory."""


class WorkQueue:
    """Where one worker finds what to do and leaves what is done."""

    def __init__(self, view: View, span: Span, new: bool) -> None:
        self._room = span[1] - span[0] + EXTRA_ITEMS
        self.counters = view(8 * _COUNTERS).cast("q")
        self._items = view(8 * self._room).cast("q")
        self._finished = view(8 * self._room).cast("q")
        self._times = view(8 * self._room).cast("q")
        self.semaphore = Semaphore(view(SEMAPHORE_BYTES), new=new)

    def ask(self, item: int) -> None:
        """The batch's side: one more thing to do."""
        issued = self.counters[ISSUED]
        self._items[issued % self._room] = item
        self.counters[ASKED] = monotonic_ns()
        fence()
        self.counters[ISSUED] = issued + 1
        self.semaphore.post()

    def item(self, number: int) -> int:
        """The worker's side: what to do as number `number`."""
        fence()
        return self._items[number % self._room]

    def finish(self, item: int) -> None:
        """The worker's side: one more thing done."""
        done = self.counters[DONE]
        self._finished[done % self._room] = item
        self._times[done % self._room] = monotonic_ns()
        fence()
        self.counters[DONE] = done + 1

    def finished(self, taken: int) -> list[tuple[int, int]]:
        """The batch's side: what was done after the first `taken` things: when, and what it was."""
        places = [number % self._room for number in range(taken, self.counters[DONE])]
        return [(self._times[place], self._finished[place]) for place in places]

    @property
    def last_time(self) -> int:
        """When something was last done."""
        return self._times[(self.counters[DONE] - 1) % self._room]

    @property
    def waiting(self) -> bool:
        """Whether something that was asked for is not yet done."""
        return self.counters[DONE] != self.counters[ISSUED]

    def clear(self) -> None:
        """Forget what was asked for and not done: a new worker begins here."""
        self.counters[ISSUED] = self.counters[DONE]
        self.semaphore.drain()


class Mailboxes:
    """A box for one message for each lane and each worker, used in turn: a request, then its answer."""

    def __init__(self, view: View, lanes: int, workers: int) -> None:
        self.lengths = view(8 * (lanes + workers)).cast("q")
        """0: empty; -7: it is number 7 of the channel's."""
        sizes = [LANE_BOX] * lanes + [WORKER_BOX] * workers
        self._bodies = [view(size) for size in sizes]
        self._sent = 0
        self._early: dict[tuple[WorkerChannel, int], bytes] = {}

    def put(self, box: int, value: object, channel: WorkerChannel) -> None:
        """Leave a message."""
        data = pack(value)
        if len(data) <= len(self._bodies[box]):
            self._bodies[box][: len(data)] = data
            self.lengths[box] = len(data)
            return
        self._sent += 1
        channel.send(self._sent.to_bytes(8, "little") + data)
        self.lengths[box] = -self._sent

    def take(self, box: int, channel: WorkerChannel) -> Any:
        """The message, if there is one, or None; the box is empty then."""
        length = self.lengths[box]
        if not length:
            return None
        data = bytes(self._bodies[box][:length]) if length > 0 else self._received(-length, channel)
        self.lengths[box] = 0
        return unpack(data)

    def _received(self, number: int, channel: WorkerChannel) -> bytes:
        """A long message, which was sent before its notice; others that come first are kept."""
        while (channel, number) not in self._early:
            data = channel.receive(0.0)
            if data is None:
                raise EOFError(f"message {number} was taken before")
            self._early[channel, int.from_bytes(data[:8], "little")] = data[8:]
        return self._early.pop((channel, number))
