"""Strays: processes of a sandbox whose owner ended before they had asked the kernel to end with it.

No process can ask for that before its first instruction, and inside, `bwrap` asks when everything is mounted. One that
is stopped, or whose parent is killed, before it has asked would stay for ever. So whatever is started here carries its
owner's name in its environment from the moment it is executed, and before that the name of the thread that starts it.
Both are the kernel's to show, and go as soon as the sandboxed command is executed: it has an environment of its own.
"""

import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from ludus.sandbox.leftovers import identity, is_dead

__all__ = ["SPAWNING", "end_orphans", "owner_variable", "sweep_processes"]

OWNER = "LUDUS_OWNER"
SPAWNING = "ludus-spawn"
"""The name of the thread that starts programs, as the kernel knows it, and of its child until that is one of them."""
LATE = ("bwrap", "ludus-beginning")
"""What asks late: all others that are not stopped see by themselves that their owner is gone."""


class Stray(NamedTuple):
    """What the kernel shows of a process."""

    pid: int
    name: str
    stopped: bool
    parent: int

    @property
    def owner(self) -> str:
        """Whose it is; empty where it is nobody's, or not to be known."""
        mark = f"{OWNER}=".encode()
        found = [one for one in _read(f"/proc/{self.pid}/environ").split(b"\0") if one.startswith(mark)]
        return found[0][len(mark) :].decode("ascii", "replace") if found else ""


def owner_variable() -> dict[str, str]:
    """What a program that is started here has in its environment."""
    return {OWNER: identity()}


def sweep_processes() -> None:
    """Kill what dead processes left while it began."""
    for pid in _all():
        _end(pid, _is_left)


def end_orphans() -> None:
    """Kill what this process started, and what has lost its parent before it had asked to be killed with it."""
    for pid in _all():
        _end(pid, _is_orphan)


def _all() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()] if sys.platform == "linux" else []


def _end(pid: int, condition: "Callable[[Stray], bool]") -> None:
    """By a descriptor that is there before it is looked at: its number may be another's when it is killed."""
    found = _look(pid)
    if found is None or not (found.stopped or found.name in LATE):
        return
    with suppress(OSError):  # it ended, or is not ours to kill
        descriptor = os.pidfd_open(pid)
        try:
            found = _look(pid)
            if found is not None and condition(found):
                signal.pidfd_send_signal(descriptor, signal.SIGKILL)
        finally:
            os.close(descriptor)


def _is_left(found: Stray) -> bool:
    if found.name == SPAWNING:
        return found.stopped and not _spawns(found.parent)
    return is_dead(found.owner)


def _is_orphan(found: Stray) -> bool:
    if found.name not in LATE or found.owner != identity():
        return False
    above: Stray | None = found
    while above is not None and above.parent != os.getpid():
        above = _look(above.parent)
    return above is None


def _look(pid: int) -> Stray | None:
    """A process, unless it has ended."""
    before, _, after = _read(f"/proc/{pid}/stat").rpartition(b")")
    fields = after.split()
    if not fields or fields[0] in (b"Z", b"X"):
        return None
    name = before.partition(b"(")[2].decode("utf8", "replace")
    return Stray(pid, name, stopped=fields[0] == b"T", parent=int(fields[1]))


def _spawns(pid: int) -> bool:
    """Whether one of its threads starts programs."""
    with suppress(OSError):
        threads = os.listdir(f"/proc/{pid}/task")
        return any(_read(f"/proc/{pid}/task/{thread}/comm").strip() == SPAWNING.encode() for thread in threads)
    return False


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""
