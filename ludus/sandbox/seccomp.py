"""System call filters, assembled by hand: a list of calls that are refused, and of arguments that are.

A filter is a classic BPF program over the call's number, architecture and arguments. Calls of another architecture kill
the process; calls newer than the list are answered as if the kernel did not have them, so that none slips through.

libseccomp, which would write such a program, was tried by `ctypes` and left (2.5.4, the library of Debian 12):

- It compares an argument once in a rule, so "all but these three" cannot be refused while the rest is allowed. The
  filter has to be turned around, into every call that the library knows and that is not refused: 426 instructions (504
  as a tree) for 258, and 12 to 16 ms to build for 0.4, on a start of 10 to 20.
- It knows the calls of the day on which it was made. Seven of those that are refused here it has no name for, and it
  cannot be told what to answer to what comes after them; who needs that, as runc does, patches the program by hand.
- It is not everywhere: Landlock is for machines on which nothing is installed, so the numbers would stay beside it, and
  there would be two filters to attack.

What it is better at is trust in the numbers; so the tests compare all of them, for both machines, with those it knows.
"""

import errno
import platform
import struct
from collections.abc import Iterable
from functools import cache

from ludus.errors import SandboxUnavailable
from ludus.sandbox.syscalls import ARCHITECTURES, NEWEST_SYSCALL, number

__all__ = ["landlock_filter", "namespace_filter", "refused"]

LOAD, AND, EQUAL, GREATER, MASKED, RETURN = 0x20, 0x54, 0x15, 0x25, 0x45, 0x06
ALLOW, KILL, ERROR = 0x7FFF0000, 0x80000000, 0x00050000
NUMBER, ARCHITECTURE = 0, 4
X32 = 0x40000000

NAMESPACES = 0x7E020000
"""The flags of `clone` that make namespaces."""
UNIX, INET, INET6 = 1, 2, 10
STREAM, DATAGRAM, SEQUENCED, TYPE = 1, 2, 5, 0xF
PROTOCOLS = (0, 6, 17)
"""Whichever, TCP, UDP."""
TERMINAL_INPUT = (0x5412, 0x541C)
"""TIOCSTI and TIOCLINUX: typing for somebody else."""
PERSONALITIES = (0, 8, 0xFFFFFFFF)
"""Linux, 32-bit Linux, and the question which it is."""

REFUSED = """
    _sysctl acct add_key adjtimex bpf chroot clock_adjtime clock_settime create_module delete_module fanotify_init
    fanotify_mark finit_module fsconfig fsmount fsopen fspick get_kernel_syms init_module io_uring_enter
    io_uring_register io_uring_setup ioperm iopl kcmp kexec_file_load kexec_load keyctl listmount lookup_dcookie
    lsm_set_self_attr migrate_pages modify_ldt mount mount_setattr move_mount move_pages name_to_handle_at nfsservctl
    open_by_handle_at open_tree open_tree_attr perf_event_open pidfd_getfd pivot_root process_madvise process_mrelease
    process_vm_readv process_vm_writev ptrace query_module quotactl quotactl_fd reboot request_key setdomainname
    sethostname setns settimeofday statmount swapoff swapon sysfs syslog umount2 unshare uselib userfaultfd ustat
    vhangup
"""
"""By every filter."""
SHARED = """
    bind connect inotify_add_watch mq_open mq_unlink msgctl msgget msgrcv msgsnd semctl semget semop semtimedop shmat
    shmctl shmget socket
"""
"""Without namespaces: ways to others that are no files."""
ATTRIBUTES = """
    chmod chown fchmod fchmodat fchmodat2 fchown fchownat file_setattr fremovexattr fsetxattr futimesat lchown
    lremovexattr lsetxattr removexattr removexattrat setxattr setxattrat utime utimes
"""
"""What Landlock does not guard about files that the same user owns."""
OPEN_ATTRIBUTES = """
    fremovexattr fsetxattr futimesat lremovexattr lsetxattr removexattr removexattrat setxattr setxattrat utime
    utimensat utimes
"""
"""What anybody who may write to a file may set, owner or not, without Landlock being asked."""
OWNER_COMMANDS = (8, 10, 15)
"""F_SETOWN, F_SETSIG and F_SETOWN_EX of `fcntl`: a file that sends any signal to any process of the user."""
OWNER_REQUESTS = (0x8901, 0x8902)
"""FIOSETOWN and SIOCSPGRP of `ioctl`, which do the same."""
SIGNALS = "kill tkill tgkill rt_sigqueueinfo rt_tgsigqueueinfo pidfd_send_signal"
OF_ITSELF = {
    "prlimit64": 0,
    "sched_setaffinity": 0,
    "sched_setattr": 0,
    "sched_setparam": 0,
    "sched_setscheduler": 0,
}
"""Calls about a process, and which argument names it: it may be 0, the caller."""
ITS_PRIORITY = {"ioprio_set": 1, "setpriority": 0}
"""Calls about a process, a group or all of a user, and the number that stands for a process."""

