"""The tree below a process: who is in it, and how all of it is killed."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable
from contextlib import suppress

try:
    import ctypes

    prctl = ctypes.CDLL(None).prctl  # once: every command's supervisor needs it right after its fork
except ImportError:  # a Python without it cannot adopt orphans
    prctl = None

__all__ = ["descendants", "kill_tree", "prepare", "send"]

SUBREAPER, DUMPABLE, NAME = 36, 4, 15
ROUNDS = 100


def prepare(*, name: bytes, dumpable: bool) -> None:
    """Adopt orphans, and carry a name of its own: `killall python3` is not meant for us.

    What is not dumpable cannot be traced, nor its descriptors taken, by processes of the same user.
    """
    if prctl is not None:
        prctl(SUBREAPER, 1, 0, 0, 0)
        prctl(DUMPABLE, int(dumpable), 0, 0, 0)
        prctl(NAME, name, 0, 0, 0)


def parents() -> dict[int, int]:
    """Every living process that can be seen, with its parent."""
    found: dict[int, int] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open("/proc/" + name + "/stat", "rb") as file:
                    state, parent = file.read().rpartition(b")")[2].split()[:2]
            except (OSError, ValueError):
                continue  # it ended meanwhile
            if state not in (b"Z", b"X"):
                found[int(name)] = int(parent)
    return found


def descendants(root: int) -> set[int]:
    """The living processes below `root`."""
    children: dict[int, list[int]] = {}
    for pid, parent in parents().items():
        children.setdefault(parent, []).append(pid)
    found: set[int] = set()
    queue = [root]
    while queue:
        for pid in children.get(queue.pop(), ()):
            if pid not in found:
                found.add(pid)
                queue.append(pid)
    return found


def kill_tree(root: int, spare: Iterable[int] = ()) -> int:
    """Kill all below `root`, except those to spare, and return how many there were.

    They are stopped first, until no new one turns up: what is stopped cannot fork.
    """
    known: set[int] = set()
    for _ in range(ROUNDS):
        new = descendants(root).difference(spare, known)
        if not new:
            break
        known |= new
        for pid in new:
            send(pid, signal.SIGSTOP)
    for pid in known:
        send(pid, signal.SIGKILL)
    return len(known)


def send(pid: int, number: int) -> None:
    """A signal; nothing where the process is gone."""
    with suppress(OSError):
        os.kill(pid, number)
