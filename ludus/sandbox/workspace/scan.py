"""Scans: a folder becomes a tree in the store, without leaving the folder and without trusting what is in it.

Folders are opened one below the other by descriptors, and no link is ever followed: whoever owns the workspace may
change it meanwhile, and still cannot have anything outside it read.
"""

import errno
import os
import stat
import time
from contextlib import suppress
from hashlib import sha256

import msgspec

from ludus.errors import LimitExceeded, SnapshotError
from ludus.sandbox.removal import open_folder
from ludus.sandbox.workspace.content import copy
from ludus.sandbox.workspace.index import ContentIndex
from ludus.sandbox.workspace.store import Store
from ludus.sandbox.workspace.tree import FILE, FOLDER, LINK, PERMISSIONS, TreeEntry, encode_tree, shown

__all__ = ["Scan", "Skipped", "WorkspaceLimits"]

FILE_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
SPECIAL = {stat.S_IFIFO: "fifo", stat.S_IFSOCK: "socket", stat.S_IFCHR: "device", stat.S_IFBLK: "device"}
CHANGED = (errno.ELOOP, errno.ENOTDIR, errno.EISDIR, errno.ENXIO)
"""What says that a name became something else between the look and the opening."""
MAX_TRIES = 3
MAX_SKIPPED = 100


class WorkspaceLimits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How large a workspace may be; beyond it a snapshot is refused.

    >>> WorkspaceLimits(files=1000).depth
    100
    """

    files: int = 100_000
    """Files, folders and links."""
    bytes: int = 8 << 30
    depth: int = 100


class Skipped(msgspec.Struct, frozen=True):
    """What a snapshot does not have, and why: no file, folder or link, or nothing that can be read.

    >>> Skipped("run/daemon.sock", "socket").kind
    'socket'
    """

    path: str
    kind: str
    """`fifo`, `socket`, `device`, `mount` (another file system) or `unreadable`."""


class Scan:
    """One walk over a workspace. `skipped` and the counts are what it found; without `keep` nothing is stored."""

    def __init__(self, store: Store, index: ContentIndex, limits: WorkspaceLimits, *, keep: bool = True) -> None:
        self.store, self.limits, self.known, self.keep = store, limits, index, keep
        self.begun = time.time_ns()
        self.index = ContentIndex(store.generation)
        self.certain = index.generation == self.index.generation
        self.skipped: list[Skipped] = []
        self.counts = {FILE: 0, FOLDER: 0, LINK: 0}
        self.size = self.seen = self.device = 0

    def folder(self, descriptor: int) -> bytes:
        """The hash of a whole folder."""
        self.device = os.fstat(descriptor).st_dev
        return self._tree(descriptor, b"", 0)

    def _tree(self, descriptor: int, path: bytes, depth: int) -> bytes:
        if depth > self.limits.depth:
            raise LimitExceeded(f"workspace: expected at most {self.limits.depth} folders one in the other, got more")
        found = [self._entry(descriptor, name, status, path, depth) for name, status in self._names(descriptor)]
        digest, data = encode_tree(entry for entry in found if entry is not None)
        if self.keep:
            self.store.add_tree(digest, data)
        return digest

    def _names(self, descriptor: int) -> list[tuple[bytes, os.stat_result]]:
        names: list[tuple[bytes, os.stat_result]] = []
        with os.scandir(descriptor) as found:
            for one in found:
                self.seen += 1
                if self.seen > self.limits.files:
                    raise LimitExceeded(f"workspace: expected at most {self.limits.files} names, got more")
                with suppress(FileNotFoundError):  # gone meanwhile
                    names.append((os.fsencode(one.name), one.stat(follow_symlinks=False)))
        return names

    def _entry(self, parent: int, name: bytes, found: os.stat_result, above: bytes, depth: int) -> TreeEntry | None:
        path = above + b"/" + name if above else name
        try:
            for _ in range(MAX_TRIES):
                try:
                    return self._one(parent, name, found, path, depth)
                except OSError as error:
                    if error.errno not in CHANGED:
                        raise
                    found = os.stat(name, dir_fd=parent, follow_symlinks=False)
        except FileNotFoundError:
            return None  # gone meanwhile
        except PermissionError:
            return self._skip(path, "unreadable")
        raise SnapshotError(f"workspace: expected {shown(path)} to be one thing, got one that changes all the time")

    def _one(self, parent: int, name: bytes, found: os.stat_result, path: bytes, depth: int) -> TreeEntry | None:
        kind, mode = stat.S_IFMT(found.st_mode), found.st_mode & PERMISSIONS
        if found.st_dev != self.device:
            return self._skip(path, "mount")
        if kind == stat.S_IFREG:
            content, size = self._file(parent, name, found, path)
            self.counts[FILE] += 1
            return TreeEntry(name, FILE, mode, size, content)
        if kind == stat.S_IFDIR:
            with open_folder(parent, name) as descriptor:
                content = self._tree(descriptor, path, depth + 1)
            self.counts[FOLDER] += 1
            return TreeEntry(name, FOLDER, mode, 0, content)
        if kind == stat.S_IFLNK:
            self.counts[LINK] += 1
            return TreeEntry(name, LINK, PERMISSIONS, 0, os.readlink(name, dir_fd=parent))
        return self._skip(path, SPECIAL.get(kind, "device"))

    def _skip(self, path: bytes, kind: str) -> None:
        if len(self.skipped) < MAX_SKIPPED:
            self.skipped.append(Skipped(shown(path), kind))

    def _file(self, parent: int, name: bytes, found: os.stat_result, path: bytes) -> tuple[bytes, int]:
        content, size = self.known.content(path, found), found.st_size
        if content is not None and (self.certain or self.store.has(content)):
            self.index.rows[path] = self.known.rows[path]
        else:
            self._left(path, size)
            descriptor = os.open(name, FILE_FLAGS, dir_fd=parent)
            try:
                content, size = self._read(descriptor, path)
            finally:
                os.close(descriptor)
        self._left(path, size)
        self.size += size
        return content, size

    def _left(self, path: bytes, size: int) -> int:
        left = self.limits.bytes - self.size
        if size > left:
            raise LimitExceeded(f"workspace: expected {self.limits.bytes} bytes at most, got more with {shown(path)}")
        return left

    def _read(self, descriptor: int, path: bytes) -> tuple[bytes, int]:
        """Keep what is in a file; tried again where it changes meanwhile, and then not remembered."""
        content, size = b"", 0
        for _ in range(MAX_TRIES):
            before = os.fstat(descriptor)
            if not stat.S_ISREG(before.st_mode):
                raise OSError(errno.ELOOP, "no file any more")
            content, size = self._kept(descriptor, self._left(path, before.st_size))
            after = os.fstat(descriptor)
            if (before.st_mtime_ns, before.st_ctime_ns, size) == (after.st_mtime_ns, after.st_ctime_ns, after.st_size):
                self.index.remember(path, after, content, self.begun)
                break
        return content, size

    def _kept(self, descriptor: int, most: int) -> tuple[bytes, int]:
        if self.keep:
            return self.store.add_file(descriptor, most)
        hashed = sha256()
        size = copy(descriptor, None, most, hashed.update)
        return hashed.digest(), size
