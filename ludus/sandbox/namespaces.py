"""Processes of its own: a PID namespace around a command, and the process that is the first in it.

Imported by the launcher, beside which it lies, in an interpreter that knows nothing of Ludus. The launcher stays
outside, where nothing inside can reach it. The first process inside is not the command, since the kernel keeps most
signals from a first process: it starts the command, buries orphans, tells how the command ended and ends, and with it
ends all that is inside. It mounts a `/proc` of its own, without which no process would find itself by its number.
"""

import ctypes
import os
from _collections_abc import Callable  # quicker than the package around it

NEW_MOUNTS, NEW_USER, NEW_PROCESSES = 0x20000, 0x10000000, 0x20000000
NO_SETUID, NO_DEVICES, NO_EXECUTION, RECURSIVE, DOWNWARDS = 2, 4, 8, 0x4000, 1 << 19
PR_SET_PDEATHSIG, PR_SET_DUMPABLE = 1, 4
SIGINT, SIGKILL = 2, 9
FIRST_FREE_DESCRIPTOR = 1024
"""No descriptor of the launcher is as high."""

libc = ctypes.CDLL(None, use_errno=True)


def checked(result: int, call: str) -> None:
    """Raise where a system call failed."""
    if result < 0:
        raise OSError(ctypes.get_errno(), f"{call}: {os.strerror(ctypes.get_errno())}")


def write(path: str, text: str) -> None:
    """Write to a file of the kernel's."""
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def enter(kind: str) -> None:
    """Have the next process that is forked be the first of a namespace: of the kind `root`, or `user` for all others.

    In a user namespace its maker stays the same user.
    """
    user, group = os.geteuid(), os.getegid()
    checked(libc.unshare(NEW_PROCESSES | (NEW_USER if kind == "user" else 0)), "unshare")
    if kind == "user":
        write("/proc/self/setgroups", "deny")
        write("/proc/self/uid_map", f"{user} {user} 1")
        write("/proc/self/gid_map", f"{group} {group} 1")


def mount(source: "bytes | None", target: bytes, kind: "bytes | None", flags: int) -> None:
    """`mount`, without options."""
    checked(libc.mount(source, target, kind, ctypes.c_ulong(flags), None), f"mount {target.decode()}")


def own_processes() -> None:
    """Show the processes of the namespace; what the host mounts later is still seen."""
    checked(libc.unshare(NEW_MOUNTS), "unshare")
    mount(None, b"/", None, DOWNWARDS | RECURSIVE)
    mount(b"proc", b"/proc", b"proc", NO_SETUID | NO_DEVICES | NO_EXECUTION)


def lead(command: "Callable[[], None]", ended: int, failure: int) -> None:
    """Be the first process: start the command, and tell the status that it ended with."""
    try:
        libc.prctl(PR_SET_PDEATHSIG, ctypes.c_ulong(SIGKILL))
        libc.signal(SIGINT, None)  # Python would obey it
        own_processes()
        child = os.fork()
    except OSError as error:
        os.write(failure, str(error).encode("utf8", "replace")[:500])
        os._exit(125)
    if child == 0:
        command()
    libc.prctl(PR_SET_DUMPABLE, ctypes.c_ulong(0))  # the same user may be inside
    os.closerange(0, ended)
    os.closerange(ended + 1, FIRST_FREE_DESCRIPTOR)
    while True:
        pid, status = os.wait()
        if pid == child:
            os.write(ended, status.to_bytes(4, "little"))
            os._exit(0)
