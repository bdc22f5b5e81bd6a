"""The control group that an engine made for a container, read and tightened from outside."""

import os
from contextlib import suppress
from pathlib import Path
from threading import Lock

from ludus.sandbox.cgroup import Cgroup, CgroupParent, Places

__all__ = ["Group"]

CONTROLLERS = {"memory": "memory", "pids": "pids", "cpu": "cpuacct", "io": "blkio"}
FILES = {"memory": "memory.max", "pids": "pids.max", "cpu": "cpu.stat", "io": "io.stat"}


class Group(Cgroup):
    """A group that is not ours to make or to remove. Its last figures are kept, for it goes with its container.

    Only a group that carries the container's id is believed: where an engine makes none (podman without root, on
    cgroups of version 1) a process is in the group of its parent, whose numbers say nothing about it.
    `overhead` of the container's processes are ours; `tasks`: whether its processes are the host's.
    """

    def __init__(self, pid: int, container: str, *, overhead: int = 1, tasks: bool = True) -> None:
        # Nothing of a group of our own is made, and so nothing of its inside is used below.
        self._found, self._ours, self.counts_tasks = _places(pid, container), overhead, tasks
        self._alarm: tuple[int, int] | None = None
        self._alarm_lock = Lock()
        """One thread measures while another removes: a number that is closed may be another file's by then."""
        self._out_of_memory = False
        self._measured: dict[str, object] = {}
        self._before = self._seconds() or 0.0
        self._starters = self._count("pids", "pids.peak") or 0

    @property
    def counts_cpu(self) -> bool:
        """Whether it knows the processor time of the whole tree."""
        return "cpu" in self._found

    @property
    def counts_memory(self) -> bool:
        return "memory" in self._found

    @property
    def memory(self) -> int | None:
        """The limit of memory, swap included; None where there is none."""
        if self._version("memory") == 2:
            found, swap = self._count("memory", "memory.max"), self._count("memory", "memory.swap.max")
            return None if found is None else found + (_swap() if swap is None else swap)
        found = self._count("memory", "memory.limit_in_bytes")
        both = self._count("memory", "memory.memsw.limit_in_bytes")
        return None if found is None else found + _swap() if both is None else both

    @property
    def tasks(self) -> int | None:
        """The limit of processes and threads; None where there is none."""
        return self._count("pids", "pids.max")

    def limit_tasks(self, most: int) -> None:
        """Lower the limit once the container has begun: beginning takes the engine more than one process."""
        if "pids" not in self._found or self.tasks == most:
            return
        with suppress(OSError):  # not root: whoever looks at the limit sees that it is too high
            Path(self._found["pids"].parent, "pids.max").write_text(str(most), encoding="ascii")

    def oom_descriptor(self) -> int | None:
        if self._alarm is None and self._version("memory") == 1:
            with suppress(OSError):  # not root, or gone: it is seen when the work ends
                self._alarm = _alarm(self._found["memory"].parent)
        return None if self._alarm is None else self._alarm[0]

    def ran_out(self) -> bool:
        if self._oom_seen() and os.path.isdir(
            self._found["memory"].parent
        ):  # it is also written when the group is removed
            self._out_of_memory = True
        name = "memory.events" if self._version("memory") == 2 else "memory.oom_control"
        self._out_of_memory = self._out_of_memory or self._counts("memory", name).get("oom_kill", 0) > 0
        return self._out_of_memory

    def _oom_seen(self) -> bool:
        """Whether the alarm rang, which it does before anybody is killed and counted."""
        with self._alarm_lock, suppress(BlockingIOError):
            return self._alarm is not None and os.eventfd_read(self._alarm[0]) > 0
        return False

    def measures(self, limit: str | None) -> dict[str, object]:
        peak = "memory.peak" if self._version("memory") == 2 else "memory.max_usage_in_bytes"
        seconds, most = self._seconds(), self._count("pids", "pids.peak")
        found: dict[str, object] = {"peak_memory": self._count("memory", peak), **self._bytes()}
        if seconds is not None:
            found["cpu"] = max(0.0, seconds - self._before)
        if self.counts_tasks and most is not None and most > self._starters:  # else the engine had more to begin with
            found["processes"] = min(most, self.tasks or most) - self._ours  # one that was refused is in the peak
        if self._counts("pids", "pids.events").get("max"):
            found["limit"] = "processes"
        if self.ran_out():
            found.update(oom=True, limit="memory")
        self._measured.update({name: value for name, value in found.items() if value is not None})
        return {**self._measured, **({} if limit is None else {"limit": limit})}

    def remove(self) -> bool:
        with self._alarm_lock:
            alarm, self._alarm = self._alarm, None
            for descriptor in alarm or ():
                os.close(descriptor)
        return True

    def kill(self) -> None:
        """Nothing: the end of a container's first process is the end of all."""

    def _version(self, role: str) -> int | None:
        return self._found[role].version if role in self._found else None

    def _text(self, role: str, name: str) -> str:
        return _read(f"{self._found[role].parent}/{name}") if role in self._found else ""

    def _count(self, role: str, name: str) -> int | None:
        text = self._text(role, name).strip()
        return int(text) if text.isdigit() else None

    def _counts(self, role: str, name: str) -> dict[str, int]:
        rows = [line.split() for line in self._text(role, name).splitlines()]
        return {row[0]: int(row[1]) for row in rows if len(row) == 2 and row[1].isdigit()}

    def _seconds(self) -> float | None:
        if self._version("cpu") == 2:
            used = self._counts("cpu", "cpu.stat").get("usage_usec")
            return None if used is None else used / 1e6
        used = self._count("cpu", "cpuacct.usage")
        return None if used is None else used / 1e9

    def _bytes(self) -> dict[str, int]:
        """Bytes read from and written to devices."""
        if "io" not in self._found:
            return {}
        name = "io.stat" if self._version("io") == 2 else "blkio.throttle.io_service_bytes"
        counts = _transfers(self._text("io", name))
        return {
            "read_bytes": sum(number for kind, number in counts if kind in ("rbytes", "Read")),
            "written_bytes": sum(number for kind, number in counts if kind in ("wbytes", "Write")),
        }


