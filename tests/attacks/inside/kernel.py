"""System calls by name, without a compiler."""

import ctypes
import errno
import os
import platform
from typing import Any

__all__ = ["call", "checked", "libc"]

MACHINES = ("x86_64", "aarch64")
NUMBERS = {
    "add_key": (248, 217),
    "bpf": (321, 280),
    "chroot": (161, 51),
    "clone": (56, 220),
    "clone3": (435, 435),
    "close_range": (436, 436),
    "fchmodat2": (452, 452),
    "fsopen": (430, 430),
    "init_module": (175, 105),
    "io_uring_setup": (425, 425),
    "ioprio_set": (251, 30),
    "kcmp": (312, 272),
    "kexec_load": (246, 104),
    "keyctl": (250, 219),
    "mount": (165, 40),
    "open_by_handle_at": (304, 265),
    "open_tree": (428, 428),
    "perf_event_open": (298, 241),
    "pidfd_getfd": (438, 438),
    "pidfd_open": (434, 434),
    "pidfd_send_signal": (424, 424),
    "prlimit64": (302, 261),
    "openat2": (437, 437),
    "process_vm_readv": (310, 270),
    "ptrace": (101, 117),
    "reboot": (169, 142),
    "renameat2": (316, 276),
    "setns": (308, 268),
    "settimeofday": (164, 170),
    "shmat": (30, 196),
    "swapoff": (168, 225),
    "syslog": (103, 116),
    "tkill": (200, 130),
    "umount2": (166, 39),
    "unshare": (272, 97),
    "userfaultfd": (323, 282),
}

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long


def call(name: str, *arguments: Any) -> int:
    """A system call; OSError where the kernel says no, or where this machine's number for it is not known."""
    if platform.machine() not in MACHINES:
        raise OSError(errno.ENOSYS, f"{name}: no number for {platform.machine()}")
    number = NUMBERS[name][MACHINES.index(platform.machine())]
    return checked(libc.syscall(ctypes.c_long(number), *map(_wide, arguments)), name)


def checked(result: int, what: str) -> int:
    """The result of a call of the C library, or its error."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), what)
    return result


def _wide(value: Any) -> Any:
    """Numbers as wide as a register."""
    return ctypes.c_long(value) if isinstance(value, int) else value
