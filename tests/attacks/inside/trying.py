"""Trying: many ways to one end, and what came of them."""

import errno
import json
import os
import re
import select
import sys
from collections.abc import Callable, Iterable

__all__ = ["CHANNEL", "any_of", "canaries", "marked", "of_processes", "open_descriptors", "ready", "tell"]

CHANNEL = 3
"""The descriptor through which the other side can be asked to go on, and by which it sees who is still there."""
MAX_DESCRIPTORS = 256
CANARY = re.compile(rb"canary-[0-9a-f]{32}")
Way = Callable[[], "str | None"]


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


def open_descriptors() -> "list[int]":
    """Descriptors that are open beside the streams and the channel."""
    return [number for number in range(CHANNEL + 1, MAX_DESCRIPTORS) if _is_open(number)]


def any_of(ways: Iterable[Way]) -> str:
    """Try all ways; what those that worked did, or an OSError that says how all of them failed."""
    did: list[str] = []
    failures: list[str] = []
    for way in ways:
        try:
            done = way()
        except OSError as error:
            failures.append(errno.errorcode.get(error.errno or 0, str(error)))
        else:
            did += [done] if done else []
    if did:
        return "; ".join(did)
    counts = [f"{name}×{failures.count(name)}" for name in sorted(set(failures))]
    raise PermissionError(f"every way failed: {', '.join(counts) or 'there was none'}")


def canaries(data: bytes) -> "list[str]":
    """The secrets of the scene in some bytes; nothing else of what is read is ever told."""
    return sorted({found.decode() for found in CANARY.findall(data)})


def marked(mark: str, among: "Iterable[int]" = ()) -> "list[int]":
    """The processes whose command carries a mark, as far as they can be seen, and some that are known by number.

    The mark is given backwards: whoever is told of it has it in its own command that way.
    """
    return sorted({*among, *(pid for pid, told in of_processes("cmdline") if mark[::-1].encode() in told)})


def of_processes(name: str) -> "list[tuple[int, bytes]]":
    """A file of every other process in `/proc` that can be seen, with its number."""
    found: list[tuple[int, bytes]] = []
    try:
        pids = [int(one) for one in os.listdir("/proc") if one.isdigit()]
    except OSError:
        pids = []  # there is no looking around
    for pid in pids:
        try:
            with open(f"/proc/{pid}/{name}", "rb") as file:
                found += [(pid, file.read())] if pid != os.getpid() else []
        except OSError:
            pass  # it ended, or is none of ours
    return found


def tell(**words: object) -> None:
    """Say a line to the other side."""
    os.write(1, json.dumps(words).encode() + b"\n")
    sys.stdout.flush()


def ready(what: object, seconds: float = 8.0) -> None:
    """Say that all is in place, and hold it until the other side has looked, or for so many seconds."""
    tell(ready=what)
    select.select([CHANNEL], [], [], seconds)
