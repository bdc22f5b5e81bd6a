"""Resource limits of the kernel: what holds for each process, with or without cgroups."""

import math
from typing import NamedTuple

from ludus.sandbox.policy import Limits

__all__ = ["Rlimit", "rlimits"]


class Rlimit(NamedTuple):
    """One limit, by the name that `resource` and `prlimit` know it by."""

    name: str
    soft: int
    hard: int


def rlimits(limits: Limits, *, memory: bool, processes: bool) -> list[Rlimit]:
    """The limits of each process; `memory` and `processes` only where no cgroup counts the whole tree."""
    entries = [("CORE", 0, 0)]
    if limits.file_size is not None:
        entries.append(("FSIZE", limits.file_size, limits.file_size))
    if limits.open_files is not None:
        entries.append(("NOFILE", limits.open_files, limits.open_files))
    if limits.cpu is not None:  # behind the watcher, who counts the whole tree and to the hundredth
        entries.append(("CPU", math.ceil(limits.cpu) + 1, math.ceil(limits.cpu) + 2))
    if memory and limits.memory is not None:
        entries.append(("AS", limits.memory, limits.memory))
    if processes and limits.processes is not None:
        entries.append(("NPROC", limits.processes, limits.processes))
    return [_within(Rlimit(*one)) for one in entries]


def _within(limit: Rlimit) -> Rlimit:
    """Not above what this process has: raising a limit is a privilege, and not needed."""
    import resource  # not on every system that imports this

    hard = resource.getrlimit(getattr(resource, f"RLIMIT_{limit.name}"))[1]
    if hard == resource.RLIM_INFINITY:
        return limit
    return Rlimit(limit.name, min(limit.soft, hard), min(limit.hard, hard))
