"""Objects of git in plain Python: a repository made without git, and one that was read, to be looked at.

Tasks write their repositories with these, object by object, so that every hash is known before a process starts; the
same functions read what the repositories have become. Nothing here runs a program or opens a file.
"""

import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha1
from typing import NamedTuple

from ludus.errors import InvalidValue

__all__ = ["Commit", "Entry", "Repository", "Seen", "hashed"]

FILE, PROGRAM, LINK, FOLDER, MODULE = 0o100644, 0o100755, 0o120000, 0o40000, 0o160000


class Entry(NamedTuple):
    """A file in a tree: its mode, and its object."""

    mode: int
    id: str


class Commit(NamedTuple):
    """What a commit says."""

    tree: str
    parents: tuple[str, ...]
    author: str
    committer: str
    message: str

    @property
    def subject(self) -> str:
        """The first line of its message."""
        return self.message.split("\n", 1)[0]

    @property
    def author_name(self) -> str:
        """Name and address of who wrote it, without the date."""
        return self.author.rpartition("> ")[0] + ">"


def hashed(kind: str, data: bytes) -> str:
    """The name of an object.

    >>> hashed("blob", b"")
    'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391'
    """
    return sha1(b"%s %d\0" % (kind.encode(), len(data)) + data, usedforsecurity=False).hexdigest()


@dataclass
class Repository:
    """Objects and refs; `commit` adds to it as `git commit` would, with a clock of its own.

    >>> repository = Repository(clock=1_700_000_000)
    >>> first = repository.commit("main", {"a.txt": "one"}, "Begin", author="Ada <ada@example.com>")
    >>> repository.files(first)["a.txt"], repository.refs["refs/heads/main"] == first
    ('one', True)
    """

    clock: int = 1_700_000_000
    objects: dict[str, tuple[str, bytes]] = field(default_factory=dict[str, tuple[str, bytes]])
    refs: dict[str, str] = field(default_factory=dict[str, str])
    head: str = "refs/heads/main"

    # --- making ---

    def add(self, kind: str, data: bytes) -> str:
        """Keep an object."""
        name = hashed(kind, data)
        self.objects[name] = kind, data
        return name

    def tree(self, files: Mapping[str, "str | Entry"]) -> str:
        """Keep a tree of files, by path."""
        inside: dict[str, dict[str, str | Entry]] = {}
        entries: list[tuple[str, int, str]] = []
        for path, content in files.items():
            name, _, rest = path.partition("/")
            if rest:
                inside.setdefault(name, {})[rest] = content
            else:
                one = content if isinstance(content, Entry) else Entry(FILE, self.add("blob", content.encode()))
                entries.append((name, one.mode, one.id))
        entries += [(name, FOLDER, self.tree(below)) for name, below in inside.items()]
        entries.sort(key=lambda one: one[0] + "/" * (one[1] == FOLDER))
        return self.add("tree", b"".join(b"%o %s\0" % (m, n.encode()) + bytes.fromhex(i) for n, m, i in entries))

    def commit(
        self,
        branch: str,
        files: Mapping[str, "str | Entry"],
        message: str,
        *,
        author: str,
        parents: Iterable[str] | None = None,
    ) -> str:
        """Commit all files to a branch, an hour after the last one; by default on top of it."""
        ref = f"refs/heads/{branch}"
        before = [self.refs[ref]] if parents is None and ref in self.refs else list(parents or ())
        self.clock += 3600
        who = f"{author} {self.clock} +0000"
        lines = [f"tree {self.tree(files)}", *(f"parent {one}" for one in before)]
        lines += [f"author {who}", f"committer {who}", "", message.rstrip("\n") + "\n"]
        self.refs[ref] = self.add("commit", "\n".join(lines).encode())
        return self.refs[ref]

    def branch(self, name: str, at: str) -> None:
        """Begin a branch."""
        self.refs[f"refs/heads/{name}"] = at

    def loose(self, prefix: str) -> dict[str, bytes]:
        """Every object as the file that git keeps it in."""
        return {
            f"{prefix}objects/{name[:2]}/{name[2:]}": zlib.compress(b"%s %d\0" % (kind.encode(), len(data)) + data, 1)
            for name, (kind, data) in self.objects.items()
        }

    # --- looking ---

    def read(self, name: str) -> Commit:
        """A commit."""
        kind, data = self.objects.get(name, ("", b""))
        if kind != "commit":
            raise InvalidValue(f"object {name}: expected a commit, got {kind or 'nothing'}")
        head, _, message = data.decode("utf8", "replace").partition("\n\n")
        fields = [line.split(" ", 1) for line in head.split("\n") if " " in line and not line.startswith(" ")]
        found = dict(reversed(fields))
        parents = tuple(value for key, value in fields if key == "parent")
        return Commit(found.get("tree", ""), parents, found.get("author", ""), found.get("committer", ""), message)

    def entries(self, tree: str, prefix: str = "") -> dict[str, Entry]:
        """Every file below a tree, by path."""
        found: dict[str, Entry] = {}
        data, at = self.objects.get(tree, ("", b""))[1], 0
        while at < len(data):
            end = data.index(b"\0", at)
            mode, _, name = data[at:end].partition(b" ")
            one, path = Entry(int(mode, 8), data[end + 1 : end + 21].hex()), prefix + name.decode("utf8", "replace")
            found |= self.entries(one.id, f"{path}/") if one.mode == FOLDER else {path: one}
            at = end + 21
        return found

    def text(self, name: str) -> str:
        """A file's content."""
        return self.objects.get(name, ("", b""))[1].decode("utf8", "replace")

    def files(self, commit: str) -> dict[str, str]:
        """Every file of a commit as text, by path."""
        return {path: self.text(one.id) for path, one in self.entries(self.read(commit).tree).items()}

    def tip(self, branch: str) -> str:
        """The commit of a branch; empty where there is none."""
        return self.refs.get(f"refs/heads/{branch}", "")

    def ancestors(self, *names: str) -> set[str]:
        """Commits that can be reached, themselves included."""
        found: set[str] = set()
        waiting = [name for name in names if name]
        while waiting:
            name = waiting.pop()
            if name not in found and self.objects.get(name, ("",))[0] == "commit":
                found.add(name)
                waiting += self.read(name).parents
        return found

    def line(self, name: str) -> list[str]:
        """First parents of a commit, itself first."""
        found: list[str] = []
        while name and self.objects.get(name, ("",))[0] == "commit" and name not in found:
            found.append(name)
            name = next(iter(self.read(name).parents), "")
        return found

    def tagged(self, name: str) -> tuple[str, str]:
        """The commit of a tag and, of an annotated one, its message."""
        target = self.refs.get(f"refs/tags/{name}", "")
        kind, data = self.objects.get(target, ("", b""))
        if kind != "tag":
            return target, ""
        head, _, message = data.decode("utf8", "replace").partition("\n\n")
        return head.split("\n")[0].partition(" ")[2], message.strip()


