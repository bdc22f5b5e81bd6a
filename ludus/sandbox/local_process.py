"""`LocalProcess`: what every backend of one machine shares about a running tree: its end, limits and measures."""

import atexit
import os
import signal
import threading
import time
import weakref
from abc import abstractmethod
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING

import msgspec

from ludus.errors import SandboxError
from ludus.sandbox.backend import Guarantees, SandboxedProcess, Usage
from ludus.sandbox.cgroup import Cgroup
from ludus.sandbox.policy import Limits
from ludus.sandbox.streams import Streams
from ludus.sandbox.tree import TreeSample, files_in_memory, sample, shared_memory
from ludus.sandbox.watch import Alarm, watcher

if TYPE_CHECKING:
    import resource

__all__ = ["LocalProcess"]

KILL_TIMEOUT_S = 10.0
"""Seconds that a killed tree may take to be gone: a process in the middle of a disk write cannot be hurried."""
MIN_CPU_CHECK_INTERVAL_S = 0.01
"""Seconds between two looks at the processor time, at least."""
CGROUP_REMOVAL_RETRY_S = 0.001
"""Seconds between two attempts to remove a cgroup whose processes are on their way out."""
TREE_CHECK_INTERVAL_S = 0.2
"""Seconds between two looks at a tree that no cgroup measures."""
EXIT_POLL_INTERVAL_S = 0.02
"""Seconds between two looks at a process, where the system cannot tell when it ends."""
DISK_BLOCK_BYTES = 512
SIGNALLED = {-signal.SIGXFSZ: "file_size", -signal.SIGXCPU: "cpu"}
"""Limits by the signal that the kernel ends a process with."""

_under_way: "weakref.WeakSet[LocalProcess]" = weakref.WeakSet()


@cache
def _close_at_exit() -> None:
    """A process that ends in good order leaves no cgroup, also where somebody forgot to close."""
    atexit.register(_close_all)


def _close_all() -> None:
    for running in list(_under_way):
        if running.process == os.getpid():  # a fork has inherited the object, not the tree
            running.close()


