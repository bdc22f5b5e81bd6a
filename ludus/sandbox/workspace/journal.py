"""The journal of a workspace: a line for each snapshot taken, restored, dropped or forked from; none is changed."""

import os
import threading
from pathlib import Path
from typing import Literal

import msgspec

from ludus.errors import SnapshotError
from ludus.sandbox.workspace.scan import Skipped

__all__ = ["SnapshotJournal", "Line", "WorkspaceSnapshot"]

MAX_LOG_BYTES = 256 << 20
FLAGS = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_reading = threading.Lock()
"""Of two threads that read the same lines both would count them, and the next one be written far behind the last."""


class WorkspaceSnapshot(msgspec.Struct, frozen=True, kw_only=True):
    """A workspace as it was. Equal content has an equal id, whenever and wherever it was taken.

    >>> WorkspaceSnapshot(id="ab" * 32, number=0, time=0.0).parent is None
    True
    """

    id: str
    number: int
    """The place in the log of its workspace."""
    time: float
    """In seconds since 1970."""
    parent: str | None = None
    """The id that the workspace had before: that of the last snapshot, or of what was restored or forked since."""
    label: str = ""
    files: int = 0
    folders: int = 0
    links: int = 0
    size: int = 0
    """Bytes of all files."""
    skipped: tuple[Skipped, ...] = ()
    """What it does not have, and why."""


class Line(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What happened."""

    event: Literal["snapshot", "restore", "fork", "drop"]
    id: str
    snapshot: WorkspaceSnapshot | None = None


class SnapshotJournal:
    """A file of lines. The last may be torn by a crash: it is not counted, and the next one takes its place."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._read: list[Line] = []
        self._offset = 0

    def lines(self) -> list[Line]:
        """All that happened, oldest first."""
        with _reading:
            return self._lines()

    def _lines(self) -> list[Line]:
        try:
            with open(os.open(self.path, FLAGS | os.O_RDONLY), "rb") as file:
                file.seek(self._offset)
                new = file.read(MAX_LOG_BYTES)
        except FileNotFoundError:
            return []
        except OSError as error:
            raise SnapshotError(f"{self.path}: expected the log of a workspace, got {error.strerror}") from None
        whole = new[: new.rfind(b"\n") + 1]
        try:
            self._read += [msgspec.json.decode(line, type=Line) for line in whole.split(b"\n")[:-1]]
        except (msgspec.MsgspecError, RecursionError) as error:
            raise SnapshotError(f"{self.path}: expected the log of a workspace, got {error}") from None
        self._offset += len(whole)
        return self._read

    def add(self, line: Line, *, sync: bool) -> None:
        """One line more; called with the workspace's lock."""
        file = os.open(self.path, FLAGS | os.O_RDWR | os.O_CREAT, 0o600)
        try:
            self.lines()
            os.ftruncate(file, self._offset)
            os.pwrite(file, msgspec.json.encode(line) + b"\n", self._offset)
            if sync:
                os.fsync(file)
        finally:
            os.close(file)

    def snapshots(self) -> list[WorkspaceSnapshot]:
        """The snapshots that were not dropped."""
        lines = self.lines()
        dropped = {line.id: place for place, line in enumerate(lines) if line.event == "drop"}
        return [
            line.snapshot
            for place, line in enumerate(lines)
            if line.snapshot is not None and place > dropped.get(line.id, -1)
        ]

    def head(self) -> str | None:
        """The id that the workspace has, as far as is known."""
        return next((line.id for line in reversed(self.lines()) if line.event != "drop"), None)

    def roots(self) -> set[str]:
        """What must be kept."""
        found = {snapshot.id for snapshot in self.snapshots()}
        head = self.head()
        return found if head is None else found | {head}
