"""Attacks on other processes: seeing them, reading their memory, tracing, signalling and slowing them."""

import ctypes
import os
import signal
import socket
import struct
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

from tests.attacks.inside.kernel import call, checked, libc
from tests.attacks.inside.trying import any_of, canaries, marked, of_processes

Aim = dict[str, Any]
Way = Callable[[], str]
SEIZE, EXIT_KILL = 0x4206, 0x100000
"""A traced process that is to be killed when whoever traces it ends: the host can tell."""
CAPABILITY_VERSION, GET_NO_NEW_PRIVS = 0x20080522, 39
LARGEST = 64 << 20
"""Bytes of one region of memory that are looked through."""


class Bytes(ctypes.Structure):
    """A stretch of memory, as `process_vm_readv` takes it."""

    _fields_ = (("start", ctypes.c_void_p), ("length", ctypes.c_size_t))


def see_others(aim: Aim) -> str:
    """Read the commands of all processes that can be seen."""
    del aim
    return " ".join(one for _, told in of_processes("cmdline") for one in canaries(told))


def read_memory(aim: Aim) -> str:
    """Read a secret from the memory of a process of the host."""
    return any_of(_reading(marked(aim["marks"]["memory"], aim["pids"]["memory"])))


def read_sibling(aim: Aim) -> str:
    """Read a secret from the memory, and from the files, of another sandbox."""
    pids = marked(aim["marks"]["sibling"], aim["pids"]["sibling"])
    homes = [f"/proc/{pid}/cwd" for pid in pids] + [aim["sibling"]["home"]]
    files = [partial(_secret_file, home) for home in homes]
    return any_of([*_reading(pids), *files])


def _secret_file(folder: str) -> str:
    with open(os.path.join(folder, "secret"), "rb") as file:
        return " ".join(canaries(file.read(4096)))


def _reading(pids: "list[int]") -> "list[Way]":
    return [partial(way, pid) for pid in pids for way in (_read_file, _read_directly)]


def _regions(pid: int) -> "list[tuple[int, int]]":
    """Where a process keeps its data: start and length."""
    found: list[tuple[int, int]] = []
    with open(f"/proc/{pid}/maps") as file:
        for line in file:
            place, rights = line.split()[:2]
            start, end = (int(one, 16) for one in place.split("-"))
            if rights.startswith("rw") and end - start <= LARGEST:
                found.append((start, end - start))
    return found


def _read_file(pid: int) -> str:
    found: list[str] = []
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as file:
        for start, length in _regions(pid):
            with suppress(OSError):  # a page that cannot be read
                found += canaries(os.pread(file.fileno(), length, start))
    return " ".join(sorted(set(found)))


def _read_directly(pid: int) -> str:
    found: list[str] = []
    for start, length in _regions(pid):
        buffer = ctypes.create_string_buffer(length)
        here, there = Bytes(ctypes.addressof(buffer), length), Bytes(start, length)
        try:
            call("process_vm_readv", pid, ctypes.byref(here), 1, ctypes.byref(there), 1, 0)
        except OSError:
            continue
        found += canaries(buffer.raw)
    return " ".join(sorted(set(found)))


def trace(aim: Aim) -> str:
    """Attach to processes of the host as a debugger does, so that they end with this one."""
    return any_of(partial(_seize, pid) for pid in marked(aim["marks"]["trace"], aim["pids"]["trace"]))


def _seize(pid: int) -> str:
    call("ptrace", SEIZE, pid, None, EXIT_KILL)
    return f"traced {pid}"


def take_descriptors(aim: Aim) -> str:
    """Take open files out of other processes."""

    def take(pid: int) -> str:
        handle = call("pidfd_open", pid, 0)
        return " ".join(f"took {call('pidfd_getfd', handle, number, 0)}" for number in range(3))

    return any_of(partial(take, pid) for pid in marked(aim["marks"]["memory"], aim["pids"]["memory"]))


def kill_others(aim: Aim) -> str:
    """Kill processes of the host, by every call that sends a signal."""
    return any_of(_killing(marked(aim["marks"]["kill"], aim["pids"]["kill"])))


def kill_sibling(aim: Aim) -> str:
    """Kill a process of another sandbox."""
    return any_of(_killing(marked(aim["marks"]["sibling"], aim["pids"]["sibling"])))


def _killing(pids: "list[int]") -> "list[Way]":
    calls: tuple[Callable[[int], object], ...] = (
        lambda pid: os.kill(pid, signal.SIGKILL),
        lambda pid: call("tkill", pid, signal.SIGKILL),
        lambda pid: call("pidfd_send_signal", call("pidfd_open", pid, 0), signal.SIGKILL, None, 0),
        lambda pid: os.killpg(pid, signal.SIGKILL),
        lambda pid: _queue(pid),
    )

    def kill(send: Callable[[int], object], pid: int) -> str:
        send(pid)
        return f"killed {pid}"

    return [partial(kill, send, pid) for pid in pids for send in calls]


