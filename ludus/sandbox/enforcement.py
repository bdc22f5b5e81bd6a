"""By what means each limit is enforced on this machine, and the cgroup and resource limits that do it."""

import contextlib
import os
import sys

from ludus.errors import SandboxError, SandboxUnavailable
from ludus.sandbox.cgroup import Cgroup, places
from ludus.sandbox.policy import Limits
from ludus.sandbox.rlimits import Rlimit, rlimits
from ludus.sandbox.user import is_confined

__all__ = ["check_outermost", "is_nested", "kill_means", "limit_means", "make_cgroup", "process_limits", "tmpfs_means"]

FIRST_PID_NAMESPACE = "pid:[4026531836]"
"""The one in which every process is seen: the kernel has this number written down."""


def limit_means(limits: Limits, *, without_pids: str = "") -> dict[str, str]:
    """The fields of `Guarantees` for the limits; `without_pids` is what bounds processes where no cgroup does."""
    found = {role: f"cgroup v{place.version} {role}" for role, place in places().items()}
    without_pids = "the sandbox around it" if is_nested() else without_pids
    means = {
        "wall": "watcher",
        "cpu": f"watcher ({found.get('cpu', '/proc')}), RLIMIT_CPU",
        "memory": found.get("memory", "RLIMIT_AS of each process, watcher (/proc)" if sys.platform == "linux" else ""),
        "processes": found.get("pids", without_pids),
        "file_size": "RLIMIT_FSIZE",
        "open_files": "RLIMIT_NOFILE",
        "output": "reader",
    }
    return {name: text if getattr(limits, name) is not None else "" for name, text in means.items()}


def tmpfs_means(limits: Limits) -> str:
    """The field of `Guarantees` for folders in memory: what names of files take is the memory of the whole tree."""
    if limits.disk is None:
        return ""
    counted = "memory" in places() or limits.memory is not None
    return "tmpfs size" if counted else "tmpfs size, names of files not counted"


def kill_means() -> str:
    """How a tree without a pid namespace is killed."""
    if sys.platform != "linux":
        return "process group"
    return "subreaper, cgroup" if places() else "subreaper"


def make_cgroup(limits: Limits, overhead: int = 0) -> Cgroup | None:
    """A cgroup with the limits, where one can be had; `overhead` processes of ours come on top."""
    if not places():
        return None
    try:
        return Cgroup(places(), limits, overhead)
    except OSError as error:
        raise SandboxError(f"sandbox: expected to make a cgroup as before, got {error}") from error


def process_limits(limits: Limits, *, user: int | None = None, alone: bool = False) -> list[Rlimit]:
    """The resource limits; what `user` may start is bounded only where no cgroup does it (None: by nothing then).

    `alone`: the processes will be counted apart from all others of that user.
    """
    bounded = "pids" not in places() and user is not None and limits.processes is not None
    if user is not None and is_confined(user) and not alone and is_nested():
        bounded = False  # the kernel counts those of other sandboxes, too, which nobody here sees
    found = rlimits(limits, memory="memory" not in places() and sys.platform == "linux", processes=bounded)
    others = _threads_of(user) if bounded and user is not None and not alone else 0
    return [Rlimit(one.name, one.soft + others, one.hard + others) if one.name == "NPROC" else one for one in found]


def is_nested() -> bool:
    """Whether this process is in a sandbox itself, whose own limit holds for all that it starts."""
    if sys.platform != "linux" or not is_confined(os.getuid()):
        return False
    return os.readlink("/proc/self/ns/pid") != FIRST_PID_NAMESPACE


def check_outermost(name: str, reason: str) -> None:
    """Refuse to start what has a sandbox of its own inside of another one, where it cannot work."""
    if is_nested():
        raise SandboxUnavailable(
            f"{name}: expected to start its own sandbox, got one around it already, in which {reason}; make it without "
            "isolation"
        )


def _threads_of(user: int) -> int:
    """How many threads a user has: the kernel counts them all, so the limit begins above them."""
    count = 0
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):  # it has ended
            count += len(os.listdir(f"/proc/{name}/task")) if os.stat(f"/proc/{name}").st_uid == user else 0
    return count
