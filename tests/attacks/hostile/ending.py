"""Endings: environments that hang, leave, fall over, flood, or take all there is, in the middle of a step."""

import _thread
import errno
import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from tests.attacks.hostile.channel import LIFE, descriptor, hang

__all__ = ["ENDINGS", "FLOODS"]


def spin(path: Any) -> None:
    """Use the processor, deaf to signals."""
    del path
    for number in set(range(1, signal.NSIG)) - {signal.SIGKILL, signal.SIGSTOP}:
        with suppress(OSError, ValueError):  # those of the C library
            signal.signal(number, signal.SIG_IGN)
    end = time.monotonic() + LIFE
    while time.monotonic() < end:
        pass


def leave(path: Any) -> None:
    """Leave as a program does."""
    del path
    sys.exit(4)


def interrupt(path: Any) -> None:
    """Raise what a user's interrupt raises."""
    del path
    raise KeyboardInterrupt


def orphan(path: Any) -> None:
    """End, and leave somebody behind who holds the channel."""
    del path
    if os.fork():
        os._exit(0)
    os.setsid()
    hang()


def half_close(path: Any) -> None:
    """Close the channel, and stay."""
    del path
    with socket.socket(fileno=os.dup(descriptor())) as link:
        link.shutdown(socket.SHUT_RDWR)
    hang()


def take_memory(path: Any) -> None:
    """Take more memory than there is."""
    del path
    try:
        held = [b"x" * (1 << 20) for _ in range(400)]
    except MemoryError:  # each process is limited, rather than the tree
        raise OSError(errno.ENOMEM, "refused") from None
    raise RuntimeError(len(held))


def start_processes(path: Any) -> None:
    """Start processes until that is refused, and answer nothing."""
    del path
    with suppress(OSError):
        for _ in range(100):
            if os.fork() == 0:
                hang()
    hang()


def write_much(path: Any) -> None:
    """Fill both outputs."""
    del path
    for _ in range(256):
        with suppress(BlockingIOError):
            os.write(1, b"o" * 65536)
        with suppress(BlockingIOError):
            os.write(2, b"e" * 65536)
    sys.stderr.write("e" * (1 << 20))


def storm(path: Any) -> None:
    """Send signals without end to oneself, and to whoever looks after one; those that kill are left out."""
    del path
    parent = os.getppid()
    gentle = [signal.SIGUSR1, signal.SIGUSR2, signal.SIGWINCH, signal.SIGCHLD, signal.SIGURG, signal.SIGCONT]
    for number in gentle:
        signal.signal(number, signal.SIG_IGN)
    for number in gentle * 300:
        os.kill(os.getpid(), number)
        with suppress(OSError):
            os.kill(parent, number)


def many_threads(path: Any) -> None:
    """Start threads that never end.

    Not by `threading.Thread`, which waits until each has begun: one that finds no memory to begin with never says so,
    and where the addresses of a process are limited, about one time in a hundred the last is such a one.
    """
    del path
    with suppress(RuntimeError):
        for _ in range(200):
            _thread.start_new_thread(time.sleep, (LIFE,))


ENDINGS: dict[str, Callable[[Any], None]] = {
    "hang": lambda _: hang(),
    "spin": spin,
    "stop": lambda _: os.kill(os.getpid(), signal.SIGSTOP),
    "exit": lambda _: os._exit(3),
    "leave": leave,
    "interrupt": interrupt,
    "kill": lambda _: os.kill(os.getpid(), signal.SIGKILL),
    "fault": lambda _: os.kill(os.getpid(), signal.SIGSEGV),
    "orphan": orphan,
    "half-close": half_close,
    "memory": take_memory,
    "processes": start_processes,
}
"""By name: none of them answers."""

FLOODS: dict[str, Callable[[Any], None]] = {"outputs": write_much, "signals": storm, "threads": many_threads}
"""By name: after them the step is answered as it should be."""
