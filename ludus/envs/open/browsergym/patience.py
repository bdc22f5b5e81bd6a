"""`Patience`: deadlines of a page that count the time in which it could run.

A deadline by the clock alone blamed pages for a machine with too much to do: with a hundred sessions on two cores one
that needs 10 ms of a processor may stand in line for ten seconds. So when time is up, the browser's threads are looked
at, and as long as they stand in line for a core, time is added, up to `MAX_TIMES` what was given. A page that loops
has a core, or takes it from its neighbours, and is given up.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

__all__ = ["Patience"]

MAX_TIMES = 6
"""How many times the seconds that were given a page may take on a machine that has no core for it."""
LOOKS = 5
"""How often the browser is looked at in the time of one deadline."""
SHARE = 0.5
"""Of the time between two looks: who stands in line for so long has no core."""
NANOSECONDS = 1e9


class Patience:
    """Of a caller that waits for the browser whose first process is `pid`."""

    def __init__(self, pid: int) -> None:
        self._pid = pid

    def wait(self, wait: Callable[[float], bool], seconds: float) -> bool:
        """Whether `wait`, which gets how long it may take, has got what it waits for: at once, or after more time."""
        if wait(seconds):
            return True
        between, before = seconds / LOOKS, self._look()
        for _ in range(LOOKS * (MAX_TIMES - 1)):
            if wait(between):
                return True
            now = self._look()
            if not _in_line(before, now, SHARE * between):
                return False
            before = now
        return False

    def _look(self) -> "dict[str, _Account]":
        """What Linux says of each of the browser's threads."""
        threads = (thread for process in _tree(self._pid) for thread in _entries(process))
        return {thread.name: account for thread in threads if (account := _account(thread)) is not None}


class _Account(NamedTuple):
    """One thread, so far: nanoseconds on a core, and in line for one, counted when it gets it; whether it is ready."""

    ran: int
    queued: int
    ready: bool


def _in_line(before: dict[str, _Account], now: dict[str, _Account], seconds: float) -> bool:
    """Whether threads stood in line for so long between two looks, or one all the time: that is not in its account."""
    queued = sum(one.queued - before[name].queued for name, one in now.items() if name in before)
    still = any(one.ready and before.get(name) == one for name, one in now.items())
    return still or queued / NANOSECONDS >= seconds


def _account(thread: Path) -> _Account | None:
    try:
        ran, queued, _ = (thread / "schedstat").read_text(encoding="ascii").split()
        state = (thread / "stat").read_text(encoding="utf8", errors="replace").rpartition(")")[2].split()[0]
        return _Account(int(ran), int(queued), state == "R")
    except (OSError, IndexError, ValueError):  # it has ended, or this system keeps no such account
        return None


def _tree(pid: int) -> Iterator[Path]:
    process = Path(f"/proc/{pid}/task")
    yield process
    for thread in _entries(process):
        try:
            children = (thread / "children").read_text(encoding="ascii").split()
        except OSError:
            continue
        for child in children:
            yield from _tree(int(child))


def _entries(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []
