"""Control groups, version 2 or 1, as far as this host lets us make them: memory, processes, processor time, killing.

Both versions are found at run time and may be mixed (version 1 for the limits, version 2 for the rest). A group's name
says whose it is (pid namespace, pid and start time of this process): what a dead process left is removed by the next.
"""

import contextlib
import errno
import itertools
import os
import signal
import subprocess
import sys
from functools import cache
from threading import Lock
from typing import NamedTuple

from ludus.sandbox.leftovers import identity, is_dead
from ludus.sandbox.policy import Limits

__all__ = ["Cgroup", "CgroupParent", "Places", "find_places", "places", "sweep"]

PREFIX = "ludus"
ROLES = ("memory", "pids", "cpu", "kill")
LIMITS = {
    ("memory", 1): ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes", "memory.kmem.tcp.limit_in_bytes"),
    ("memory", 2): ("memory.max",),
    ("pids", 1): ("pids.max",),
    ("pids", 2): ("pids.max",),
}
"""The files that take the limit. Version 1 counts TCP's buffers apart, and swap where the kernel does so at all."""
GONE = (errno.ENOENT, errno.ENODEV)
"""What the kernel says of the files of a group that was removed."""
MAX_KILL_ROUNDS = 100
"""Attempts to kill or to move what forks faster than it can be listed; nothing forks while it is killed."""
LEAF = f"{PREFIX}.processes"
"""Where the processes of a delegated group go: one that has some in itself may not limit the groups in it."""


class CgroupParent(NamedTuple):
    """Where groups of one role are made."""

    version: int
    parent: str


Places = dict[str, CgroupParent]
_numbers = itertools.count()


@cache
def places() -> Places:
    """Where this process may make groups, by role; empty where it may not. What dead processes left is removed."""
    if sys.platform != "linux":
        return {}
    found = find_places()
    for parent in {place.parent for place in found.values()}:
        _sweep(parent)
    return found


class Cgroup:
    """One group for one tree, in as many hierarchies as it takes; `overhead` processes of ours come on top."""

    def __init__(self, places: Places, limits: Limits, overhead: int = 0) -> None:
        self._places, self._overhead = places, overhead
        self._name = f"{PREFIX}-{identity()}-{next(_numbers)}"
        self._oom_event: tuple[int, int] | None = None
        self._wake_lock = Lock()
        """One thread measures while another removes: a number that is closed may be another file's by then."""
        self._oom_seen = False
        made: list[str] = []
        try:
            for folder in dict.fromkeys(self._folder(role) for role in places):
                os.mkdir(folder)
                made.append(folder)
            self._limit("memory", limits.memory)
            self._limit("pids", None if limits.processes is None else limits.processes + overhead)
            self._tune()
        except OSError:
            for folder in made:
                os.rmdir(folder)
            raise

    @property
    def entries(self) -> tuple[str, ...]:
        """The files to write 0 to, for a process that enters."""
        return tuple([f"{folder}/cgroup.procs" for folder in self._folders()])

    @property
    def counts_memory(self) -> bool:
        """Whether the memory of the tree is limited by it."""
        return "memory" in self._places

    def _folder(self, role: str) -> str:
        return f"{self._places[role].parent}/{self._name}"

    def _folders(self) -> list[str]:
        return list(dict.fromkeys([f"{place.parent}/{self._name}" for place in self._places.values()]))

    def _limit(self, role: str, value: int | None) -> None:
        if value is None or role not in self._places:
            return
        required, *more = LIMITS[role, self._places[role].version]
        _write(f"{self._folder(role)}/{required}", value)
        for name in more:
            if os.path.exists(f"{self._folder(role)}/{name}"):
                _write(f"{self._folder(role)}/{name}", value)

    def _tune(self) -> None:
        """Swap counts as memory, and running out of it is the end of the whole group, not of one process."""
        if "memory" in self._places and self._places["memory"].version == 2:
            for name, value in (("memory.swap.max", 0), ("memory.oom.group", 1)):
                if os.path.exists(f"{self._folder('memory')}/{name}"):
                    _write(f"{self._folder('memory')}/{name}", value)

    def oom_descriptor(self) -> int | None:
        """Readable when memory has run out, where the kernel does not end the group by itself (version 1)."""
        if "memory" not in self._places or self._places["memory"].version == 2:
            return None
        if self._oom_event is None:
            folder = self._folder("memory")
            oom_event = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
            control = os.open(f"{folder}/memory.oom_control", os.O_RDONLY | os.O_CLOEXEC)
            self._oom_event = oom_event, control
            _write(f"{folder}/cgroup.event_control", f"{oom_event} {control}")
        return self._oom_event[0]

    def ran_out(self) -> bool:
        """Whether memory has run out."""
        with self._wake_lock, contextlib.suppress(BlockingIOError):
            if self._oom_event is not None:
                self._oom_seen = (
                    os.eventfd_read(self._oom_event[0]) > 0
                )  # it is written before anybody is killed, and counted
        if self._oom_seen or "memory" not in self._places:
            return self._oom_seen
        name = "memory.events" if self._places["memory"].version == 2 else "memory.oom_control"
        return _pairs(f"{self._folder('memory')}/{name}").get("oom_kill", 0) > 0

    def measures(self, limit: str | None) -> dict[str, object]:
        """The fields of `Usage` that the group knows better than anybody else."""
        found: dict[str, object] = {}
        if "cpu" in self._places:
            found["cpu"] = self._cpu()
        if (peak := self._peak_memory()) is not None:
            found["peak_memory"] = peak
        if (most := self._number("pids", "pids.peak")) is not None:
            found["processes"] = max(0, most - self._overhead)
        if self.ran_out():
            found.update(oom=True, limit=limit or "memory")
        elif limit is None and "pids" in self._places and _pairs(f"{self._folder('pids')}/pids.events").get("max"):
            found["limit"] = "processes"
        return found

    def _cpu(self) -> float | None:
        if self._places["cpu"].version == 2:
            used = _pairs(f"{self._folder('cpu')}/cpu.stat").get("usage_usec")
            return None if used is None else used / 1e6
        used = self._number("cpu", "cpuacct.usage")
        return None if used is None else used / 1e9

    def _peak_memory(self) -> int | None:
        version_2 = "memory" in self._places and self._places["memory"].version == 2
        return self._number("memory", "memory.peak" if version_2 else "memory.max_usage_in_bytes")

    def _number(self, role: str, name: str) -> int | None:
        text = _read(f"{self._folder(role)}/{name}").strip() if role in self._places else ""
        return int(text) if text.isdigit() else None

    def kill(self) -> None:
        """Kill every process in it; they are gone a little later."""
        for folder in [self._folder("kill")] if "kill" in self._places else self._folders():
            _kill(folder)

    def remove(self) -> bool:
        """Kill what is left, and remove the group; False when something in it is still on its way out."""
        with self._wake_lock:
            oom_event, self._oom_event = self._oom_event, None
            for descriptor in oom_event or ():
                os.close(descriptor)
        self.kill()
        return not [folder for folder in self._folders() if not _remove(folder)]


