"""`Store`: where the contents of snapshots are, each once, under the hash of its bytes.

Contents are copies, or clones where the file system can share blocks; never hard links, through which a write to the
workspace would change what was. Everything is written under a temporary name and then renamed, so nothing half written
is ever seen, however many work on the same store.
"""

import fcntl
import os
import stat
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from secrets import token_hex

from ludus.core.foreign_file import read_foreign_file
from ludus.errors import InvalidArgument, SnapshotError
from ludus.sandbox.locks import lock_descriptor
from ludus.sandbox.workspace.content import clone, copy, read_all, write_all
from ludus.sandbox.workspace.tree import TreeEntry, decode_tree

__all__ = ["Store"]

READ_AT_ONCE_BYTES = 4 << 20
"""Files up to here are read at once: what the store knows already is not written again."""
MAX_TREE_BYTES = 256 << 20
"""Of the entries of one folder: a million of them with names of two hundred bytes."""
READ_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


class Store:
    """A folder of contents, shared by any number of workspaces and processes. Its folder is only for its owner.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = Store(folder + "/store")
    ...     digest = store.add_bytes(b"hello")
    ...     store.has(digest)
    True
    """

    def __init__(self, folder: str | os.PathLike[str], *, sync: bool = False) -> None:
        self.folder = Path(folder).absolute()
        self.sync = sync
        """Whether each write waits for the disk, so that a power cut loses nothing."""
        self._clones = True
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = self.folder.stat()
        if found.st_uid != os.geteuid() or found.st_mode & 0o022:
            raise InvalidArgument(
                f"store {self.folder}: expected a folder of yours that nobody else may write, got one of user "
                f"{found.st_uid} with mode {stat.S_IMODE(found.st_mode):o}"
            )
        for name in ("objects", "trees", "temporary", "workspaces"):
            (self.folder / name).mkdir(mode=0o700, exist_ok=True)

    def _path(self, kind: str, digest: bytes) -> str:
        name = digest.hex()
        return f"{self.folder}/{kind}/{name[:2]}/{name[2:]}"

    def has(self, digest: bytes) -> bool:
        """Whether a file's content is there."""
        return os.path.exists(self._path("objects", digest))

    def add_bytes(self, data: bytes) -> bytes:
        """Keep a content; its hash."""
        digest = sha256(data).digest()
        path = self._path("objects", digest)
        if not _is_whole(path, len(data)):
            with self._new(path) as file:
                write_all(file, data)
        return digest

    def add_file(self, source: int, most: int) -> tuple[bytes, int]:
        """Keep what a descriptor reads, at most so many bytes; its hash and size."""
        small = min(READ_AT_ONCE_BYTES, most)
        if os.fstat(source).st_size <= small and len(data := read_all(source, small + 1)) <= small:
            return self.add_bytes(data), len(data)
        temporary = f"{self.folder}/temporary/{token_hex(8)}"
        try:
            digest, size = self._take(source, temporary, most)
            path = self._path("objects", digest)
            if not _is_whole(path, size):
                self._publish(temporary, path)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(temporary)
        return digest, size

    def _take(self, source: int, temporary: str, most: int) -> tuple[bytes, int]:
        """Copy into a temporary file, and hash what was copied: the source may change meanwhile."""
        file = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o400)
        try:
            hashed = sha256()
            cloned = self._clone(source, file)
            size = copy(file if cloned else source, None if cloned else file, most, hashed.update)
            if self.sync:
                os.fsync(file)
            return hashed.digest(), size
        finally:
            os.close(file)

    def _clone(self, source: int, target: int) -> bool:
        """Share the blocks, where the file system can."""
        self._clones = self._clones and clone(source, target)
        return self._clones

    def write_to(self, digest: bytes, size: int, target: int) -> None:
        """Write a content to a descriptor; SnapshotError where it is not there whole."""
        try:
            source = os.open(self._path("objects", digest), READ_FLAGS)
        except FileNotFoundError:
            raise SnapshotError(f"store: expected the content {digest.hex()}, got nothing under that name") from None
        try:
            found = os.fstat(source)
            if found.st_size != size or not stat.S_ISREG(found.st_mode):
                raise SnapshotError(
                    f"store: expected {size} bytes of {digest.hex()}, got {found.st_size}; it is damaged"
                )
            if not (size and self._clone(source, target)):
                copy(source, target, size)
        finally:
            os.close(source)

    def content(self, digest: bytes, size: int) -> bytes:
        """A content that is known to be small; SnapshotError where it is not there whole."""
        data = self._read("objects", digest, size, "content")
        if sha256(data).digest() != digest:
            raise SnapshotError(f"store: expected the content {digest.hex()}, got another; it is damaged")
        return data

    def _read(self, kind: str, digest: bytes, most_bytes: int, label: str) -> bytes:
        try:
            return read_foreign_file(self._path(kind, digest), most_bytes)
        except FileNotFoundError:
            raise SnapshotError(f"store: expected the {label} {digest.hex()}, got nothing under that name") from None
        except OSError as error:
            raise SnapshotError(f"store: expected the {label} {digest.hex()}, got {error.strerror}") from None

    def add_tree(self, digest: bytes, data: bytes) -> None:
        """Keep a folder's entries."""
        path = self._path("trees", digest)
        if not _is_whole(path, len(data)):
            with self._new(path) as file:
                write_all(file, data)

    def has_tree(self, digest: bytes) -> bool:
        """Whether a folder's entries are there."""
        return os.path.exists(self._path("trees", digest))

    def tree(self, digest: bytes) -> tuple[TreeEntry, ...]:
        """A folder's entries."""
        return decode_tree(digest, self._read("trees", digest, MAX_TREE_BYTES, "folder"))

    @contextmanager
    def _new(self, path: str) -> Generator[int, None, None]:
        temporary = f"{self.folder}/temporary/{token_hex(8)}"
        file = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o400)
        try:
            yield file
            if self.sync:
                os.fsync(file)
            self._publish(temporary, path)
        finally:
            os.close(file)
            with suppress(FileNotFoundError):
                os.unlink(temporary)

    def _publish(self, temporary: str, path: str) -> None:
        try:
            os.rename(temporary, path)
        except FileNotFoundError:  # the first under these two digits
            Path(path).parent.mkdir(mode=0o700, exist_ok=True)
            os.rename(temporary, path)

    @contextmanager
    def lock(self, *, alone: bool, name: str = "") -> Generator[None, None, None]:
        """Many may add; only one may collect, and then nobody adds. With `name`: the same for one workspace."""
        path = self.folder / "workspaces" / name / "lock" if name else self.folder / "lock"
        path.parent.mkdir(mode=0o700, exist_ok=True)
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            lock_descriptor(file, path, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
            yield
        finally:
            os.close(file)

    @property
    def generation(self) -> int:
        """How often something was removed: what somebody knew to be there may be gone since."""
        try:
            return int((self.folder / "generation").read_text())
        except (FileNotFoundError, ValueError):
            return 0

    def gc(self, roots: Iterator[bytes]) -> tuple[int, int]:
        """Remove what none of these folders leads to; how many contents and folders, and their bytes."""
        kept = self._reachable(roots)
        temporary = self.folder / "generation.new"
        temporary.write_text(str(self.generation + 1))
        temporary.rename(self.folder / "generation")
        removed = [_remove(path) for kind in kept for path in self._unkept(kind, kept[kind])]
        removed += [_remove(path) for path in (self.folder / "temporary").iterdir()]
        return len(removed), sum(removed)

    def _reachable(self, roots: Iterator[bytes]) -> dict[str, set[bytes]]:
        kept: dict[str, set[bytes]] = {"objects": set(), "trees": set()}
        queue = list(roots)
        while queue:
            digest = queue.pop()
            if digest in kept["trees"]:
                continue
            kept["trees"].add(digest)
            for entry in self.tree(digest):
                if entry.kind == "folder":
                    queue.append(entry.content)
                elif entry.kind == "file":
                    kept["objects"].add(entry.content)
        return kept

    def _unkept(self, kind: str, kept: set[bytes]) -> Iterator[Path]:
        for path in (self.folder / kind).glob("*/*"):
            if bytes.fromhex(path.parent.name + path.name) not in kept:
                yield path


def _is_whole(path: str, size: int) -> bool:
    """A power cut may leave a name without its bytes."""
    try:
        return os.stat(path).st_size == size
    except FileNotFoundError:
        return False


def _remove(path: Path) -> int:
    size = path.stat().st_size
    path.unlink()
    return size
