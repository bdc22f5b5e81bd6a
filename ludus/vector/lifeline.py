"""Lifelines: how a worker process learns that its program is gone, in whichever way it went.

Each worker holds the reading end of a pipe to which nothing is ever written. When the only writer is gone, the kernel
tells: by a signal at once, and whenever somebody looks.
"""

import ctypes
import faulthandler
import fcntl
import os
import select
import signal
from typing import Any

from ludus.vector.channel import Channel

__all__ = ["WHERE", "ProgramGone", "check_lifeline", "hold_lifeline"]

GRACE = 5
"""For how many seconds lanes may go on closing when the program is gone."""
LAST_RESORT = signal.Signals(GRACE)
"""A signal whose number is GRACE, and which nothing else sends: its handler is the C library's own `alarm`."""
WHERE = signal.SIGUSR2
"""Asks a worker to write down where it is."""

_held: list[int] = []


class ProgramGone(BaseException):
    """The program that started this worker has ended."""


def hold_lifeline(channel: Channel) -> None:
    """Leave Ctrl-C to the program, hear at once when it is gone, and write tracebacks where it can read them."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for number in (signal.SIGTERM, signal.SIGALRM):  # what the program does about them is not ours to do again
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
    lifeline, notebook = channel.receive_file(60.0), channel.receive_file(60.0)
    if lifeline is None or notebook is None:
        raise EOFError("no lifeline came")
    faulthandler.enable(notebook, all_threads=False)
    faulthandler.register(WHERE, notebook, all_threads=False)
    _held[:] = [lifeline, os.open(f"/proc/self/fd/{lifeline}", os.O_RDONLY | os.O_NONBLOCK)]
    # Python runs its handler between two instructions of its own. A lane that is lost in C code never gets there: for
    # it the kernel calls `alarm(GRACE)`, whose signal ends the process.
    libc = ctypes.CDLL(None)
    libc.signal(LAST_RESORT, ctypes.cast(libc.alarm, ctypes.c_void_p))
    signal.signal(signal.SIGIO, _program_gone)
    for file, number in zip(_held, (signal.SIGIO, LAST_RESORT), strict=True):
        fcntl.fcntl(file, fcntl.F_SETSIG, number)
        fcntl.fcntl(file, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(file, fcntl.F_SETFL, fcntl.fcntl(file, fcntl.F_GETFL) | os.O_ASYNC)
    check_lifeline()  # it may have gone before the signals were asked for


def check_lifeline() -> None:
    """Raise ProgramGone if it is."""
    poll = select.poll()
    poll.register(_held[0], select.POLLIN)
    if poll.poll(0):
        _program_gone()


def _program_gone(*_: Any) -> None:
    signal.signal(signal.SIGIO, signal.SIG_IGN)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(GRACE)  # lanes that have not closed by then, or catch this exception, are ended
    raise ProgramGone
