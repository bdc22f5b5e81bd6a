"""Starting a program with exactly the descriptors it is given, from a thread that lives as long as this process.

The kernel's "die with your parent" means the thread that started a child: a child of a short-lived thread would be
killed in the middle of its work. And between `vfork` and `exec` only the C library may act, so no Python runs there.
"""

import contextlib
import ctypes
import os
import queue
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import TypeVar

from ludus.sandbox.strays import SPAWNING, owner_variable, sweep_processes

__all__ = ["spawn"]

T = TypeVar("T")
FIRST_HIGH_DESCRIPTOR = 64
"""Descriptors are first moved up here, so that none is overwritten while they are put in place."""
SETSIGDEF, SETSIGMASK, SETSID = 0x04, 0x08, 0x80
PR_SET_NAME = 15
OPAQUE_BYTES = 512
"""Bytes that hold any C library's posix_spawn structures and signal sets."""
DEFAULTS = [number for number in range(1, signal.NSIG) if number not in (signal.SIGKILL, signal.SIGSTOP, 32, 33)]


def spawn(argv: Sequence[str], environment: Mapping[str, str], descriptors: Mapping[int, int]) -> int:
    """Start a program in a session of its own, with `descriptors` (number there → number here) and no other; its pid.

    Beside its environment it has the name of its owner, by which it is found where that ends while it begins. OSError
    where it cannot be executed.
    """
    environment = {**owner_variable(), **environment}
    moved: dict[int, int] = {}
    try:
        for there, here in descriptors.items():
            moved[there] = _moved_up(here)
        start = _spawn_exactly if _closes_the_rest() else _spawn_closing
        return _long_lived().call(lambda: start(argv, environment, moved))
    finally:
        for descriptor in moved.values():
            os.close(descriptor)


def _moved_up(descriptor: int) -> int:
    import fcntl  # not on every system that imports this

    return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, FIRST_HIGH_DESCRIPTOR)


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


@cache
def _closes_the_rest() -> bool:
    return sys.platform == "linux" and hasattr(_libc(), "posix_spawn_file_actions_addclosefrom_np")


def _spawn_exactly(argv: Sequence[str], environment: Mapping[str, str], moved: Mapping[int, int]) -> int:
    """The C library closes everything else in the child itself: nothing that another thread opens slips through."""
    libc = _libc()
    actions, attributes, empty, full = (ctypes.create_string_buffer(OPAQUE_BYTES) for _ in range(4))
    _check(libc.posix_spawn_file_actions_init(actions))
    _check(libc.posix_spawnattr_init(attributes))
    try:
        for there, here in moved.items():
            _check(libc.posix_spawn_file_actions_adddup2(actions, here, there))
        for number in range(max(moved) + 1):
            if number not in moved:
                _check(libc.posix_spawn_file_actions_addclose(actions, number))
        _check(libc.posix_spawn_file_actions_addclosefrom_np(actions, max(moved) + 1))
        libc.sigemptyset(empty)
        libc.sigfillset(full)
        _check(libc.posix_spawnattr_setsigmask(attributes, empty))
        _check(libc.posix_spawnattr_setsigdefault(attributes, full))
        _check(libc.posix_spawnattr_setflags(attributes, ctypes.c_short(SETSIGDEF | SETSIGMASK | SETSID)))
        pid = ctypes.c_int()
        path, arguments, variables = os.fsencode(argv[0]), _strings(argv), _strings(map("=".join, environment.items()))
        _check(libc.posix_spawn(ctypes.byref(pid), path, actions, attributes, arguments, variables), argv[0])
        return pid.value
    finally:
        libc.posix_spawnattr_destroy(attributes)
        libc.posix_spawn_file_actions_destroy(actions)


def _check(error: int, name: str | None = None) -> None:
    if error:
        raise OSError(error, os.strerror(error), name)


def _strings(texts: Iterable[str]) -> "ctypes.Array[ctypes.c_char_p]":
    encoded = [os.fsencode(text) for text in texts]
    return (ctypes.c_char_p * (len(encoded) + 1))(*encoded, None)


def _spawn_closing(argv: Sequence[str], environment: Mapping[str, str], moved: Mapping[int, int]) -> int:
    """Where the C library cannot close the rest: what is inheritable now is closed by name."""
    actions: list[tuple[int, int] | tuple[int, int, int]] = [
        (os.POSIX_SPAWN_DUP2, here, there) for there, here in moved.items()
    ]
    actions += [(os.POSIX_SPAWN_CLOSE, number) for number in _inheritable() if number not in moved]
    return os.posix_spawn(
        argv[0], list(argv), dict(environment), file_actions=actions, setsid=True, setsigmask=[], setsigdef=DEFAULTS
    )


def _inheritable() -> list[int]:
    found: list[int] = []
    for name in os.listdir("/dev/fd"):
        with contextlib.suppress(OSError):  # the one that listed the folder
            if os.get_inheritable(int(name)):
                found.append(int(name))
    return found


class _LongLived(threading.Thread):
    """Calls functions one after the other, in a thread that ends with the process."""

    def __init__(self) -> None:
        super().__init__(name="ludus-sandbox-spawn", daemon=True)
        self._calls: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self.process = os.getpid()
        self.start()

    def run(self) -> None:
        if sys.platform == "linux":
            _libc().prctl(PR_SET_NAME, SPAWNING.encode(), 0, 0, 0)
        self._calls.get()()
        sweep_processes()  # once, and after the caller that waits is served
        while True:
            self._calls.get()()

    def call(self, function: Callable[[], T]) -> T:
        done = threading.Event()
        outcome: list[T] = []
        failure: list[BaseException] = []

        def carry_out() -> None:
            try:
                outcome.append(function())
            except BaseException as error:  # raised again where it was asked for
                failure.append(error)
            done.set()

        self._calls.put(carry_out)
        done.wait()
        if failure:
            raise failure[0]
        return outcome[0]


_thread: _LongLived | None = None
_lock = threading.Lock()


def _long_lived() -> _LongLived:
    """The thread of this process: a fork has none of its parent's."""
    global _thread
    with _lock:
        if _thread is None or _thread.process != os.getpid():
            _thread = _LongLived()
        return _thread