SET_DUMPABLE = 4
SET_ID = 0o6000
"""The bits of a mode by which a file is executed with the rights of its user or group."""
CREATES = 0o100 | 0o20000000
"""O_CREAT and O_TMPFILE, without which opening has no mode."""
MODES = {
    "chmod": 1,
    "creat": 1,
    "fchmod": 1,
    "fchmodat": 2,
    "fchmodat2": 2,
    "mkdir": 1,
    "mkdirat": 2,
    "mknod": 1,
    "mknodat": 2,
}
"""Calls that set a mode, and which argument it is."""
OPENING = {"open": 1, "openat": 2}
"""Calls that set one if they create, and which argument says so; the mode is the next."""

Instruction = tuple[int, int, int, int]


def refused() -> tuple[str, ...]:
    """The calls that every filter refuses, whatever their arguments."""
    return tuple(REFUSED.split())


def namespace_filter(machine: str | None = None, *, network: bool = True) -> bytes:
    """For code in namespaces of its own: the kernel's rarely used calls are refused, sockets are local, TCP or UDP.

    Without `network` they are local only: what TCP buffers is memory that no limit of a process counts.
    """
    return _assemble("namespace+network" if network else "namespace", machine or platform.machine())


def landlock_filter(machine: str | None = None, *, own_user: bool, signals: bool) -> bytes:
    """For code that shares its namespaces with the host: no sockets but pairs, and no hand on others.

    `own_user` says that no file or process of the host belongs to its user; `signals` that Landlock guards signals.
    """
    kind = f"landlock{'' if own_user else '+attributes'}{'' if signals else '+signals'}"
    return _assemble(kind, machine or platform.machine())


@cache
def _assemble(kind: str, machine: str) -> bytes:
    if machine not in ARCHITECTURES:
        raise SandboxUnavailable(f"seccomp: expected one of {', '.join(ARCHITECTURES)}, got the machine {machine!r}")
    program = _prologue(machine)
    program += _on(machine, "clone3", [_error(errno.ENOSYS)])  # its arguments cannot be read; callers fall back
    for name in refused():
        program += _on(machine, name, [_error()])
    program += _on(machine, "clone", [_load(0), (MASKED, 0, 1, NAMESPACES), _error(), _allow()])
    owners = OWNER_REQUESTS if "+signals" in kind else ()
    program += _on(machine, "ioctl", _unless(1, (*TERMINAL_INPUT, *owners)))
    program += _on(machine, "personality", _only(0, PERSONALITIES))
    program += _namespaced(machine, kind) if kind.startswith("namespace") else _unnamespaced(machine, kind)
    program += _modes(machine)
    program.append(_allow())
    return b"".join(struct.pack("=HBBI", *one) for one in program)


def _prologue(machine: str) -> list[Instruction]:
    newest = [(GREATER, 0, 1, NEWEST_SYSCALL), _error(errno.ENOSYS)]  # x32 calls are numbered from 2**30 on
    known = [(LOAD, 0, 0, ARCHITECTURE), (EQUAL, 1, 0, ARCHITECTURES[machine]), (RETURN, 0, 0, KILL)]
    return [*known, (LOAD, 0, 0, NUMBER), *newest]


