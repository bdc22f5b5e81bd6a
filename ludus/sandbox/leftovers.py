"""Whose something is that outlives a process: a name that says who made it, and whether that process is still there.

Folders, control groups and containers carry it. What a process could not remove because it was killed, the next one
removes.
"""

import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from functools import cache

from ludus.sandbox.removal import remove_tree

__all__ = ["identity", "is_dead", "is_of_today", "private_folder", "sweep_folders", "temporary_folder"]

FOLDER = "ludus-"
MAX_BASE_LENGTH = 36
"""Characters of a folder in which sockets still get a path that fits (107 at most)."""


def identity() -> str:
    """This process, as no other was or will be until the machine starts anew."""
    return _identity_of(os.getpid())  # a fork is somebody else


@cache
def _identity_of(pid: int) -> str:
    return f"{_boot()}.{_namespace()}.{pid}.{_start_time(pid)}"


def is_dead(owner: str) -> bool:
    """Whether that process has certainly ended; what cannot be known from here is taken to live.

    >>> is_dead(identity()), is_dead("somebody")
    (False, False)
    """
    parts = owner.split(".")
    if len(parts) != 4 or not parts[2].isdigit():
        return False
    _, namespace, pid, started = parts
    try:
        return is_of_today(owner) and namespace == _namespace() and _start_time(int(pid)) != started
    except OSError:  # as where there are no descriptors left to look with
        return False


def is_of_today(owner: str) -> bool:
    """Whether it is of this machine, since it started last."""
    return owner.startswith(f"{_boot()}.")


def private_folder(purpose: str) -> str:
    """A folder that nobody else may enter, for sockets too; the caller removes it, and else the next process does."""
    base = _base()
    _sweep_once(base)
    return tempfile.mkdtemp(prefix=f"{FOLDER}{purpose}-{identity()}-", dir=base)


@contextmanager
def temporary_folder(purpose: str) -> Generator[str]:
    """A private folder that is removed at the end, however deep it has become: `tempfile`'s goes down by recursion.

    >>> with temporary_folder("example") as folder:
    ...     os.mkdir(f"{folder}/a")
    >>> os.path.exists(folder)
    False
    """
    folder = private_folder(purpose)
    try:
        yield folder
    finally:
        remove_tree(folder)


def sweep_folders(base: str | None = None) -> None:
    """Remove the folders of processes that were killed before they could."""
    base = _base() if base is None else base
    dead = [name for name in os.listdir(base) if name.startswith(FOLDER) and _is_leftover(name)]
    if not dead:
        return
    claimed = tempfile.mkdtemp(prefix=f"{FOLDER}swept-{identity()}-", dir=base)
    for name in dead:
        with suppress(OSError):  # another process was faster, or it is another user's
            os.rename(os.path.join(base, name), os.path.join(claimed, name))
    remove_tree(claimed)


def _base() -> str:
    base = tempfile.gettempdir()
    return base if len(base) < MAX_BASE_LENGTH else "/tmp"  # noqa: S108


@cache
def _sweep_once(base: str) -> None:
    with suppress(OSError):
        sweep_folders(base)


def _is_leftover(name: str) -> bool:
    owner = name.split("-", 2)[-1].rpartition("-")[0]
    return owner.count(".") == 3 and (is_dead(owner) or not is_of_today(owner))


@cache
def _boot() -> str:
    return _read("/proc/sys/kernel/random/boot_id").strip()[:8]


@cache
def _namespace() -> str:
    try:
        return str(os.stat("/proc/self/ns/pid").st_ino)
    except FileNotFoundError:  # no Linux: then nobody is known to be dead
        return ""


def _start_time(pid: int) -> str:
    fields = _read(f"/proc/{pid}/stat").rpartition(")")[2].split()
    return fields[19] if fields else ""


def _read(path: str) -> str:
    """A file of the kernel's; empty where there is none, an error where that cannot be known."""
    try:
        with open(path, encoding="utf8", errors="replace") as file:
            return file.read()
    except (FileNotFoundError, ProcessLookupError):
        return ""
