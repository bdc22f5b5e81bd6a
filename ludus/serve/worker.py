"""A worker: one of several server processes that share an address. It ends with its supervisor, however that ends."""

import asyncio
import ctypes
import os
import shutil
import signal
import socket
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

from ludus.serve.engine import Engine
from ludus.serve.peers import Peers
from ludus.serve.tally import Tally

__all__ = ["Place", "work"]

PR_SET_PDEATHSIG = 1
GRACE = 5
"""Seconds to end in order once the supervisor is gone."""
LAST_RESORT = signal.Signals(GRACE)
"""A signal whose number is GRACE: its handler is the C library's `alarm`, which needs no interpreter that listens."""


class Place(NamedTuple):
    """What the supervisor made for its workers."""

    folder: str
    """Private; holds the sockets by which they reach each other."""
    paths: tuple[str, ...]
    listener: socket.socket
    """Shared by all."""
    inner: tuple[socket.socket, ...]
    """One for each, at its path."""
    lifeline: int
    """The reading end of a pipe; at its end, the supervisor is gone."""
    tally: Tally

    def peers(self, number: int) -> Peers:
        """The others as one of them sees them, at the beginning of its life."""
        self.tally.forget(number)
        return Peers(number, self.paths, self.tally)


Engines = Callable[[Peers, Callable[[], Any]], tuple[Engine, Engine]]
"""Makes what serves the world and what serves the other workers; the second argument is called when the first is up."""


def work(engines: Engines, place: Place, number: int, told: int) -> None:
    """Serve until SIGTERM, or until the supervisor is gone; `told` is written to when all is up."""
    _end_with_supervisor()
    outer, inner = engines(place.peers(number), lambda: os.write(told, b"x"))
    signal.signal(signal.SIGTERM, lambda *_: outer.stop())
    threading.Thread(target=_watch, args=(place, outer), name="ludus-lifeline", daemon=True).start()
    factory: Any = outer.config.get_loop_factory()
    with asyncio.Runner(loop_factory=factory) as runner:
        runner.run(_serve(place, number, outer, inner))


async def _serve(place: Place, number: int, outer: Engine, inner: Engine) -> None:
    """Both engines: what comes from outside ends first, since its sessions may be in use by other workers."""
    within = asyncio.ensure_future(inner.serve([place.inner[number]]))
    try:
        await outer.serve([place.listener])
    finally:
        inner.stop()
        await within


def _end_with_supervisor() -> None:
    libc = ctypes.CDLL(None)
    libc.signal(LAST_RESORT, ctypes.cast(libc.alarm, ctypes.c_void_p))
    libc.prctl(PR_SET_PDEATHSIG, LAST_RESORT, 0, 0, 0)


def _watch(place: Place, engine: Engine) -> None:
    """Wait for the end of the supervisor; then end in order, and leave nothing behind."""
    os.read(place.lifeline, 1)
    signal.alarm(GRACE)
    shutil.rmtree(place.folder, ignore_errors=True)
    engine.stop()