def _queue(pid: int) -> None:
    if libc.sigqueue(ctypes.c_int(pid), ctypes.c_int(signal.SIGKILL), ctypes.c_void_p(None)) < 0:
        raise OSError(ctypes.get_errno(), "sigqueue")


def slow_others(aim: Aim) -> str:
    """Take processor time and files from other processes: priority, processors, limits."""
    pids = marked(aim["marks"]["slow"], aim["pids"]["slow"])
    lower = struct.pack("QQ", 7, 7)
    calls: tuple[Callable[[int], object], ...] = (
        lambda pid: os.setpriority(os.PRIO_PROCESS, pid, 15),
        lambda pid: os.sched_setscheduler(pid, os.SCHED_BATCH, os.sched_param(0)),
        lambda pid: call("prlimit64", pid, 7, lower, None),  # RLIMIT_NOFILE
    )

    def slow(change: Callable[[int], object], pid: int) -> str:
        change(pid)
        return f"slowed {pid}"

    ways = [partial(slow, change, pid) for pid in pids for change in calls]
    return any_of(ways if os.getuid() == aim["user"] else [*ways, _slow_user, _slow_disk_of_user])


def _slow_user() -> str:
    """All processes of this user, by a hair; only of a user that is nobody."""
    os.setpriority(os.PRIO_USER, 0, 1)
    return "slowed all processes of its user"


def _slow_disk_of_user() -> str:
    call("ioprio_set", 3, 0, 2 << 13 | 5)  # IOPRIO_WHO_USER; best effort, almost as it was
    return "slowed the disk for all processes of its user"


def signal_everybody(aim: Aim) -> str:
    """Send a signal that harms nobody to every process there is, if this user is nobody; else to those that wait."""
    pids = aim["pids"]["signal"]

    def send(pid: int) -> str:
        os.kill(pid, signal.SIGWINCH)
        return f"sent to {pid}"

    return any_of(partial(send, pid) for pid in (pids if os.getuid() == aim["user"] else [-1, *pids]))


def raise_priority(aim: Aim) -> str:
    """Go before everybody else on the machine."""
    del aim
    calls: tuple[Callable[[], object], ...] = (
        lambda: os.setpriority(os.PRIO_PROCESS, 0, -5),
        lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)),
    )

    def higher(change: Callable[[], object]) -> str:
        change()
        return "went first"

    return any_of(partial(higher, change) for change in calls)


def become_root(aim: Aim) -> str:
    """Become root, or a member of its groups."""
    del aim
    calls: tuple[Callable[[], object], ...] = (
        lambda: os.setresuid(0, 0, 0),
        lambda: os.setresgid(0, 0, 0),
        lambda: os.setgroups([0]),
        lambda: os.seteuid(0),
    )

    def become(change: Callable[[], object]) -> str:
        change()
        return f"is user {os.geteuid()}, group {os.getegid()}, in {os.getgroups()}"

    return any_of(partial(become, change) for change in calls)


def keep_privileges(aim: Aim) -> str:
    """Have capabilities, or be able to gain them by a program."""
    del aim
    header, data = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION, 0), (ctypes.c_uint32 * 6)()
    checked(libc.capget(header, data), "capget")
    sets = {
        name: data[place] | data[place + 3] << 32
        for place, name in enumerate(("effective", "permitted", "inheritable"))
    }
    held = [f"{name} capabilities {value:x}" for name, value in sets.items() if value]
    if checked(libc.prctl(GET_NO_NEW_PRIVS, *[ctypes.c_ulong(0)] * 4), "prctl") == 0:
        held.append("may gain privileges")
    return ", ".join(held)


def read_shared_memory(aim: Aim) -> str:
    """Attach to System V shared memory of the host."""
    libc.shmat.restype = ctypes.c_void_p

    def attach(number: int) -> str:
        place = call("shmat", number, None, 0o10000)  # SHM_RDONLY
        return " ".join(canaries(ctypes.string_at(place, 4096)))

    return any_of([partial(attach, aim["shared_memory"])])


def call_sibling(aim: Aim) -> str:
    """Connect to what another sandbox listens on, in its own network."""
    sibling = aim["sibling"]

    def connect(family: int, address: Any) -> str:
        with socket.socket(family) as one:
            one.settimeout(2.0)
            one.connect(address)
            return f"connected to {address!r}"

    ways: list[Way] = [partial(connect, socket.AF_UNIX, f"\0{sibling['abstract']}")]
    if sibling["port"]:
        ways.append(partial(connect, socket.AF_INET, ("127.0.0.1", sibling["port"])))
    return any_of(ways)