def _namespaced(machine: str, kind: str) -> list[Instruction]:
    # A watch on a mounted folder of the host tells which of its files others open: programs that they start, too.
    program = _on(machine, "inotify_add_watch", [_error()]) + _on(machine, "socketpair", _only(0, (UNIX,)))
    if "+network" not in kind:
        local = [_load(0), (EQUAL, 0, 1, UNIX), _allow(), _error(errno.EAFNOSUPPORT)]
        return program + _on(machine, "socket", local)
    protocols = _only(2, PROTOCOLS)
    types = [_load(1), (AND, 0, 0, TYPE), (EQUAL, 2, 0, STREAM), (EQUAL, 1, 0, DATAGRAM), _error(), *protocols]
    inet = [(EQUAL, 2, 0, INET), (EQUAL, 1, 0, INET6), _error(), *types]
    sockets = [_load(0), (EQUAL, 0, 1, UNIX), _allow(), *inet]
    return program + _on(machine, "socket", sockets)


def _unnamespaced(machine: str, kind: str) -> list[Instruction]:
    """A datagram socket reaches any named socket of the host, also one of a pair: pairs are streams or sequenced."""
    pairs = [_load(1), (AND, 0, 0, TYPE), (EQUAL, 2, 0, STREAM), (EQUAL, 1, 0, SEQUENCED), _error(), _allow()]
    pairs = [_load(0), (EQUAL, 1, 0, UNIX), _error(), *pairs]
    program = _on(machine, "socketpair", pairs) + _on(machine, "sendto", _null(4))
    more = (ATTRIBUTES if "+attributes" in kind else "") + (SIGNALS if "+signals" in kind else "")
    for name in (SHARED + more).split():
        program += _on(machine, name, [_error()])
    if "+signals" in kind:
        program += _on(machine, "fcntl", _unless(1, OWNER_COMMANDS))
    if "+attributes" in kind:
        program += _on(machine, "utimensat", _null(1))
        hiding = [_load(0), (EQUAL, 1, 0, SET_DUMPABLE), _allow(), *_unless(1, (0,))]
        program += _on(machine, "prctl", hiding)  # from whoever watches over what it holds, who is the same user
    else:
        for name in OPEN_ATTRIBUTES.split():
            program += _on(machine, name, [_error()])
    for name, argument in OF_ITSELF.items():
        program += _on(machine, name, _only(argument, (0,)))
    for name, process in ITS_PRIORITY.items():
        program += _on(machine, name, [_load(0), (EQUAL, 1, 0, process), _error(), *_only(1, (0,))])
    return program


def _modes(machine: str) -> list[Instruction]:
    """Nobody leaves a file that runs with the rights of its owner, who may be whoever started all this."""
    program = _on(machine, "openat2", [_error(errno.ENOSYS)])  # its arguments cannot be read; callers fall back
    for name, mode in MODES.items():
        program += _on(machine, name, _without(mode, SET_ID))
    for name, flags in OPENING.items():
        program += _on(machine, name, [_load(flags), (MASKED, 1, 0, CREATES), _allow(), *_without(flags + 1, SET_ID)])
    return program


def _on(machine: str, name: str, body: list[Instruction]) -> list[Instruction]:
    """What happens on one call; the body returns on every path, so the number is still loaded after it."""
    known = number(name, machine)
    return [] if known is None else [(EQUAL, 0, len(body), known), *body]


def _only(argument: int, values: Iterable[int]) -> list[Instruction]:
    steps = [step for value in values for step in ((EQUAL, 0, 1, value), _allow())]
    return [_load(argument), *steps, _error()]


def _unless(argument: int, values: Iterable[int]) -> list[Instruction]:
    steps = [step for value in values for step in ((EQUAL, 0, 1, value), _error())]
    return [_load(argument), *steps, _allow()]


def _without(argument: int, bits: int) -> list[Instruction]:
    return [_load(argument), (MASKED, 0, 1, bits), _error(), _allow()]


def _null(argument: int) -> list[Instruction]:
    """Both halves of a pointer."""
    return [
        _load(argument),
        (EQUAL, 1, 0, 0),
        _error(),
        _load(argument, high=True),
        (EQUAL, 1, 0, 0),
        _error(),
        _allow(),
    ]


def _load(argument: int, *, high: bool = False) -> Instruction:
    """The lower half of an argument: the kernel looks at no more of those that are numbers."""
    return LOAD, 0, 0, 16 + 8 * argument + (4 if high else 0)


def _error(code: int = errno.EPERM) -> Instruction:
    return RETURN, 0, 0, ERROR | code


def _allow() -> Instruction:
    return RETURN, 0, 0, ALLOW
