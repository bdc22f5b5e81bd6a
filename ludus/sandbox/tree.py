"""What a tree of processes uses, read from `/proc`: for hosts without cgroups, and for what cgroups do not count."""

import os
import signal
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import NamedTuple

__all__ = ["Sample", "below", "go_on", "sample", "stop_all"]

ROUNDS = 1000
"""Looks at a tree whose processes start others while they are stopped one by one."""
AT_REST = "TtZX"
"""States of a process that does nothing: stopped, traced, a zombie, dead."""


class Sample(NamedTuple):
    """One look at a tree; `joined` keeps the most that was seen of each."""

    cpu: float = 0.0
    memory: int = 0
    processes: int = 0
    """Threads, as the limit counts them."""
    read: int = 0
    written: int = 0

    def joined(self, other: "Sample") -> "Sample":
        """The larger of each."""
        return Sample(
            max(self.cpu, other.cpu),
            max(self.memory, other.memory),
            max(self.processes, other.processes),
            max(self.read, other.read),
            max(self.written, other.written),
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
    for _ in range(ROUNDS):
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


def sample(root: int) -> Sample:
    """Look once at the tree below a process of ours: of itself it counts only what its dead children used."""
    cpu, memory, processes, read, written = 0.0, 0, 0, 0, 0
    for pid in below(root):
        fields = _read(f"/proc/{pid}/stat").rpartition(")")[2].split()
        if not fields:
            continue
        cpu += sum(map(int, fields[13:15] if pid == root else fields[11:15])) / os.sysconf("SC_CLK_TCK")
        io = dict(line.split(": ") for line in _read(f"/proc/{pid}/io").splitlines())
        read += int(io.get("read_bytes", 0))
        written += int(io.get("write_bytes", 0))
        if pid != root:
            memory += int(fields[21]) * os.sysconf("SC_PAGESIZE")
            processes += int(fields[17])
    return Sample(cpu, memory, processes, read, written)


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""
