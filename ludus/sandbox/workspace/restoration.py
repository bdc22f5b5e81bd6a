"""Restoring: a folder becomes exactly what a tree says. Files are written beside their place and renamed into it.

As in a scan, all happens below open descriptors: a link that somebody put in the way is replaced, never followed.
"""

import os
import stat
from contextlib import suppress
from secrets import token_hex

from ludus.errors import LimitExceeded
from ludus.sandbox.removal import Removal, make_writable, open_folder
from ludus.sandbox.workspace.index import ContentIndex
from ludus.sandbox.workspace.scan import WorkspaceLimits
from ludus.sandbox.workspace.store import Store
from ludus.sandbox.workspace.tree import FILE, FOLDER, TreeEntry

__all__ = ["Restoration"]

KINDS = {stat.S_IFREG: "file", stat.S_IFDIR: "folder", stat.S_IFLNK: "link"}
NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class Restoration:
    """One run; what the index knows to be right already is left alone."""

    def __init__(self, store: Store, index: ContentIndex, limits: WorkspaceLimits) -> None:
        self.store, self.index, self.limits = store, index, limits
        self.names = self.size = 0

    def folder(self, descriptor: int, digest: bytes) -> None:
        """Make a folder what the tree says. New files belong to whom the folder belongs."""
        root = os.fstat(descriptor)
        self.device = root.st_dev
        self.owner = None if (root.st_uid, root.st_gid) == (os.geteuid(), os.getegid()) else (root.st_uid, root.st_gid)
        with Removal(descriptor) as self.removal:
            self._tree(descriptor, digest, b"", 0)

    def _tree(self, descriptor: int, digest: bytes, above: bytes, depth: int) -> None:
        entries = {entry.name: entry for entry in self.store.tree(digest)}
        self._count(entries, depth)
        present = self._present(descriptor, entries)
        for name, entry in entries.items():
            path = above + b"/" + name if above else name
            found = present.get(name)
            if entry.kind == FOLDER:
                self._folder(descriptor, entry, found, path, depth)
            elif entry.kind == FILE:
                self._file(descriptor, entry, found, path)
            elif found is None or os.readlink(name, dir_fd=descriptor) != entry.content:
                self._link(descriptor, entry)

    def _present(self, descriptor: int, entries: dict[bytes, TreeEntry]) -> dict[bytes, os.stat_result]:
        """What is there of the kind that is wanted; all else is removed."""
        present: dict[bytes, os.stat_result] = {}
        with os.scandir(descriptor) as found:
            names = [os.fsencode(one.name) for one in found]
        for name in names:
            with suppress(FileNotFoundError):
                status = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
                if status.st_dev != self.device:
                    continue  # a mount is no part of a workspace
                if name in entries and KINDS.get(stat.S_IFMT(status.st_mode)) == entries[name].kind:
                    present[name] = status
                elif name != self.removal.name:
                    self.removal.remove(descriptor, name)
        return present

    def _count(self, entries: dict[bytes, TreeEntry], depth: int) -> None:
        """A few folders of a store, each in all of the next, are a tree without end: it keeps to a scan's limits."""
        self.names += len(entries)
        self.size += sum(entry.size for entry in entries.values() if entry.kind == FILE)
        most = self.limits
        if self.names > most.files or self.size > most.bytes or depth > most.depth:
            raise LimitExceeded(
                f"restore: expected at most {most.files} names, {most.bytes} bytes and {most.depth} folders one in the "
                "other, got a snapshot with more"
            )

    def _folder(self, parent: int, entry: TreeEntry, found: os.stat_result | None, path: bytes, depth: int) -> None:
        if found is None:
            os.mkdir(entry.name, 0o700, dir_fd=parent)
        make_writable(parent, entry.name)
        with open_folder(parent, entry.name) as descriptor:
            if found is None and self.owner is not None:
                os.fchown(descriptor, *self.owner)
            self._tree(descriptor, entry.content, path, depth + 1)
            if stat.S_IMODE(os.fstat(descriptor).st_mode) != entry.mode:
                os.fchmod(descriptor, entry.mode)

    def _file(self, parent: int, entry: TreeEntry, found: os.stat_result | None, path: bytes) -> None:
        if found is not None and self.index.content(path, found) == entry.content:
            if stat.S_IMODE(found.st_mode) == entry.mode:
                return
            if found.st_nlink == 1 and self._set_mode(parent, entry):
                return
        temporary = b".ludus-" + token_hex(8).encode()
        descriptor = os.open(temporary, NEW_FILE, 0o600, dir_fd=parent)
        try:
            self.store.write_to(entry.content, entry.size, descriptor)
            if self.owner is not None:
                os.fchown(descriptor, *self.owner)
            os.fchmod(descriptor, entry.mode)
            os.rename(temporary, entry.name, src_dir_fd=parent, dst_dir_fd=parent)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary, dir_fd=parent)
            raise
        finally:
            os.close(descriptor)

    def _set_mode(self, parent: int, entry: TreeEntry) -> bool:
        """Change only the permissions; false where the file is no longer the one that was seen."""
        descriptor = os.open(entry.name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
        try:
            found = os.fstat(descriptor)
            right = stat.S_ISREG(found.st_mode) and found.st_nlink == 1
            if right:
                os.chmod(f"/proc/self/fd/{descriptor}", entry.mode)
            return right
        finally:
            os.close(descriptor)

    def _link(self, parent: int, entry: TreeEntry) -> None:
        self.removal.remove(parent, entry.name)
        os.symlink(entry.content, entry.name, dir_fd=parent)
        if self.owner is not None:
            os.chown(entry.name, *self.owner, dir_fd=parent, follow_symlinks=False)
