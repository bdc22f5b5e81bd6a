"""`Workspace`: a folder with a history of snapshots.

A snapshot is the hash of a tree whose contents are in a store. Restoring ends with a scan that must find the same hash,
so what is restored is what was, or an error. Snapshots see each file as it is when they come to it: for one moment of
all files, take them when nothing writes.
"""

import os
import time
from collections.abc import Generator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from ludus.errors import InvalidArgument, SnapshotError, shorten
from ludus.sandbox.policy import Mount
from ludus.sandbox.removal import FOLDER_FLAGS
from ludus.sandbox.workspace.diff import Diff, compare
from ludus.sandbox.workspace.index import ContentIndex
from ludus.sandbox.workspace.journal import Line, SnapshotJournal, WorkspaceSnapshot
from ludus.sandbox.workspace.restoration import Restoration
from ludus.sandbox.workspace.scan import Scan, WorkspaceLimits
from ludus.sandbox.workspace.store import Store

__all__ = ["Workspace"]

ID_DIGITS = 64


class Workspace:
    """A folder whose snapshots are in `store`, which may be shared; `folder` must not be inside it, nor it in `folder`.

    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as base:
    ...     Path(base, "work").mkdir()
    ...     workspace = Workspace(base + "/work", store=base + "/store")
    ...     empty = workspace.snapshot("empty")
    ...     _ = Path(base, "work", "train.py").write_text("print(1)")
    ...     step = workspace.snapshot("step 1")
    ...     [change.path for change in workspace.diff(empty, step).added]
    ['train.py']
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        store: Store | str | os.PathLike[str],
        limits: WorkspaceLimits | None = None,
        name: str | None = None,
    ) -> None:
        self.folder = Path(os.path.realpath(folder))
        self.store = store if isinstance(store, Store) else Store(store)
        self.limits = WorkspaceLimits() if limits is None else limits
        self.name = sha256(os.fsencode(self.folder)).hexdigest()[:16] if name is None else _checked_name(name)
        self._check_folders()
        self._home = self.store.folder / "workspaces" / self.name
        self._journal = SnapshotJournal(self._home / "log")
        self._index: ContentIndex | None = None
        self._saved = False
        """Whether the file of the index is from here."""

    def _check_folders(self) -> None:
        if not self.folder.is_dir():
            raise InvalidArgument(f"workspace: expected a folder that is there, got {self.folder}")
        store = Path(os.path.realpath(self.store.folder))
        if store.is_relative_to(self.folder) or self.folder.is_relative_to(store):
            raise InvalidArgument(f"workspace: expected a store outside of {self.folder}, got {store}")

    def snapshot(self, label: str = "", *, full: bool = False) -> WorkspaceSnapshot:
        """Keep the folder as it is now. With `full` every file is read, whatever is known about it.

        That is for programs that change files through shared memory while snapshots are taken: the system notes such
        a change only from time to time.
        """
        with self._locked(), self._root() as root:
            scan = Scan(self.store, ContentIndex() if full else self._known(), self.limits)
            digest = scan.folder(root)
            self._remember(scan.index)
            taken = WorkspaceSnapshot(
                id=digest.hex(),
                number=sum(line.event == "snapshot" for line in self._journal.lines()),
                time=time.time(),
                parent=self._journal.head(),
                label=label,
                files=scan.counts["file"],
                folders=scan.counts["folder"],
                links=scan.counts["link"],
                size=scan.size,
                skipped=tuple(scan.skipped),
            )
            self._note(Line(event="snapshot", id=taken.id, snapshot=taken))
            return taken

    def restore(self, snapshot: WorkspaceSnapshot | str) -> None:
        """Make the folder exactly what it was; SnapshotError where something writes in it meanwhile."""
        with self._locked(), self._root() as root:
            digest = self._checked(snapshot)
            self._fill(root, digest)
            self._note(Line(event="restore", id=digest.hex()))

    def fork(
        self, snapshot: WorkspaceSnapshot | str, folder: str | os.PathLike[str], *, name: str | None = None
    ) -> "Workspace":
        """Another workspace that begins as a snapshot of this one, in a folder that is empty or not there yet."""
        target = Path(folder)
        target.mkdir(mode=0o700, parents=True, exist_ok=True)
        if any(target.iterdir()):
            raise InvalidArgument(f"fork: expected a folder that is empty or not there, got {target}")
        status = self.folder.stat()
        target.chmod(status.st_mode & 0o777)
        if os.geteuid() == 0:
            os.chown(target, status.st_uid, status.st_gid)
        forked = Workspace(target, store=self.store, limits=self.limits, name=name)
        forked._begin(self._checked(snapshot))
        return forked

    def _begin(self, digest: bytes) -> None:
        with self._locked(), self._root() as root:
            self._note(Line(event="fork", id=digest.hex()))
            self._fill(root, digest)

    def _fill(self, root: int, digest: bytes) -> None:
        try:
            Restoration(self.store, self._known(), self.limits).folder(root, digest)
            scan = Scan(self.store, self._known(), self.limits, keep=False)
            found = scan.folder(root)
        except OSError as error:
            raise SnapshotError(f"restore: expected to write all of {self.folder}, got {error}") from error
        if found != digest:
            raise SnapshotError(
                f"restore: expected {self.folder} to become {digest.hex()}, got {found.hex()}; something writes in "
                "it, or the store is damaged"
            )
        self._remember(scan.index)

    def diff(self, before: WorkspaceSnapshot | str, after: WorkspaceSnapshot | str, *, text: bool = False) -> Diff:
        """What differs between two snapshots of this store; with `text`, small text files line by line."""
        with self.store.lock(alone=False):
            return compare(self.store, self._checked(before), self._checked(after), text=text)

    def log(self) -> tuple[WorkspaceSnapshot, ...]:
        """The snapshots of this workspace, oldest first."""
        return tuple(self._journal.snapshots())

    @property
    def head(self) -> str | None:
        """The id of the last snapshot that was taken or restored here."""
        return self._journal.head()

    def drop(self, snapshot: WorkspaceSnapshot | str) -> None:
        """Take a snapshot out of the log; `gc` frees what no other one needs."""
        with self._locked():
            self._note(Line(event="drop", id=self._checked(snapshot).hex()))

    def gc(self) -> tuple[int, int]:
        """Remove from the store what no log of any workspace leads to; how many contents, and their bytes."""
        with self.store.lock(alone=True):
            journals = (self.store.folder / "workspaces").glob("*/log")
            return self.store.gc(bytes.fromhex(root) for path in journals for root in SnapshotJournal(path).roots())

    def mount(self, target: str | None = None) -> Mount:
        """The folder as a writable mount for a `Sandbox`."""
        return Mount(str(self.folder), target, writable=True)

    @contextmanager
    def _locked(self) -> Generator[None, None, None]:
        with self.store.lock(alone=False), self.store.lock(alone=True, name=self.name):
            yield

    @contextmanager
    def _root(self) -> Generator[int, None, None]:
        descriptor = os.open(self.folder, FOLDER_FLAGS)
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def _known(self) -> ContentIndex:
        if self._index is None:
            self._index = ContentIndex.load(self._home / "index")
        return self._index

    def _remember(self, index: ContentIndex) -> None:
        # Replacing a file may wait for the disk, so what was saved already is not saved again.
        known, self._index = self._index, index
        if not self._saved or known is None or (known.generation, known.rows) != (index.generation, index.rows):
            index.save(self._home / "index")
            self._saved = True

    def _note(self, line: Line) -> None:
        self._journal.add(line, sync=self.store.sync)

    def _checked(self, snapshot: object) -> bytes:
        text = snapshot.id if isinstance(snapshot, WorkspaceSnapshot) else snapshot
        try:
            digest = bytes.fromhex(text) if isinstance(text, str) and len(text) == ID_DIGITS else b""
        except ValueError:
            digest = b""
        if not digest or not self.store.has_tree(digest):
            raise InvalidArgument(f"snapshot: expected one of this store, got {shorten(text)}")
        return digest

    def __repr__(self) -> str:
        return f"Workspace({str(self.folder)!r}, store={str(self.store.folder)!r})"


def _checked_name(name: object) -> str:
    if not isinstance(name, str) or not name.isascii() or not name.replace("-", "").replace("_", "").isalnum():
        raise InvalidArgument(f"workspace name: expected letters, digits, - and _, got {shorten(name)}")
    return name[:100]
