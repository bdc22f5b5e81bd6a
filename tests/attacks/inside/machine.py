"""Attacks on the machine behind the files: devices, the kernel's settings, control groups."""

import os
import stat
from collections.abc import Callable
from functools import partial
from typing import Any

from tests.attacks.inside.trying import any_of

Aim = dict[str, Any]


def use_devices(aim: Aim) -> str:
    """Make the node of the disk and open it; open devices of the machine that are there."""
    major, minor = aim["disk"]

    def made(folder: str) -> str:
        node = os.path.join(folder, "disk-node")
        os.mknod(node, stat.S_IFBLK | 0o600, os.makedev(major, minor))
        try:
            os.close(os.open(node, os.O_RDONLY))
        finally:
            os.unlink(node)
        return "opened the disk by a node of its own"

    nodes = ("mem", "kmem", "port", "kmsg", "kvm", "fuse", "net/tun", "loop-control", "vsock", "uinput", aim["node"])
    ways: list[Callable[[], str]] = [partial(made, folder) for folder in (os.getcwd(), aim["shared"])]
    return any_of([*ways, *(partial(_opened, f"/dev/{name}", os.O_RDONLY) for name in nodes)])


def _opened(path: str, flags: int) -> str:
    descriptor = os.open(path, flags)
    try:
        is_nothing = os.fstat(descriptor).st_rdev == os.makedev(1, 3)  # /dev/null, put there as a mask
    finally:
        os.close(descriptor)
    return "" if is_nothing else f"opened {path}"


def write_kernel_settings(aim: Aim) -> str:
    """Open the kernel's settings for writing, wherever they are."""
    del aim
    found = 0
    for folder, _, names in os.walk("/proc/sys"):
        for name in names:
            found += _writable(os.path.join(folder, name))
    return f"{found} files of /proc/sys can be written" if found else ""


def _writable(path: str) -> int:
    try:
        os.close(os.open(path, os.O_WRONLY))
    except OSError:
        return 0
    return 1


def write_core_pattern(aim: Aim) -> str:
    """Write the program that the kernel starts on a crash; here the value that it has already."""
    del aim

    def write() -> str:
        with open("/proc/sys/kernel/core_pattern") as file:
            value = file.read()
        with open("/proc/sys/kernel/core_pattern", "w") as file:
            file.write(value)
        return "wrote core_pattern"

    return any_of([write])


def open_kernel_files(aim: Aim) -> str:
    """Open the kernel's triggers, its memory and its log."""
    del aim
    writable = ("/proc/sysrq-trigger", "/sys/kernel/uevent_helper", "/sys/power/state")
    readable = ("/proc/kcore", "/proc/kmsg", "/sys/kernel/debug", "/sys/kernel/security")
    ways = [partial(_reads, path) for path in readable]
    return any_of([*ways, *(partial(_opened, path, os.O_WRONLY) for path in writable)])


def _reads(path: str) -> str:
    """What is masked can be opened, and is empty."""
    if os.path.isdir(path):
        return f"{path} has entries" if os.listdir(path) else ""
    with open(path, "rb", buffering=0) as file:
        os.set_blocking(file.fileno(), False)
        try:
            return f"read from {path}" if file.read(1) else ""
        except BlockingIOError:
            return f"opened {path}"


def leave_cgroup(aim: Aim) -> str:
    """Open the files by which control groups are left or their limits lifted."""
    del aim
    names = {"cgroup.procs", "tasks", "release_agent", "memory.max", "memory.limit_in_bytes", "pids.max", "cgroup.kill"}
    found: list[str] = []
    for folder, folders, files in os.walk("/sys/fs/cgroup"):
        found += [os.path.join(folder, name) for name in names.intersection(files)]
        folders[:] = folders[:50] if folder.count("/") < 6 else []
    return any_of(partial(_opened, path, os.O_WRONLY) for path in found)
