"""`RunWriter`: rows in, a growing file out. A thread of its own compresses and writes, at least twice a second.

So a step costs the copy of its row, and a killed process loses no more than its last second.
"""

import atexit
import os
from collections.abc import Callable
from contextlib import suppress
from hashlib import blake2b
from queue import Empty, Full, Queue
from threading import Event as Signal
from threading import Thread
from time import monotonic

import msgspec
import numpy as np

from ludus.errors import TrajectoryError
from ludus.trajectory.archive import ArchiveWriter
from ludus.trajectory.block import Layout, RowBlock, StepRow, Values, layout_of
from ludus.trajectory.chunk import write_block
from ludus.trajectory.compaction import compact, worth_compacting
from ludus.trajectory.event import StoredEvent
from ludus.trajectory.header import RunHeader
from ludus.trajectory.tracker import Ended

__all__ = ["RunWriter"]

FLUSH_SECONDS = 0.4
"""How often what has come is written; a chunk takes some milliseconds more."""
MAX_WAITING_BLOCKS = 2
"""How many full blocks may wait before recording waits for the disk."""

Work = RowBlock | tuple[str, bytes] | Signal | None
"""For the thread that writes: a block that is full, a blob, a signal to give once all is written, or the end."""


class RunWriter:
    """Writes one run. All methods are for one thread.

    >>> import tempfile, ludus, numpy as np
    >>> from ludus.trajectory.header import header_of
    >>> header = header_of(ludus.make("GridWorld-v0"), "steps")
    >>> with RunWriter(tempfile.mkdtemp() + "/run.ludus", header) as writer:
    ...     writer.put(StepRow(0, {"reward": np.zeros(1)}, {}))
    ...     writer.row
    1
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        header: RunHeader,
        objects: tuple[str, ...] = (),
        *,
        at_end: Callable[[], None] | None = None,
    ) -> None:
        self._archive = ArchiveWriter(path)
        self.path = self._archive.path
        self._archive.add("run.json", msgspec.json.encode(header))
        self.row = 0
        """The row that comes next."""
        self.began = monotonic()
        self.closed = False
        self._objects, self._at_end = objects, at_end
        self._blobs: set[str] = set()
        self._number = 0
        self._block: RowBlock | None = None
        self._free: list[RowBlock] = []
        self._queue: Queue[Work] = Queue(MAX_WAITING_BLOCKS)
        self._failure: TrajectoryError | None = None
        self._thread = Thread(target=self._write, name="ludus-trajectory", daemon=True)
        self._thread.start()
        atexit.register(self.close)  # a program that forgets to close still leaves a whole file

    # --- rows ---

    def put(self, row: StepRow) -> None:
        """Take a row."""
        block = self._block
        if block is None or block.full or not block.fits(row.values):
            block = self._next(row.values)
        block.put(row)
        self.row += 1

    def block_like(self, layout: Layout, shown: dict[str, np.dtype[np.generic]]) -> RowBlock:
        """The block for the next row, which has this very layout; who fills it calls `advance`."""
        block = self._block
        if block is None or block.layout is not layout or block.full:
            block = self._begin(layout, shown)
        return block

    def advance(self, block: RowBlock, operation: int) -> None:
        """Count a row that was put into the columns themselves."""
        block.operations.append(operation)
        block.filled += 1
        self.row += 1

    def _next(self, values: Values) -> RowBlock:
        """The block for rows like this."""
        before, layout = self._block, layout_of(values)
        if before is not None:
            layout = {name: one for name, one in before.layout.items() if name not in before.shown} | layout
        return self._begin(layout, {})

    def _begin(self, layout: Layout, shown: dict[str, np.dtype[np.generic]]) -> RowBlock:
        """A block of this layout; the one before is handed over."""
        self.check()
        if self._block is not None:
            self._offer(self._block)
        for place, one in enumerate(self._free):
            if one.layout is layout or (one.layout == layout and one.shown == shown):
                block = self._free.pop(place)
                break
        else:
            block = RowBlock(layout, self._objects, shown)
        block.clear(self.row)
        self._block = block
        return block

    @property
    def ended(self) -> Ended:
        """Where episodes go that end with the last row."""
        return Ended() if self._block is None else self._block.ended

    def add_event(self, event: StoredEvent) -> None:
        """Take an event."""
        self.check()
        if self._block is None:
            raise TrajectoryError("event: expected a reset first, got none yet")
        self._block.events.append(event)

    def add_blob(self, data: bytes) -> str:
        """Take bytes, once however often they come; the name to refer to them by."""
        self.check()
        name = blake2b(data, digest_size=32).hexdigest()
        if name not in self._blobs:
            self._blobs.add(name)
            self._offer((f"blobs/{name}", bytes(data)))
        return name

    def flush(self) -> None:
        """Write what there is, and wait until it is in the file."""
        self.check()
        done = Signal()
        self._offer(done)
        while self._thread.is_alive() and not done.wait(1):
            pass
        self.check()

    @property
    def size(self) -> int:
        """How many bytes are in the file by now."""
        return self._archive.size

    @property
    def failed(self) -> bool:
        """Whether something could not be written; `check` says what."""
        return self._failure is not None

    def check(self) -> None:
        """Raise what went wrong in writing, or that the run is closed."""
        if self._failure is not None:
            raise TrajectoryError(f"{self.path}: recording stopped: {self._failure}") from self._failure
        if self.closed:
            raise TrajectoryError(f"{self.path}: expected a run that is open, got one that was closed")

    def close(self) -> None:
        """Write what is left and the directory; raises TrajectoryError if anything could not be written."""
        if self.closed:
            return
        if self._at_end is not None:
            self._at_end()
        self.closed = True
        atexit.unregister(self.close)
        if self._block is not None and self._failure is None:
            self._offer(self._block)
        self._offer(None)
        self._thread.join()
        if self._failure is not None:
            self._archive.abandon()
            raise TrajectoryError(f"{self.path}: recording stopped: {self._failure}") from self._failure
        size = self._archive.close()
        if worth_compacting(self._number, size):
            with suppress(TrajectoryError, OSError):  # the file is whole, only larger than it could be
                compact(self.path)

    def __enter__(self) -> "RunWriter":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _offer(self, work: "Work") -> None:
        while self._thread.is_alive():
            try:
                return self._queue.put(work, timeout=1)
            except Full:
                continue
        return None

    # --- the other thread ---

    def _write(self) -> None:
        try:
            while self._store_next():
                pass
        except Exception as error:
            self._failure = error if isinstance(error, TrajectoryError) else TrajectoryError(f"{error!r}")
        for work in self._drained():  # nobody is to wait for a thread that is gone
            if isinstance(work, Signal):
                work.set()

    def _store_next(self) -> bool:
        """Store what comes next, or after a while what is there of the current block; False at the end."""
        try:
            work = self._queue.get(timeout=FLUSH_SECONDS)
        except Empty:
            work = Signal()
        if not isinstance(work, Signal):
            return self._store(work)
        # The current block is looked at first and the queue after: what was handed over between comes before it.
        current = self._block
        waiting = self._drained()
        for one in waiting:
            if not self._store(one, current):
                return False
        if current is not None:
            self._store_block(current)
        for one in (work, *waiting):
            if isinstance(one, Signal):
                one.set()
        return True

    def _drained(self) -> list["Work"]:
        found: list[Work] = []
        while not self._queue.empty():
            found.append(self._queue.get())
        return found

    def _store(self, work: "Work", current: RowBlock | None = None) -> bool:
        if isinstance(work, tuple):
            self._archive.add(*work)
        elif isinstance(work, RowBlock):
            self._store_block(work)
            if work is not current and len(self._free) <= MAX_WAITING_BLOCKS:
                self._free.append(work)
        return work is not None

    def _store_block(self, block: RowBlock) -> None:
        if write_block(self._archive, self._number, block):
            self._number += 1