def _alarm(folder: str) -> tuple[int, int]:
    """A descriptor that can be read when memory has run out (version 1), and the one that it listens to."""
    oom_event = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
    try:
        control = os.open(f"{folder}/memory.oom_control", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        os.close(oom_event)
        raise
    try:
        Path(folder, "cgroup.event_control").write_text(f"{oom_event} {control}", encoding="ascii")
    except OSError:
        os.close(oom_event)
        os.close(control)
        raise
    return oom_event, control


def _transfers(text: str) -> list[tuple[str, int]]:
    """Version 2: `8:0 rbytes=1 wbytes=2 …`; version 1: `8:0 Read 1`."""
    found: list[tuple[str, int]] = []
    for _, *fields in (line.split() for line in text.splitlines()):
        pairs = [field.split("=") for field in fields] if "=" in "".join(fields) else [fields]
        found += [(pair[0], int(pair[1])) for pair in pairs if len(pair) == 2 and pair[1].isdigit()]
    return found


def _places(pid: int, container: str) -> Places:
    """The folders of its groups, by role, where they carry the container's id."""
    points = [line.split(" ") for line in _read("/proc/self/mounts").splitlines()]
    rows = [line.split(":", 2) for line in _read(f"/proc/{pid}/cgroup").splitlines()]
    found: Places = {}
    for number, controllers, path in rows:
        for role, controller in CONTROLLERS.items():
            version = 2 if number == "0" else 1
            if version == 1 and controller not in controllers.split(","):
                continue
            folder = _folder(points, None if version == 2 else controller, _top(path, container))
            if folder and (version == 1 or os.path.exists(f"{folder}/{FILES[role]}")):
                found.setdefault(role, CgroupParent(version, folder))
    return found


def _top(path: str, container: str) -> str | None:
    """Down to the first folder with the id: some engines limit that one, and start the process further down."""
    parts = path.split("/")
    for index, part in enumerate(parts):
        if container in part:
            return "/".join(parts[: index + 1])
    return None


def _folder(points: list[list[str]], controller: str | None, path: str | None) -> str | None:
    for fields in points if path is not None else ():
        kind = "cgroup2" if controller is None else "cgroup"
        if fields[2] == kind and (controller is None or controller in fields[3].split(",")):
            folder = f"{fields[1]}{path}"
            return folder if os.path.isdir(folder) else None
    return None


def _swap() -> int:
    """Bytes of swap of the machine, which a limit of memory alone leaves open."""
    rows = _read("/proc/swaps").splitlines()[1:]
    return sum(int(row.split()[2]) * 1024 for row in rows)


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf8") as file:
            return file.read()
    except OSError:
        return ""
