"""Whose a container is: a label that says which process made it, and whether that process is still there."""

import os
import shutil
import tempfile
from contextlib import suppress
from functools import cache

from ludus.sandbox.containers.api import Api

__all__ = ["LABEL", "identity", "is_dead", "private_folder", "remove_leftovers"]

LABEL = "ludus.owner"
FOLDER = "ludus-box-"
LONGEST = 36
"""Characters of a folder in which sockets still get a path that fits (107 at most)."""


def identity() -> str:
    """This process, as no other was or will be until the machine starts anew."""
    return _identity_of(os.getpid())  # a fork is somebody else


@cache
def _identity_of(pid: int) -> str:
    return f"{_boot()}.{_namespace()}.{pid}.{_start_time(pid)}"


def is_dead(owner: str) -> bool:
    """Whether that process has certainly ended; what cannot be known from here is taken to live."""
    words = owner.split(".")
    if len(words) != 4 or not words[2].isdigit():
        return False
    _, namespace, pid, started = words
    return is_of_today(owner) and namespace == _namespace() and _start_time(int(pid)) != started


def is_of_today(owner: str) -> bool:
    """Whether it is of this machine, since it started last."""
    return owner.startswith(f"{_boot()}.")


def private_folder() -> str:
    """A folder for sockets that nobody else may enter; the caller removes it, and else the next process does."""
    base = tempfile.gettempdir()
    return tempfile.mkdtemp(prefix=f"{FOLDER}{identity()}-", dir=base if len(base) < LONGEST else "/tmp")  # noqa: S108


def remove_leftovers(api: Api) -> None:
    """Remove the containers and folders of processes that were killed before they could."""
    for container, (owner, runs) in api.labelled(LABEL).items():
        if is_dead(owner) or not (runs or is_of_today(owner)):
            api.remove(container)
    claimed = private_folder()
    base = os.path.dirname(claimed)
    for name in os.listdir(base):
        owner = name.removeprefix(FOLDER).rpartition("-")[0]
        if name.startswith(FOLDER) and (is_dead(owner) or not is_of_today(owner)):
            with suppress(OSError):  # another process was faster, or it is another user's
                os.rename(os.path.join(base, name), os.path.join(claimed, name))
    shutil.rmtree(claimed)


@cache
def _boot() -> str:
    return _read("/proc/sys/kernel/random/boot_id").strip()[:8]


@cache
def _namespace() -> str:
    return str(os.stat("/proc/self/ns/pid").st_ino)


def _start_time(pid: int) -> str:
    fields = _read(f"/proc/{pid}/stat").rpartition(")")[2].split()
    return fields[19] if fields else ""


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf8") as file:
            return file.read()
    except OSError:
        return ""
