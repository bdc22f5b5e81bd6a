"""What a tree of processes uses, read from `/proc`: for hosts without cgroups, and for what cgroups do not count."""

import os
import signal
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import NamedTuple

__all__ = ["TreeSample", "below", "files_in_memory", "go_on", "names_in_memory", "sample", "shared_memory", "stop_all"]

MAX_STOP_ROUNDS = 1000
"""Looks at a tree whose processes start others while they are stopped one by one."""
DISK_BLOCK_BYTES = 512
EMPTY_FILE_BYTES = 1024
"""Bytes that the kernel keeps for an empty file in memory and its name."""
AT_REST = "TtZX"
"""States of a process that does nothing: stopped, traced, a zombie, dead."""


class TreeSample(NamedTuple):
    """One look at a tree; `joined` keeps the most that was seen of each."""

    cpu: float = 0.0
    memory: int = 0
    processes: int = 0
    """Threads, as the limit counts them."""
    read: int = 0
    written: int = 0
    waited: float = 0.0
    """Seconds that threads could have run and had no processor, of those that live."""

    def joined(self, other: "TreeSample") -> "TreeSample":
        """The larger of each."""
        return TreeSample(
            max(self.cpu, other.cpu),
            max(self.memory, other.memory),
            max(self.processes, other.processes),
            max(self.read, other.read),
            max(self.written, other.written),
            max(self.waited, other.waited),
        )


def below(root: int) -> Iterator[int]:
    """The processes below one, itself first; those that end meanwhile are left out."""
    yield root
    try:
        threads = os.listdir(f"/proc/{root}/task")
    except OSError:
        return
    for thread in threads:
        for child in _read(f"/proc/{root}/task/{thread}/children").split():
            yield from below(int(child))


def stop_all(root: int) -> list[int]:
    """Stop all processes below one; the list of them, which is empty where they cannot all be stopped."""
    stopped: dict[int, None] = {}
    for _ in range(MAX_STOP_ROUNDS):
        found = [pid for pid in below(root) if pid != root]
        for pid in found:
            if pid not in stopped:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGSTOP)
                stopped[pid] = None
        if all(_state(pid) in AT_REST for pid in found):
            return list(stopped)
    go_on(stopped)
    return []


def go_on(pids: Iterable[int]) -> None:
    """Let processes that were stopped go on."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)


def _state(pid: int) -> str:
    return (_read(f"/proc/{pid}/stat").rpartition(")")[2].split() or ["X"])[0]


def sample(root: int) -> TreeSample:
    """Look once at the tree below a process of ours: of itself it counts only what its dead children used."""
    cpu, memory, processes, read, written, waited = 0.0, 0, 0, 0, 0, 0.0
    for pid in below(root):
        fields = _read(f"/proc/{pid}/stat").rpartition(")")[2].split()
        if not fields:
            continue
        ticks = [int(one) / os.sysconf("SC_CLK_TCK") for one in fields[11:15]]
        ran, stood = (0.0, 0.0) if pid == root else _scheduled(pid)
        cpu += ticks[2] + ticks[3] + (0.0 if pid == root else max(ticks[0] + ticks[1], ran))
        waited += stood
        io = dict(line.split(": ") for line in _read(f"/proc/{pid}/io").splitlines())
        read += int(io.get("read_bytes", 0))
        written += int(io.get("write_bytes", 0))
        if pid != root:
            memory += int(fields[21]) * os.sysconf("SC_PAGESIZE")
            processes += int(fields[17])
    return TreeSample(cpu, memory, processes, read, written, waited)


def _scheduled(pid: int) -> tuple[float, float]:
    """Seconds that the threads of a process ran, finer than ticks, and that they waited for a processor."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:  # it ended
        threads = []
    stats = [_read(f"/proc/{pid}/task/{thread}/schedstat").split() for thread in threads]
    ran, waited = (sum(int(one[at]) for one in stats if len(one) == 3) / 1e9 for at in (0, 1))
    return ran, waited


def shared_memory(root: int) -> int:
    """The memory of the tree below a process, where pages that several share count once; of who hides theirs, all."""
    private, shared = 0, 0
    for pid in below(root):
        if pid == root:
            continue
        rows = dict(line.split(":", 1) for line in _read(f"/proc/{pid}/smaps_rollup").splitlines()[1:])
        if "Pss_Anon" in rows:
            private += _kibibytes(rows["Pss_Anon"])
            shared += _kibibytes(rows["Pss_Shmem"])
        else:  # it ended, or hides
            fields = _read(f"/proc/{pid}/stat").rpartition(")")[2].split()
            private += int(fields[21]) * os.sysconf("SC_PAGESIZE") if fields else 0
    return private + max(shared, files_in_memory(root))


def _kibibytes(text: str) -> int:
    return int(text.split()[0]) << 10


def files_in_memory(root: int) -> int:
    """The bytes of files that are in memory alone (`memfd_create`), and that the tree below a process has open."""
    found: dict[int, int] = {}
    for pid in below(root):
        with suppress(OSError):  # it ended
            for number in os.listdir(f"/proc/{pid}/fd"):
                with suppress(OSError):
                    if os.readlink(f"/proc/{pid}/fd/{number}").startswith("/memfd:"):
                        one = os.stat(f"/proc/{pid}/fd/{number}")
                        found[one.st_ino] = one.st_blocks * DISK_BLOCK_BYTES
    return sum(found.values())


def names_in_memory(pid: int) -> int:
    """What the names of files take in folders of a process that are in memory, and not those of this one."""
    ours = {device for device, _ in _in_memory("self")}
    found = 0
    for device, place in dict(_in_memory(str(pid))).items():
        if device not in ours:
            with suppress(OSError):  # it ended
                filesystem = os.statvfs(f"/proc/{pid}/root{place}")
                if _is_device(f"/proc/{pid}/root{place}", device):
                    found += (filesystem.f_files - filesystem.f_ffree) * EMPTY_FILE_BYTES
    return found


def _is_device(place: str, device: str) -> bool:
    """Whether a mount is what is seen at its place: another one may lie over it, whose files are not in memory."""
    found = os.stat(place).st_dev
    return device == f"{os.major(found)}:{os.minor(found)}"


def _in_memory(pid: str) -> Iterator[tuple[str, str]]:
    """The folders in memory that a process sees: device and path."""
    for line in _read(f"/proc/{pid}/mountinfo").splitlines():
        mount, _, kind = line.partition(" - ")
        if kind.startswith("tmpfs "):
            fields = mount.split(" ")
            yield fields[2], fields[4].encode().decode("unicode_escape")


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""
