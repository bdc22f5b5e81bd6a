"""Differences between two snapshots: equal folders are not even opened, for their hashes are equal."""

import difflib
import os
from collections.abc import Iterator

import msgspec

from ludus.errors import LimitExceeded
from ludus.sandbox.workspace.store import Store
from ludus.sandbox.workspace.tree import FILE, FOLDER, Kind, TreeEntry

__all__ = ["Change", "Diff", "compare"]

MAX_TEXT = 1 << 16
MAX_LINES = 2000
"""Lines of a file that is compared as text: comparing takes time that grows faster than they do."""
MAX_COMPARED = 1_000_000
"""Paths and folders."""
Pair = tuple[bytes, TreeEntry | None, TreeEntry | None]


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """One path that differs, with its kind, size and permissions before and after; None where it was not there.

    >>> Change(path="train.py", kind=(None, "file"), size=(None, 120), mode=(None, 0o644)).path
    'train.py'
    """

    path: str
    kind: tuple[Kind | None, Kind | None]
    size: tuple[int | None, int | None]
    mode: tuple[int | None, int | None]
    text: str | None = None
    """A unified diff, where it was asked for and both sides are small texts."""


class Diff(msgspec.Struct, frozen=True, kw_only=True):
    """What differs between two snapshots, in the order of paths.

    >>> bool(Diff())
    False
    """

    added: tuple[Change, ...] = ()
    removed: tuple[Change, ...] = ()
    changed: tuple[Change, ...] = ()
    """Another content, another kind, or a link that leads elsewhere."""
    modes: tuple[Change, ...] = ()
    """The same content with other permissions."""

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed or self.modes)


def compare(store: Store, before: bytes, after: bytes, *, text: bool) -> Diff:
    """The difference of two trees."""
    groups: dict[str, list[Change]] = {"added": [], "removed": [], "changed": [], "modes": []}
    for path, old, new in _bounded(_pairs(store, before, after, b"")):
        changed = (text and _as_text(store, path, old, new)) or None
        groups[_group(old, new)].append(
            Change(
                path=os.fsdecode(path),
                kind=(old and old.kind, new and new.kind),
                size=(old and old.size, new and new.size),
                mode=(old and old.mode, new and new.mode),
                text=changed,
            )
        )
    return Diff(**{name: tuple(changes) for name, changes in groups.items()})


def _bounded(pairs: Iterator[Pair | None]) -> Iterator[Pair]:
    """Those that differ: a few folders of a store, each in all of the next, would be pairs without end."""
    try:
        for number, pair in enumerate(pairs):
            if number > MAX_COMPARED:
                raise LimitExceeded(f"diff: expected at most {MAX_COMPARED} paths that differ, got more")
            if pair is not None:
                yield pair
    except RecursionError:
        raise LimitExceeded("diff: expected some hundred folders one in the other, got more") from None


def _pairs(store: Store, before: bytes | None, after: bytes | None, above: bytes) -> Iterator[Pair | None]:
    """Every path that differs, folders before what is in them; None for a folder that is looked into."""
    if before == after:
        return
    yield None
    old = {entry.name: entry for entry in store.tree(before)} if before is not None else {}
    new = {entry.name: entry for entry in store.tree(after)} if after is not None else {}
    for name in sorted(old.keys() | new.keys()):
        one, two = old.get(name), new.get(name)
        if one == two:
            continue
        path = above + b"/" + name if above else name
        left, right = _below(one), _below(two)
        if left is None or right is None or (one and one.mode) != (two and two.mode):
            yield path, one, two
        yield from _pairs(store, left, right, path)


def _below(entry: TreeEntry | None) -> bytes | None:
    return entry.content if entry is not None and entry.kind == FOLDER else None


def _group(old: TreeEntry | None, new: TreeEntry | None) -> str:
    if old is None:
        return "added"
    if new is None:
        return "removed"
    same = old.kind == new.kind and (old.kind == FOLDER or old.content == new.content)
    return "modes" if same else "changed"


def _as_text(store: Store, path: bytes, old: TreeEntry | None, new: TreeEntry | None) -> str | None:
    before, after = _lines(store, old), _lines(store, new)
    if before is None or after is None:
        return None
    name = path.decode("utf8", "backslashreplace")
    lines = difflib.unified_diff(before, after, name if old else "/dev/null", name if new else "/dev/null")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ no newline at the end\n" for line in lines)


def _lines(store: Store, entry: TreeEntry | None) -> list[str] | None:
    """The lines of a file; none of what is not there, None where it is no small text."""
    if entry is None:
        return []
    if entry.kind != FILE or entry.size > MAX_TEXT:
        return None
    try:
        lines = store.content(entry.content, entry.size).decode("utf8").splitlines(keepends=True)
    except UnicodeDecodeError:
        return None
    return None if len(lines) > MAX_LINES or any("\0" in line for line in lines) else lines
