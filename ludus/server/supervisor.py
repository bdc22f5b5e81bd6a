"""The supervisor: starts the workers of one server, starts again those that die, and stops them all."""

import gc
import os
import select
import shutil
import signal
import socket
import sys
import traceback
import warnings
from collections.abc import Callable
from contextlib import suppress
from time import monotonic, sleep
from typing import NoReturn

from ludus.errors import ServiceError
from ludus.sandbox.cgroup import sweep
from ludus.sandbox.leftovers import private_folder, sweep_folders
from ludus.sandbox.strays import sweep_processes
from ludus.server.listen_config import ListenConfig, private_socket
from ludus.server.logs import event
from ludus.server.session_counts import SessionCounts
from ludus.server.wake_up import WakeUp
from ludus.server.worker import WorkerSockets

__all__ = ["WorkerSupervisor"]

STOP_TIMEOUT_S = 15.0
"""Seconds for the workers to end, before they are killed."""
SWEEP_TIMEOUT_S = 5.0
"""Seconds for the kernel to let go of what dead workers left."""
START_TIMEOUT_S = 60.0
FIRST_PAUSE, LONGEST_PAUSE = 0.05, 5.0
"""Seconds before a worker that died is started again: each time twice as long, until one lives for MIN_LIFE_S."""
MIN_LIFE_S = 10.0
SIGNALS = (signal.SIGINT, signal.SIGTERM)

Work = Callable[[WorkerSockets, int, int], None]
"""What a worker does: its place, its number, and the descriptor to which it writes that number when it is up."""


