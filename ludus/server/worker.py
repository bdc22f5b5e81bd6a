"""A worker: one of several server processes that share an address. It ends with its supervisor, however that ends."""

import asyncio
import fcntl
import os
import shutil
import signal
import socket
import threading
from collections.abc import Callable
from typing import NamedTuple

from ludus.server.peers import Peers
from ludus.server.session_counts import SessionCounts
from ludus.server.uvicorn_server import UvicornServer
from ludus.vector.parent_watch import CLOSE_DEADLINE_S, DEADLINE_SIGNAL, arm_deadline

__all__ = ["WorkerSockets", "work"]

PR_SET_PDEATHSIG = 1


class WorkerSockets(NamedTuple):
    """What the supervisor made for its workers."""

    folder: str
    """Private; holds the sockets by which they reach each other."""
    paths: tuple[str, ...]
    listener: socket.socket
    """Shared by all."""
    inner: tuple[socket.socket, ...]
    """One for each, at its path."""
    supervisor_pipe: int
    """The reading end of a pipe; at its end, the supervisor is gone."""
    session_counts: SessionCounts

    def peers(self, number: int) -> Peers:
        """The others as one of them sees them, at the beginning of its life."""
        self.session_counts.forget(number)
        return Peers(number, self.paths, self.session_counts)


Engines = Callable[[Peers, Callable[[], object]], tuple[UvicornServer, UvicornServer]]
"""Makes what serves the world and what serves the other workers; the second argument is called when the first is up."""


def work(engines: Engines, place: WorkerSockets, number: int, up_pipe: int) -> None:
    """Serve until SIGTERM, or until the supervisor is gone; `up_pipe` is written to when all is up."""
    _end_with_supervisor(place.supervisor_pipe)
    outer, inner = engines(place.peers(number), lambda: os.write(up_pipe, b"x"))

    def stop(*_: object) -> None:
        outer.stop()

    signal.signal(signal.SIGTERM, stop)
    threading.Thread(target=_watch, args=(place, outer), name="ludus-supervisor-watch", daemon=True).start()
    with asyncio.Runner(loop_factory=outer.config.get_loop_factory()) as runner:
        runner.run(_serve(place, number, outer, inner))


async def _serve(place: WorkerSockets, number: int, outer: UvicornServer, inner: UvicornServer) -> None:
    """Both engines: what comes from outside ends first, since its sessions may be in use by other workers."""
    within = asyncio.ensure_future(inner.serve([place.inner[number]]))
    try:
        await outer.serve([place.listener])
    finally:
        inner.stop()
        await within


def _end_with_supervisor(pipe: int) -> None:
    """Have the kernel send the deadline when the supervisor is gone, and before it let a worker that is stopped go on.

    What is sent to a stopped process waits until it goes on: the end of the pipe is announced by the signal for that.
    """
    arm_deadline().prctl(PR_SET_PDEATHSIG, DEADLINE_SIGNAL, 0, 0, 0)
    own = os.open(f"/proc/self/fd/{pipe}", os.O_RDONLY | os.O_CLOEXEC)  # the others have their own owner
    fcntl.fcntl(own, fcntl.F_SETSIG, signal.SIGCONT)
    fcntl.fcntl(own, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(own, fcntl.F_SETFL, fcntl.fcntl(own, fcntl.F_GETFL) | os.O_ASYNC)


def _watch(place: WorkerSockets, engine: UvicornServer) -> None:
    """Wait for the end of the supervisor; then end in order, and leave nothing behind."""
    os.read(place.supervisor_pipe, 1)
    signal.alarm(CLOSE_DEADLINE_S)
    shutil.rmtree(place.folder, ignore_errors=True)
    engine.stop()
