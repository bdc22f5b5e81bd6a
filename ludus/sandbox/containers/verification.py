"""Whether a container is what was asked for: the kernel is asked, not the engine, and before anything runs in it."""

import ctypes
import os

from ludus.sandbox.containers.group import Group
from ludus.sandbox.pins import Pins
from ludus.sandbox.policy import Limits, Mount

__all__ = ["gofer", "missing_limits", "missing_rlimits", "missing_sentry", "missing_isolation", "replaced"]

NAMESPACES = ("pid", "net", "mnt", "ipc", "uts")
CAPABILITIES = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")
FILTERS = 2
"""The engine's, and our own; kernels before 5.11 do not count them."""
OPENAT2, NO_MAGIC_LINKS, IN_ROOT = 437, 0x02, 0x10
RLIMITS = {"open_files": "Max open files", "file_size": "Max file size"}


def missing_isolation(pid: int, user: int | None) -> list[str]:
    """What is missing of the isolation around a process; nothing, if all is well. `user` None: any but root."""
    status = _status(pid)
    found = int(status.get("Uid", "0").split()[0])
    missing = [f"own {name} namespace" for name in NAMESPACES if _is_ours(pid, name)]
    if found == 0 or user not in (None, found):
        missing.append(f"user {'without rights' if user is None else user} (it is {found})")
    if any(int(status.get(name, "1"), 16) for name in CAPABILITIES):
        missing.append("no capabilities")
    if status.get("NoNewPrivs") != "1":
        missing.append("no new privileges")
    if status.get("Seccomp") != "2" or int(status.get("Seccomp_filters", FILTERS)) < FILTERS:
        missing.append("two seccomp filters")
    if "ro" not in _mount_options(pid, "/"):
        missing.append("a read-only root")
    return missing


def missing_sentry(pid: int) -> list[str]:
    """What is missing of the isolation around gVisor's kernel; what is behind it, it keeps itself."""
    status = _status(pid)
    missing = [f"own {name} namespace" for name in ("user", *NAMESPACES[1:]) if _is_ours(pid, name)]
    if os.path.basename(_program(pid)) != "runsc":
        missing.append("gVisor")
    if status.get("Seccomp") != "2" or status.get("NoNewPrivs") != "1":
        missing.append("a seccomp filter around it")
    return missing


def missing_limits(group: Group, limits: Limits, tasks: int | None) -> list[str]:
    """The limits that are asked for and that the control group does not keep."""
    missing: list[str] = []
    if limits.memory is not None and (group.memory is None or group.memory > limits.memory):
        missing.append("memory")
    if tasks is not None and (group.tasks is None or group.tasks > tasks):
        missing.append("processes")
    if limits.cpu is not None and not group.counts_cpu:
        missing.append("cpu")
    return missing


def missing_rlimits(pid: int, limits: Limits) -> list[str]:
    """The limits that are asked for and that the process does not have."""
    rows = _read(f"/proc/{pid}/limits").splitlines()
    missing: list[str] = []
    for name, title in RLIMITS.items():
        limit = getattr(limits, name)
        hard = next((row.removeprefix(title).split()[1] for row in rows if row.startswith(title)), "unlimited")
        if limit is not None and (not hard.isdigit() or int(hard) > limit):
            missing.append(name)
    return missing


def replaced(pid: int, pins: Pins) -> list[Mount]:
    """The mounts in the root of a process that are not what was held on to: engines go by paths, and look later."""
    root = os.open(f"/proc/{pid}/root", os.O_PATH | os.O_CLOEXEC)
    try:
        return [mount for mount, pin in pins.items() if not _is_at(root, mount.where, pin)]
    finally:
        os.close(root)


def gofer(pid: int) -> int | None:
    """The process that opens files for gVisor's kernel: a sibling, whose root is what is seen behind that kernel."""
    starter = int(_status(pid)["PPid"])
    for child in map(int, _read(f"/proc/{starter}/task/{starter}/children").split()):
        argv = _read(f"/proc/{child}/cmdline").split("\0")
        if argv[0] == "runsc-gofer" and os.path.basename(_program(child)) == "runsc":
            return child
    return None


class _How(ctypes.Structure):
    """How `openat2` opens."""

    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


def _is_at(root: int, path: str, pin: int) -> bool:
    """Whether what is pinned is at a path below a root, in which its links stay; where we may not know, it is not."""
    how = _How(os.O_PATH | os.O_CLOEXEC, 0, IN_ROOT | NO_MAGIC_LINKS)
    libc = ctypes.CDLL(None, use_errno=True)
    found = libc.syscall(OPENAT2, root, os.fsencode(path), ctypes.byref(how), ctypes.c_size_t(ctypes.sizeof(how)))
    if found < 0:
        return False
    try:
        return os.path.samestat(os.fstat(found), os.fstat(pin))
    finally:
        os.close(found)


def _status(pid: int) -> dict[str, str]:
    pairs = [line.partition(":") for line in _read(f"/proc/{pid}/status").splitlines()]
    return {name: value.strip() for name, _, value in pairs}


def _is_ours(pid: int, name: str) -> bool:
    """Whether a namespace is the one we are in; where we may not know, it is."""
    try:
        return os.stat(f"/proc/{pid}/ns/{name}").st_ino == os.stat(f"/proc/self/ns/{name}").st_ino
    except OSError:
        return True


def _program(pid: int) -> str:
    try:
        return os.readlink(f"/proc/{pid}/exe")
    except OSError:
        return ""


def _mount_options(pid: int, point: str) -> list[str]:
    rows = [line.split(" ") for line in _read(f"/proc/{pid}/mountinfo").splitlines()]
    return [row[5].split(",") for row in [[""] * 6, *rows] if row[4] in ("", point)][-1]


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""