def _kill(folder: str) -> None:
    """Kill all that is in a group; one that another thread has removed meanwhile had nobody in it any more."""
    try:
        _kill_all(folder)
    except OSError as error:
        if error.errno not in GONE:
            raise


def _kill_all(folder: str) -> None:
    """At once where the kernel can; else no more forks, and one after the other."""
    if not _read(f"{folder}/cgroup.procs"):
        return
    if os.path.exists(f"{folder}/cgroup.kill"):
        _write(f"{folder}/cgroup.kill", 1)
        return
    if os.path.exists(f"{folder}/pids.max"):
        _write(f"{folder}/pids.max", 0)
    for _ in range(MAX_KILL_ROUNDS):
        left = [int(pid) for pid in _read(f"{folder}/cgroup.procs").split() if pid != "0"]
        if not left:
            return
        for pid in left:
            _end(pid)


def _end(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):  # faster than we were
        os.kill(pid, signal.SIGKILL)


def _remove(folder: str) -> bool:
    try:
        _kill(folder)
        os.rmdir(folder)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def sweep() -> bool:
    """Remove what dead processes left wherever groups may be made; False where something is still on its way out.

    Nothing is made or tried for it: a supervisor need not have groups of its own.

    >>> sweep() in (True, False)
    True
    """
    points = [line.split(" ") for line in _read("/proc/self/mounts").splitlines()]
    parents = [fields[1] for fields in points if fields[2] == "cgroup"]
    for point in (fields[1] for fields in points if fields[2] == "cgroup2"):
        parents += _candidates(point, "/proc/self/cgroup")
    left = [parent for parent in dict.fromkeys(parents) if not _sweep(parent)]
    return not left


def _sweep(parent: str) -> bool:
    """Remove what dead processes of this pid namespace left; whether all of it is gone."""
    gone = True
    with contextlib.suppress(OSError):  # it is not ours to look into
        for name in os.listdir(parent):
            parts = name.split("-")
            if len(parts) == 3 and parts[0] == PREFIX and parts[2].isdigit() and is_dead(parts[1]):
                gone = _remove(f"{parent}/{name}") and gone
    return gone


