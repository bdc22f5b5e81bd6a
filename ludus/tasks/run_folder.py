"""Folders of runs that somebody else may have made: checked before anything is written into them or restored from them.

A run is a folder that people hand to each other. What is in it names places: with a link instead of `work` a snapshot
would be restored over whatever that points at, with one in `artifacts` a file elsewhere would be written.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from ludus.errors import InvalidArgument

__all__ = ["check_run_folder", "is_too_deep"]

WORK = "work"
LINKED = "bin"
"""The interpreter's names, which are links, and which only sandboxes look at."""
MAX_LEVELS = 100
Found = tuple[os.DirEntry[str], os.stat_result]


def check_run_folder(folder: Path, doing: str = "run") -> int:
    """Refuse a run with a pipe, a device, or a link by which files elsewhere would be changed; the bytes it holds.

    The workspace itself is not looked into: snapshots of it are, when they are restored.

    >>> check_run_folder(Path("/dev"))
    Traceback (most recent call last):
    ludus.errors.InvalidArgument: run: expected a run with a folder work, got /dev without one
    """
    if not (folder / WORK).is_dir():
        raise InvalidArgument(f"{doing}: expected a run with a folder {WORK}, got {folder} without one")
    size = 0
    for entry, found in _entries(folder, doing):
        may_link = Path(entry.path).parent == folder / LINKED
        is_plain = stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)
        if not is_plain and not (stat.S_ISLNK(found.st_mode) and may_link):
            raise InvalidArgument(
                f"{doing}: expected a file or a folder, got {entry.path}, which is a link or a device"
            )
        if stat.S_ISREG(found.st_mode) and found.st_nlink > 1:
            raise InvalidArgument(
                f"{doing}: expected files with one name, got {entry.path} with another one elsewhere; copy the run"
            )
        size += found.st_size if stat.S_ISREG(found.st_mode) else 0
    return size


def is_too_deep(folder: Path) -> bool:
    """Whether there are more folders one in the other than may be; no link is followed.

    >>> is_too_deep(Path(__file__).parent)
    False
    """
    waiting = [(str(folder), 1)]
    while waiting:
        path, level = waiting.pop()
        if level > MAX_LEVELS:
            return True
        with suppress(OSError), os.scandir(path) as names:  # it is closed to us, or gone
            waiting += [(one.path, level + 1) for one in names if one.is_dir(follow_symlinks=False)]
    return False


def _entries(folder: Path, doing: str) -> Iterator[Found]:
    """All that is in a run, folders before what is in them, without what is in its workspace."""
    waiting = [(str(folder), 1)]
    while waiting:
        path, level = waiting.pop()
        if level > MAX_LEVELS:
            raise InvalidArgument(
                f"{doing}: expected at most {MAX_LEVELS} folders one in the other, got more in {folder}"
            )
        try:
            with os.scandir(path) as names:
                found = [(one, one.stat(follow_symlinks=False)) for one in names]
        except OSError as error:
            raise InvalidArgument(f"{doing}: expected a run that can be read, got {path}: {error.strerror}") from error
        yield from found
        waiting += [
            (one.path, level + 1)
            for one, kind in found
            if stat.S_ISDIR(kind.st_mode) and (level > 1 or one.name != WORK)
        ]
