"""Removal of whatever sandboxed code left, however deep: folders are moved up and emptied, never walked into.

`shutil.rmtree` goes down by recursion: some thousand folders, one in the other, are a RecursionError, which is none of
the errors that it can be told to ignore.
"""

import os
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex

from ludus.errors import SnapshotError

__all__ = ["FOLDER_FLAGS", "Removal", "make_writable", "open_folder", "remove_tree"]

FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
MAX_NAMES = 10_000_000
"""Names: somebody who adds them all the time does not keep us busy for ever."""


class Removal:
    """A folder of its own below `root` that takes what is removed; used with `with`, and empty at the end."""

    def __init__(self, root: int) -> None:
        self.root, self.name = root, b".ludus-" + token_hex(8).encode()
        self.count = 0
        self.folder: int | None = None

    def remove(self, parent: int, name: bytes) -> None:
        """Remove a name with all that is below it."""
        self.count += 1
        if self.count > MAX_NAMES:
            raise SnapshotError("workspace: expected it to be empty at last, got names that are added all the time")
        try:
            os.unlink(name, dir_fd=parent)
        except FileNotFoundError:
            pass
        except (IsADirectoryError, PermissionError):
            self._move(parent, name)

    def _move(self, parent: int, name: bytes) -> None:
        with suppress(OSError):
            os.rmdir(name, dir_fd=parent)
            return
        make_writable(parent, name)
        os.rename(name, str(self.count).encode(), src_dir_fd=parent, dst_dir_fd=self._open())

    def _open(self) -> int:
        if self.folder is None:
            os.mkdir(self.name, 0o700, dir_fd=self.root)
            self.folder = os.open(self.name, FOLDER_FLAGS, dir_fd=self.root)
        return self.folder

    def __enter__(self) -> "Removal":
        return self

    def __exit__(self, *error: object) -> None:
        if self.folder is None:
            return
        try:
            while names := os.listdir(self.folder):
                for name in names:
                    self._empty(self.folder, os.fsencode(name))
            os.rmdir(self.name, dir_fd=self.root)
        finally:
            os.close(self.folder)

    def _empty(self, parent: int, name: bytes) -> None:
        with open_folder(parent, name) as descriptor, os.scandir(descriptor) as found:
            for one in found:
                self.remove(descriptor, os.fsencode(one.name))
        with suppress(OSError):  # somebody added a name: the next round
            os.rmdir(name, dir_fd=parent)


def make_writable(parent: int, name: bytes) -> None:
    """Let its owner read, write and enter a folder, which may be closed even to us; nothing where it is none."""
    descriptor = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
    try:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode) and mode & 0o700 != 0o700:
            os.chmod(f"/proc/self/fd/{descriptor}", 0o700)
    finally:
        os.close(descriptor)


def remove_tree(folder: str | Path) -> None:
    """Remove a folder with all that is in it, however deep; what cannot be removed stays. No link is followed.

    >>> import tempfile
    >>> place = tempfile.mkdtemp()
    >>> remove_tree(place)
    >>> os.path.exists(place)
    False
    """
    with suppress(OSError, SnapshotError):
        root = os.open(folder, FOLDER_FLAGS)
        try:
            with Removal(root) as removal:
                for name in os.listdir(root):
                    _removed(removal, root, os.fsencode(name))
        finally:
            os.close(root)
        os.rmdir(folder)


def _removed(removal: Removal, root: int, name: bytes) -> None:
    with suppress(OSError):  # it stays, and what is beside it goes
        removal.remove(root, name)


@contextmanager
def open_folder(parent: int, name: bytes) -> Generator[int, None, None]:
    """A folder right below another; never what a link leads to."""
    descriptor = os.open(name, FOLDER_FLAGS, dir_fd=parent)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