def find_places(mounts: str = "/proc/self/mounts", own: str = "/proc/self/cgroup") -> Places:
    """Where groups can really be made: each place is tried."""
    points = [line.split(" ") for line in _read(mounts).splitlines()]
    found: Places = {}
    for point in (fields[1] for fields in points if fields[2] == "cgroup2"):
        found = {**_best(_candidates(point, own)), **found}
    for role, controller in (("memory", "memory"), ("pids", "pids"), ("cpu", "cpuacct")):
        for fields in points:
            if role not in found and fields[2] == "cgroup" and controller in fields[3].split(",") and _try(fields[1]):
                found[role] = CgroupParent(1, fields[1])
    return found


def _best(parents: list[str]) -> Places:
    """The first that has all roles, else the one that has most: in version 2 a process is in one group, not in two."""
    best: Places = {}
    for parent in parents:
        roles = _roles_of(parent)
        if len(roles) > len(best):
            best = {role: CgroupParent(2, parent) for role in roles}
        if len(best) == len(ROLES):
            break
    return best


def _candidates(point: str, own: str) -> list[str]:
    """For root the top; for others the folders above their own, or their own, which systemd may have handed to them."""
    line = next((line for line in _read(own).splitlines() if line.startswith("0::")), "0::/")
    path = home = os.path.normpath(point + line[3:])
    above: list[str] = []
    while path.startswith(point) and path != point:
        path = os.path.dirname(path)
        above.append(path)
    return [point, *above] if os.geteuid() == 0 else [*above, home]


def _roles_of(parent: str) -> tuple[str, ...]:
    """What a group of version 2 made here can do; controllers are switched on where that is allowed."""
    offered = _read(f"{parent}/cgroup.controllers").split()
    enabled = _read(f"{parent}/cgroup.subtree_control").split()
    for controller in ("memory", "pids"):
        if controller in offered and controller not in enabled:
            with contextlib.suppress(OSError):  # not ours to switch on
                _switch_on(parent, controller)
    return _try(parent, ("memory.max", "pids.max", "cpu.stat", "cgroup.kill"))


def _switch_on(parent: str, controller: str) -> None:
    """Processes that live in a group handed to this user, as in a service with `Delegate=`, move down for it."""
    try:
        _write(f"{parent}/cgroup.subtree_control", f"+{controller}")
    except OSError as error:
        if error.errno != errno.EBUSY or not _is_delegated(parent):
            raise
        _move_down(parent)
        _write(f"{parent}/cgroup.subtree_control", f"+{controller}")


def _is_delegated(parent: str) -> bool:
    """Whether this process lives in a group that is its user's; root's, all groups are, and say nothing."""
    there = _read(f"{parent}/cgroup.procs").split()
    return os.geteuid() != 0 and os.stat(parent).st_uid == os.geteuid() and str(os.getpid()) in there


def _move_down(parent: str) -> None:
    """All processes of a group, this one too, go to a group in it: what systemd asks of whom it delegates to."""
    with contextlib.suppress(FileExistsError):
        os.mkdir(f"{parent}/{LEAF}")
    for _ in range(MAX_KILL_ROUNDS):
        if not (there := _read(f"{parent}/cgroup.procs").split()):
            return
        for pid in there:
            with contextlib.suppress(ProcessLookupError):  # it ended
                _write(f"{parent}/{LEAF}/cgroup.procs", pid)


def _try(parent: str, names: tuple[str, ...] = ("cgroup.procs",)) -> tuple[str, ...]:
    """Make a group, move a process into it, and see which roles' files it has; () where that is refused."""
    folder = f"{parent}/{PREFIX}-{identity()}-{next(_numbers)}"
    try:
        os.mkdir(folder)
    except OSError:
        return ()
    try:
        with subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
            _write(f"{folder}/cgroup.procs", process.pid)
            has = [os.path.exists(f"{folder}/{name}") for name in names]
        return tuple(role for role, there in zip(ROLES, has, strict=False) if there)
    except OSError:
        return ()
    finally:
        _remove(folder)


def _write(path: str, value: object) -> None:
    with open(path, "w", encoding="ascii") as file:
        file.write(str(value))


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf8") as file:
            return file.read()
    except OSError:
        return ""


def _pairs(path: str) -> dict[str, int]:
    rows = [line.split() for line in _read(path).splitlines()]
    return {row[0]: int(row[1]) for row in rows if len(row) == 2 and row[1].isdigit()}