class LocalProcess(SandboxedProcess):
    """A tree of processes below `pid`, watched by the watcher's thread from `begin` to its end."""

    def __init__(
        self, pid: int, streams: Streams, limits: Limits, guarantees: Guarantees, cgroup: Cgroup | None
    ) -> None:
        self.pid, self.guarantees, self.limits, self.cgroup = pid, guarantees, limits, cgroup
        self.process = os.getpid()
        self.stdin, self.stdout, self.stderr = streams.files
        self._streams = streams
        self._began = time.monotonic()
        self._ended = threading.Event()
        self._removed = threading.Event()
        self._alarms: dict[str, Alarm] = {}
        self._code: int | None = None
        self._limit: str | None = None
        self._reason: str | None = None
        self._seen = TreeSample()
        self._final: Usage | None = None
        self._descriptor = os.pidfd_open(pid) if hasattr(os, "pidfd_open") else None
        self._descriptor_lock = threading.Lock()
        """Any thread has it go on, the watcher's closes it: its number may be another's then."""
        _under_way.add(self)
        _close_at_exit()
        watcher().call(self._watch)

    @abstractmethod
    def _signal(self) -> None:
        """Have the whole tree killed; called in any thread, and must not wait."""

    @abstractmethod
    def _exit_code(self, code: int) -> int:
        """The command's code, given that of our own process; sets `_reason` where the command never started."""

    def _root(self) -> int | None:
        """The process below which all of the tree is."""
        return self.pid

    # Waiting and killing, in any thread.

    def wait(self, timeout: float | None = None) -> int | None:
        if not self._ended.wait(timeout):
            return None
        if self._reason is not None:
            raise SandboxError(f"sandbox: expected the command to be started, got: {self._reason}")
        return self._code

    def kill(self) -> None:
        if self._ended.is_set():
            return
        self._signal()
        if not self._ended.wait(KILL_TIMEOUT_S):
            raise SandboxError(f"sandbox: expected process {self.pid} to be gone, got one that survives being killed")

    def close(self) -> None:
        self.kill()
        self._streams.close()
        self._removed.wait(KILL_TIMEOUT_S)

    def usage(self) -> Usage:
        now = self._measure(self._look()) if self._final is None else None
        return self._final or now or Usage()  # it may have ended while it was looked at

    # Watching, in the watcher's thread.

    def _watch(self) -> None:
        if self._descriptor is not None:
            watcher().add(self._descriptor, self._exited)
        else:
            self._poll()
        if self.limits.wall is not None:
            self._at("wall", self._began + self.limits.wall, lambda: self._stop("wall"))
        if self.limits.cpu is not None:
            self._check_cpu()
        if self.cgroup is None or not self.cgroup.counts_memory:
            self._look_again()
        elif (oom_event := self.cgroup.oom_descriptor()) is not None:
            watcher().add(oom_event, self._check_oom)

    def _at(self, name: str, when: float, function: Callable[[], None]) -> None:
        self._alarms[name] = watcher().at(when, function)

    def _stop(self, limit: str) -> None:
        if not self._ended.is_set() and self._limit is None:
            self._limit = limit
            self._signal()

    def _check_cpu(self) -> None:
        left = (self.limits.cpu or 0.0) - (self.usage().cpu or 0.0)
        if left <= 0:
            self._stop("cpu")
        else:
            self._at(
                "cpu", time.monotonic() + max(MIN_CPU_CHECK_INTERVAL_S, left / (os.cpu_count() or 1)), self._check_cpu
            )

    def _check_oom(self) -> None:
        if self.cgroup is not None and self.cgroup.ran_out():
            self._stop("memory")

    def _look_again(self) -> None:
        root, now = self._root(), self._look_now()
        self._seen = self._seen.joined(now)
        if root is not None and self._takes_too_much(root, now.memory):
            self._stop("memory")
        self._at("look", time.monotonic() + TREE_CHECK_INTERVAL_S, self._look_again)

    def _poll(self) -> None:
        if not self._exited():
            self._at("poll", time.monotonic() + EXIT_POLL_INTERVAL_S, self._poll)

    def _exited(self) -> bool:
        try:
            pid, status, used = os.wait4(self.pid, os.WNOHANG)
        except ChildProcessError:  # somebody else waits for every child of this process
            pid, status, used = self.pid, 0, None
        if pid == 0:
            return False
        self._release()
        try:
            self._code = self._exit_code(os.waitstatus_to_exitcode(status))
            self._limit = self._limit or SIGNALLED.get(self._code)
            self._finish(used)
        finally:
            self._ended.set()
            self._remove()
        return True

    def _release(self) -> None:
        for alarm in self._alarms.values():
            alarm.cancel()
        with self._descriptor_lock:
            descriptor, self._descriptor = self._descriptor, None
            if descriptor is not None:
                watcher().drop(descriptor)
                os.close(descriptor)

    def _go_on(self) -> None:
        """Have our own process go on, if somebody has stopped it: it buries the others, and tells how they ended."""
        with self._descriptor_lock, suppress(ProcessLookupError):
            if self._descriptor is not None:
                signal.pidfd_send_signal(self._descriptor, signal.SIGCONT)

    def _finish(self, used: "resource.struct_rusage | None") -> None:
        """Take the last measures."""
        if used is not None:
            self._seen = self._seen.joined(
                TreeSample(
                    used.ru_utime + used.ru_stime,
                    0,
                    0,
                    used.ru_inblock * DISK_BLOCK_BYTES,
                    used.ru_oublock * DISK_BLOCK_BYTES,
                )
            )
        self._final = self._measure(self._seen)
        if self.cgroup is not None and (oom_event := self.cgroup.oom_descriptor()) is not None:
            watcher().drop(oom_event)

    def _remove(self) -> None:
        """Remove the cgroup, as soon as the kernel has let go of the processes that were in it."""
        if self.cgroup is None or self.cgroup.remove():
            self._removed.set()
        else:
            watcher().at(time.monotonic() + CGROUP_REMOVAL_RETRY_S, self._remove)

    def _takes_too_much(self, root: int, resident: int) -> bool:
        """Whether a tree that no cgroup counts has more memory than there may be: first by what is quickly read."""
        if self.limits.memory is None:
            return False
        left = self.limits.memory - self._names()
        if resident + files_in_memory(root) <= left:
            return False
        return shared_memory(root) > left

    def _names(self) -> int:
        """What the names of files take that are in memory; 0 where folders are on a disk, and watched there."""
        return 0

    def _look(self) -> TreeSample:
        self._seen = self._seen.joined(self._look_now())
        return self._seen

    def _look_now(self) -> TreeSample:
        root = self._root()
        return TreeSample() if root is None else sample(root)

    def _measure(self, seen: TreeSample) -> Usage:
        usage = Usage(
            wall=time.monotonic() - self._began,
            cpu=seen.cpu,
            peak_memory=seen.memory or None,
            processes=seen.processes or None,
            read_bytes=seen.read,
            written_bytes=seen.written,
            waited=seen.waited,
            limit=self._limit,
        )
        if self.cgroup is None:
            return usage
        return msgspec.structs.replace(usage, **self.cgroup.measures(self._limit))
