"""The first process of a container: it is handed its work, starts it, reaps, and says how it ended.

It runs inside, from its source, in whatever Python (3.9 or later) the image has; nothing of Ludus is imported here.

A folder is mounted for it, with limits, a filter of system calls (or an empty one) and a Unix socket that leads
outside. From there come a line of JSON and the descriptors of the work; back goes one line when the work has ended, and
nothing else. When the socket closes, whoever started this is gone: so it ends, and with the first process of its
namespace the kernel ends all others.
"""

import contextlib
import fcntl
import json
import os
import resource
import select
import signal
import socket
import sys
from typing import TYPE_CHECKING, NoReturn, TypedDict

if TYPE_CHECKING:
    from types import FrameType

MAX_DESCRIPTORS = 4
"""Descriptors at most: three streams and the channel."""
FIRST_SPARE_DESCRIPTOR = 16
"""Where they are kept until they are 0 to 3."""
SET_SECCOMP, FILTER = 22, 2


class StartCommand(TypedDict):
    """What is to be started, and how."""

    argv: "list[str]"
    environment: "dict[str, str]"
    folder: str


class HandedStartCommand(StartCommand):
    """The same with the places of its descriptors among those that come with it; a stream without one is empty."""

    streams: "list[int | None]"
    channel: "int | None"


def main(folder: str) -> None:
    """Put on limits and filter, connect, work, report, and stay until the other side has taken its measure."""
    limit(f"{folder}/limits")
    refuse(f"{folder}/filter")
    control = socket.socket(socket.AF_UNIX)
    control.connect(f"{folder}/control")
    work, descriptors = receive(control)
    awake, waker = os.pipe()
    os.set_blocking(awake, False)
    os.set_blocking(waker, False)
    signal.set_wakeup_fd(waker)
    signal.signal(signal.SIGCHLD, wake)
    failed, failure = os.pipe()
    child = os.fork()
    if child == 0:
        become(work, descriptors, failure)
    for one in (failure, *descriptors):
        os.close(one)
    code = watch(control, awake, child)
    end_others()
    control.sendall(b" ".join([b"%d" % code, *os.read(failed, 500).splitlines()[:1]]) + b"\n")
    control.recv(1)


def wake(signum: int, frame: "FrameType | None") -> None:
    """Nothing: a signal that has a handler wakes the descriptor that is waited for; an ignored one is not."""


def limit(path: str) -> None:
    """Set limits: a name, what holds, and what it may be raised to, on each line."""
    with open(path, encoding="ascii") as file:
        for name, soft, hard in map(str.split, file):
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (int(soft), int(hard)))


def refuse(path: str) -> None:
    """Refuse the system calls that a filter names, here and in all that is started from here."""
    if os.path.getsize(path) == 0:
        return
    import ctypes  # costs milliseconds, and is needed for nothing else

    class FilterProgram(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_void_p))

    with open(path, "rb") as file:
        steps = file.read()
    held = ctypes.create_string_buffer(steps, len(steps))
    program = FilterProgram(len(steps) // 8, ctypes.addressof(held))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(SET_SECCOMP, ctypes.c_ulong(FILTER), ctypes.byref(program), ctypes.c_ulong(0), ctypes.c_ulong(0)):
        raise OSError(ctypes.get_errno(), "the filter of system calls is refused")


def receive(control: socket.socket) -> "tuple[HandedStartCommand, list[int]]":
    """The work, and the descriptors for it, out of the way of 0 to 3."""
    text, descriptors, _, _ = socket.recv_fds(control, 65536, MAX_DESCRIPTORS)
    moved = [fcntl.fcntl(one, fcntl.F_DUPFD_CLOEXEC, FIRST_SPARE_DESCRIPTOR) for one in descriptors]
    for one in descriptors:
        os.close(one)
    while not text.endswith(b"\n"):
        more = control.recv(65536)
        if not more:
            sys.exit(1)  # they have gone already
        text += more
    return json.loads(text), moved


def become(work: "HandedStartCommand", descriptors: "list[int]", failure: int) -> NoReturn:
    """Turn into the work; what stands in the way is reported to the first process."""
    try:
        os.setsid()
        first_to_go()
        for signum in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGCHLD):
            signal.signal(signum, signal.SIG_DFL)
        for number, index in enumerate(work["streams"]):
            os.dup2(os.open(os.devnull, os.O_RDWR) if index is None else descriptors[index], number)
        if work["channel"] is not None:
            os.dup2(descriptors[work["channel"]], 3)
        os.chdir(work["folder"])
        execute(work["argv"], work["environment"])
    except BaseException as error:
        os.write(failure, f"{type(error).__name__}: {error}".encode("utf8", "replace")[:500])
    finally:
        os._exit(125)


def execute(argv: "list[str]", environment: "dict[str, str]") -> None:
    """Become a program; one that cannot be started ends with 127 or 126, as in a shell."""
    try:
        os.execvpe(argv[0], argv, environment)  # noqa: S606  (as it was asked for, without a shell)
    except OSError as error:
        os.write(2, f"cannot start {argv[0]!r}: {error.strerror}\n".encode("utf8", "replace"))
        os._exit(127 if isinstance(error, FileNotFoundError) else 126)


def first_to_go() -> None:
    """Where memory ends, the work is killed before the process that reports it."""
    try:
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write("1000")
    except OSError:
        pass  # the whole container goes, which is reported too


def watch(control: socket.socket, awake: int, child: int) -> int:
    """Reap until the work ends: its code, negative for a signal. Ends at once when the other side goes."""
    while True:
        ready, _, _ = select.select([control, awake], [], [])
        if control in ready:
            sys.exit(1)
        os.read(awake, 4096)
        code = reap(child)
        if code is not None:
            return code


def reap(child: int) -> "int | None":
    """Take leave of all that have ended; the code of the child, if it is among them."""
    code = None
    while True:
        try:
            ended, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return code
        if ended == 0:
            return code
        if ended == child:
            code = os.waitstatus_to_exitcode(status)


def end_others() -> None:
    """What the work left behind ends with it."""
    if os.getpid() != 1:
        return  # outside a container -1 is everybody
    with contextlib.suppress(ProcessLookupError):  # nobody was left
        os.kill(-1, signal.SIGKILL)


if __name__ == "__main__":
    main(sys.argv[1])
