"""Since which Linux each means of a sandbox is there, for `Guarantees.since`."""

import re

__all__ = ["linux_since"]

SINCE: tuple[tuple[str, tuple[int, ...]], ...] = (
    (r"Landlock: no signals", (6, 12)),
    (r"Landlock", (6, 2)),  # it came with 5.13; until 6.2 any file could be emptied, and ours refuses to start
    (r"RLIMIT_NPROC of the user namespace", (5, 14)),
    (r"cgroup v2 cpu", (4, 15)),
    (r"gVisor's kernel", (4, 14, 77)),
    (r"cgroup v2", (4, 5)),
    (r"cgroup v1 pids|pids cgroup", (4, 3)),
    (r"user namespace", (3, 8)),
    (r"seccomp|new privileges", (3, 5)),
    (r"subreaper", (3, 4)),
    (r"pid and ipc namespaces", (2, 6, 30)),
    (r"network namespace", (2, 6, 29)),
    (r"cgroup v1 memory|memory cgroup", (2, 6, 25)),
    (r"pid namespace|cgroup", (2, 6, 24)),
    (r"mount namespace", (2, 4, 19)),
    (r"RLIMIT_|tmpfs", (2, 4)),
)
"""What a means is called, and the first Linux that has it as it is used here; what gVisor itself asks for."""


def linux_since(means: str) -> str:
    """The first Linux on which all that a means names is there; "" where it is done by this process alone.

    >>> linux_since("cgroup v1 memory"), linux_since("RLIMIT_NPROC of the user namespace"), linux_since("watcher")
    ('Linux 2.6.25', 'Linux 5.14', '')
    """
    found = [version for pattern, version in SINCE if re.search(pattern, means)]
    return f"Linux {'.'.join(map(str, max(found)))}" if found else ""