@dataclass
class Seen(Repository):
    """A repository as it was found, with its index and the files beside it where it has some."""

    detached: str = ""
    """The commit that is checked out without a branch."""
    index: dict[tuple[str, int], Entry] = field(default_factory=dict[tuple[str, int], Entry])
    """By path and stage."""
    beside: dict[str, str] = field(default_factory=dict[str, str])
    """Files of the working tree as text, by path."""
    states: tuple[str, ...] = ()
    """Operations that are under way, as the files that say so."""

    @property
    def checked_out(self) -> str:
        """The commit of HEAD."""
        return self.detached or self.refs.get(self.head, "")

    def clean(self) -> bool:
        """Whether commit, index and tracked files agree."""
        staged = {path: one for (path, stage), one in self.index.items() if stage == 0}
        tree = self.entries(self.read(self.checked_out).tree) if self.checked_out else {}
        if staged != tree or any(stage for _, stage in self.index):
            return False
        return all(self.beside.get(path) == self.text(one.id) for path, one in tree.items() if one.mode != MODULE)


def seen(data: bytes, sizes: list[int], states: list[str], beside: Mapping[str, str] | None = None) -> Seen:
    """A repository from what git said about it, in the order in which it was asked."""
    parts: list[bytes] = []
    for size in sizes:
        parts.append(data[:size])
        data = data[size:]
    found = Seen(objects=_objects(parts[0]), states=tuple(states), beside=dict(beside or {}))
    rows = (line.split(" ") for line in parts[1].decode("utf8", "replace").splitlines())
    found.refs = dict(rows)
    found.head = parts[2].decode("utf8", "replace").strip()
    found.detached = "" if found.head else parts[3].decode().strip()
    for row in filter(None, parts[4].decode("utf8", "replace").split("\0")):
        about, _, path = row.partition("\t")
        mode, name, stage = about.split(" ")
        found.index[path, int(stage)] = Entry(int(mode, 8), name)
    return found


def _objects(data: bytes) -> dict[str, tuple[str, bytes]]:
    """What `git cat-file --batch` prints."""
    found: dict[str, tuple[str, bytes]] = {}
    at = 0
    while at < len(data):
        end = data.index(b"\n", at)
        fields = data[at:end].decode("ascii", "replace").split(" ")
        if len(fields) != 3:
            break  # a damaged object: what comes after it cannot be told apart
        begin, size = end + 1, int(fields[2])
        found[fields[0]] = fields[1], data[begin : begin + size]
        at = begin + size + 1
    return found
