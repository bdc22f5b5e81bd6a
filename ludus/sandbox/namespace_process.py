"""A tree in namespaces: its first process inside is the one to kill, and the kernel kills the rest with it."""

import os
import re
import signal
import threading
from contextlib import suppress

from ludus.sandbox.backend import Guarantees
from ludus.sandbox.cgroup import Cgroup
from ludus.sandbox.local_process import LocalProcess
from ludus.sandbox.policy import Limits
from ludus.sandbox.proxy import Proxy
from ludus.sandbox.strays import end_orphans
from ludus.sandbox.streams import Streams
from ludus.sandbox.tree import names_in_memory
from ludus.sandbox.watch import watcher

__all__ = ["NamespaceProcess"]

FIRST = re.compile(rb'"child-pid": (\d+)')
ENDED = re.compile(rb'"exit-code": (\d+)')


class NamespaceProcess(LocalProcess):
    """What `bwrap` tells through its status pipe: the first process inside, and that the command was executed."""

    def __init__(
        self,
        pid: int,
        streams: Streams,
        limits: Limits,
        guarantees: Guarantees,
        cgroup: Cgroup | None,
        *,
        status: int,
        proxy: Proxy | None,
    ) -> None:
        self._status, self._received, self._proxy = status, b"", proxy
        self._first: int | None = None
        self._first_descriptor: int | None = None
        self._killed = False
        self._lock = threading.Lock()
        os.set_blocking(status, False)
        super().__init__(pid, streams, limits, guarantees, cgroup)

    def _watch(self) -> None:
        watcher().add(self._status, self._listen)
        super()._watch()

    def _listen(self) -> None:
        """The status pipe has something, or was closed by all who held it."""
        with suppress(BlockingIOError):
            some = os.read(self._status, 4096)
            self._received += some
            if not some:
                self._hang_up()
        found = FIRST.search(self._received)
        if found is not None and self._first is None:
            self._meet(int(found[1]))

    def _meet(self, first: int) -> None:
        """Hold on to the first process inside; it is ours as long as its parent is, which only we can bury."""
        with self._lock, suppress(OSError):
            descriptor = os.pidfd_open(first)
            if _parent(first) != self.pid:
                os.close(descriptor)
                return
            self._first, self._first_descriptor = first, descriptor
        if self._killed:
            self._signal()

    def _hang_up(self) -> None:
        if self._status >= 0:
            watcher().drop(self._status)
            os.close(self._status)
            self._status = -1

    def _root(self) -> int | None:
        return self._first

    def _names(self) -> int:
        return 0 if self._first is None else names_in_memory(self._first)

    def _signal(self) -> None:
        with self._lock:
            self._killed = True
            if self._first_descriptor is not None:
                with suppress(ProcessLookupError):  # it has ended, which is about to be reported
                    signal.pidfd_send_signal(self._first_descriptor, signal.SIGKILL)
            elif self._ended.is_set():
                return
            elif self.cgroup is not None:  # before there is a first one; else as soon as there is
                self.cgroup.kill()
        self._go_on()

    def _end_first(self) -> None:
        """What was to bury it was killed; it may not have asked yet to be killed along."""
        with self._lock:
            if self._first_descriptor is not None:
                with suppress(ProcessLookupError):
                    signal.pidfd_send_signal(self._first_descriptor, signal.SIGKILL)
                return
        end_orphans()

    def _exit_code(self, code: int) -> int:
        if self._proxy is not None:
            self._proxy.close()
        while self._status >= 0:
            length = len(self._received)
            self._listen()
            if len(self._received) == length:
                self._hang_up()
        if code < 0:
            self._end_first()
        with self._lock:
            if self._first_descriptor is not None:
                os.close(self._first_descriptor)
                self._first_descriptor = None
        ended = ENDED.search(self._received)
        if ended is not None:
            status = int(ended[1])
            return 128 - status if 128 < status < 128 + signal.NSIG else status
        if self._killed or code < 0:  # by us; or with its whole cgroup, which ran out of memory; or by somebody
            return -signal.SIGKILL
        self._reason = f"bwrap ended with {code} before it; see what it wrote to stderr"
        return code


def _parent(pid: int) -> int:
    with open(f"/proc/{pid}/stat", encoding="utf8", errors="replace") as file:
        return int(file.read().rpartition(")")[2].split()[1])