class WorkerSupervisor:
    """Runs `work` in a process for each share of `session_counts`; they share a listening socket.

    They are forked, so that a worker is there within milliseconds, and shares the memory of what was loaded before.
    At the end of the descriptor `until`, it stops.
    """

    def __init__(
        self, work: Work, session_counts: SessionCounts, listening: ListenConfig, until: int | None = None
    ) -> None:
        self.work, self.session_counts, self.listening = work, session_counts, listening
        self.workers = workers = len(session_counts.shares)
        self._stop = WakeUp()
        self._processes: dict[int, ServerWorker] = {}
        self._pauses = [FIRST_PAUSE] * workers
        self._stops = (self._stop.fileno,) if until is None else (self._stop.fileno, until)
        self._due: dict[int, float] = {}
        """When a worker that died is to be started again."""

    def stop(self, *_: object) -> None:
        """End it: from a signal, or from another thread; nothing where it has ended."""
        self._stop.call()

    def run(self, ready: Callable[[str], object] = lambda _: None) -> None:
        """Supervise until `stop`; `ready` is called with the address when every worker is up."""
        listener = self.listening.bind()
        folder = private_folder("serve")
        supervisor_pipe, held = os.pipe2(os.O_CLOEXEC)
        up_pipe, telling = os.pipe2(os.O_CLOEXEC)
        paths = tuple(os.path.join(folder, str(number)) for number in range(self.workers))
        inner: list[socket.socket] = []
        frozen = gc.get_freeze_count()
        try:
            inner += [private_socket(path) for path in paths]
            self._place = WorkerSockets(folder, paths, listener, tuple(inner), supervisor_pipe, self.session_counts)
            self._ours, self._telling = (held, up_pipe, *self._stop.descriptors), telling
            gc.freeze()  # what is shared stays shared: the collector does not write to it
            for number in range(self.workers):
                self._start(number)
            self._wait_until_up(up_pipe)
            ready(self.listening.url(listener))
            self._watch()
        finally:
            self._end_all()
            if not frozen:  # else it would be undone what the program around us did
                gc.unfreeze()
            for one in (listener, *inner):
                one.close()
            self._stop.close()
            for descriptor in (supervisor_pipe, held, up_pipe, telling):
                os.close(descriptor)
            shutil.rmtree(folder, ignore_errors=True)
            self._sweep()

    # --- workers ---

    def _start(self, number: int) -> None:
        sys.stdout.flush()
        sys.stderr.flush()
        # Blocked meanwhile: a signal meant for the new one is not to meet our own handlers in it.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
        with warnings.catch_warnings():
            # Newer Pythons warn of threads; those there are belong to libraries that look after forks themselves.
            warnings.simplefilter("ignore", DeprecationWarning)
            pid = os.fork()
        if pid == 0:
            self._live(number)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        self._processes[number] = ServerWorker(number, pid)

    def _live(self, number: int) -> NoReturn:
        """In the new process."""
        code = 1
        try:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; we are told by SIGTERM
            signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
            for descriptor in self._ours:
                os.close(descriptor)
            for other in self._processes.values():
                os.close(other.descriptor)
            self.work(self._place, number, self._telling)
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            with suppress(OSError, ValueError):
                sys.stderr.flush()
            os._exit(code)

    def _wait_until_up(self, up_pipe: int) -> None:
        """Until every worker has said so; one that ends before is a failure of all."""
        up, patience = 0, monotonic() + START_TIMEOUT_S
        while up < self.workers:
            watched = [up_pipe, *self._stops, *(one.descriptor for one in self._processes.values())]
            found, _, _ = select.select(watched, [], [], max(0.0, patience - monotonic()))
            if {*found} & {*self._stops}:
                return
            if up_pipe in found:
                up += len(os.read(up_pipe, self.workers))
            elif found or monotonic() > patience:
                raise ServiceError(f"serve: expected {self.workers} workers to begin, got {up}; its words are above")

    def _watch(self) -> None:
        while True:
            poll = select.poll()
            for descriptor in self._stops:
                poll.register(descriptor, select.POLLIN)
            for one in self._processes.values():
                poll.register(one.descriptor, select.POLLIN)
            due = min(self._due.values(), default=None)
            found = {number for number, _ in poll.poll(None if due is None else max(0.0, due - monotonic()) * 1000)}
            if found & {*self._stops}:
                return
            for one in [one for one in self._processes.values() if one.descriptor in found]:
                self._bury(one)
            for number in [number for number, when in self._due.items() if when <= monotonic()]:
                del self._due[number]
                self._sweep_dead()  # what was on its way out when it died
                self._start(number)

    def _bury(self, worker: "ServerWorker") -> None:
        """A worker died: its sessions are lost, those of the others are not."""
        del self._processes[worker.number]
        status = worker.reap()
        number = worker.number
        self._sweep_dead()  # its sandboxes end with it; their groups, and those that were beginning, do not
        if monotonic() - worker.begun > MIN_LIFE_S:
            self._pauses[number] = FIRST_PAUSE
        event("worker died", worker=number, status=status, again_in=self._pauses[number])
        self._due[number] = monotonic() + self._pauses[number]
        self._pauses[number] = min(LONGEST_PAUSE, 2 * self._pauses[number])

    @staticmethod
    def _sweep_dead() -> bool:
        """End and remove what dead workers left; False where something is still on its way out."""
        sweep_processes()
        return sweep()

    def _sweep(self) -> None:
        """Workers that were killed left groups and folders: nothing of them outlives their server."""
        patience = monotonic() + SWEEP_TIMEOUT_S
        while not self._sweep_dead() and monotonic() < patience:
            sleep(0.01)
        with suppress(OSError):
            sweep_folders()

    def _end_all(self) -> None:
        workers = list(self._processes.values())
        self._processes.clear()
        for one in workers:
            one.send(signal.SIGTERM)
        patience = monotonic() + STOP_TIMEOUT_S
        for one in workers:
            if not select.select([one.descriptor], [], [], max(0.0, patience - monotonic()))[0]:
                one.send(signal.SIGKILL)
            one.reap()


class ServerWorker:
    """A process, by a descriptor that can be waited for."""

    def __init__(self, number: int, pid: int) -> None:
        self.number, self.pid, self.begun = number, pid, monotonic()
        self.descriptor = os.pidfd_open(pid)

    def send(self, number: int) -> None:
        """Send a signal."""
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.descriptor, number)

    def reap(self) -> int:
        """Wait for its end: its exit code, negative for a signal."""
        _, status = os.waitpid(self.pid, 0)
        os.close(self.descriptor)
        return os.waitstatus_to_exitcode(status)
