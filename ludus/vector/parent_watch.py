"""How a worker process learns that the program that started it is gone, in whichever way it went.

Each worker holds the reading end of a pipe to which nothing is ever written. When the only writer is gone, the kernel
tells: by a signal at once, and whenever somebody looks.
"""

import ctypes
import faulthandler
import fcntl
import os
import select
import signal

from ludus.vector.channel import WorkerChannel

__all__ = [
    "CLOSE_DEADLINE_S",
    "DEADLINE_SIGNAL",
    "WHERE",
    "ProgramGone",
    "arm_deadline",
    "check_parent",
    "watch_parent",
]

DEADLINE_SIGNAL = signal.SIGTRAP
"""Sent when the parent is gone; nothing else sends it. Its handler is the C library's `alarm`, see `arm_deadline`."""
CLOSE_DEADLINE_S = int(DEADLINE_SIGNAL)
"""For how many seconds lanes may go on closing when the program is gone: 5, the number of that signal."""
WHERE = signal.SIGUSR2
"""Asks a worker to write down where it is."""

_held: list[int] = []


class ProgramGone(BaseException):
    """The program that started this worker has ended."""


def watch_parent(channel: WorkerChannel) -> None:
    """Leave Ctrl-C to the program, hear at once when it is gone, and write tracebacks where it can read them."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for number in (signal.SIGTERM, signal.SIGALRM, WHERE):  # what the program does about them is not ours to do again
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
    pipe, notebook = channel.receive_file(60.0), channel.receive_file(60.0)
    if pipe is None or notebook is None:
        raise EOFError("no pipe to the parent came")
    faulthandler.enable(notebook, all_threads=False)
    faulthandler.register(WHERE, notebook, all_threads=False, chain=True)  # its own way after that: the end
    _held[:] = [pipe, os.open(f"/proc/self/fd/{pipe}", os.O_RDONLY | os.O_NONBLOCK)]
    arm_deadline()
    signal.signal(signal.SIGIO, _program_gone)
    for file, number in zip(_held, (signal.SIGIO, DEADLINE_SIGNAL), strict=True):
        fcntl.fcntl(file, fcntl.F_SETSIG, number)
        fcntl.fcntl(file, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(file, fcntl.F_SETFL, fcntl.fcntl(file, fcntl.F_GETFL) | os.O_ASYNC)
    check_parent()  # it may have gone before the signals were asked for


def arm_deadline() -> ctypes.CDLL:
    """Have `DEADLINE_SIGNAL` end this process after `CLOSE_DEADLINE_S`, even if it is lost in C code; gives libc.

    Python runs a handler of its own between two of its instructions, which such a process never reaches. So the handler
    is a C function that needs no interpreter: `alarm`, whose argument is a number of seconds until SIGALRM ends the
    process. The kernel passes a handler the number of its signal, so that number is the deadline.
    """
    libc = ctypes.CDLL(None)
    libc.signal(DEADLINE_SIGNAL, ctypes.cast(libc.alarm, ctypes.c_void_p))
    return libc


def check_parent() -> None:
    """Raise ProgramGone if it is."""
    poll = select.poll()
    poll.register(_held[0], select.POLLIN)
    if poll.poll(0):
        _program_gone()


def _program_gone(*_: object) -> None:
    signal.signal(signal.SIGIO, signal.SIG_IGN)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(CLOSE_DEADLINE_S)  # lanes that have not closed by then, or catch this exception, are ended
    raise ProgramGone
