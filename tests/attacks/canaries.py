"""Files that are watched: secrets that nobody may read, and folders that nobody may change."""

import ctypes
import os
import shutil
import stat
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from ludus.sandbox.user import give

__all__ = ["Canaries", "remove_tree", "secret"]

PACKAGE = str(Path(__file__).resolve().parents[2])
SYSTEM = ("/", "/usr", "/usr/bin", "/usr/local/lib", "/etc", "/var", "/opt", "/root", "/home", "/dev")
SHARED = ("/tmp", "/var/tmp", "/dev/shm")
FILES = 20
"""Files of the real home and project that attacks try to read; nothing of their content is looked at."""
OF_ROOT = ("run-set-user-id", "read-roots-own")
"""Attacks that find files which only root can make."""
Tree = dict[str, tuple[Any, ...]]


def secret() -> str:
    """Text that can be known only by whoever read it."""
    return f"canary-{os.urandom(16).hex()}"


class Canaries:
    """A folder for one scene, with files outside, files that are shown and a folder that is shared, for each attack."""

    def __init__(self, attacks: Iterable[str]) -> None:
        self.folder = os.path.realpath(tempfile.mkdtemp(prefix="ludus-scene-"))
        os.chmod(self.folder, 0o755)
        self.own = f"{self.folder}/own"
        """The folder of an attacker that is given none."""
        os.mkdir(self.own)
        self.name = f"ludus-canary-{os.urandom(8).hex()}"
        """Of files that attacks would leave in folders of the system."""
        self._secrets: set[str] = set()
        self.names: dict[str, str] = {}
        """Secrets that are names of files, by folder."""
        self.temporary = [path for path in map(self._leave, _shared_folders()) if path]
        self.home = [*_files(os.path.expanduser("~")), self._file("home/.profile", 0o644)]
        self.keys = [*_files(os.path.expanduser("~/.ssh")), self._file("home/.ssh/id_ed25519", 0o644)]
        self.project = [*_files(os.getcwd()), *_files(os.path.join(os.getcwd(), ".git"))]
        self.project += [self._file("project/pyproject.toml", 0o644), self._file("project/.git/config", 0o644)]
        self._attacks = list(attacks)
        for attack in self._attacks:
            self._stage(attack)
        give(f"{self.folder}/shared")
        self._before = {place: self._tree(f"{self.folder}/{place}") for place in ("outside", "shown")}

    def _file(self, name: str, mode: int) -> str:
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), mode=0o755, exist_ok=True)
        return self._write(path, mode)

    def _write(self, path: str, mode: int) -> str:
        """A file with a new secret, which is remembered: what attackers leave in its place is never read."""
        self._secrets.add(text := secret())
        Path(path).write_text(f"{text}\n", encoding="utf8")
        os.chmod(path, mode)
        return path

    def _leave(self, folder: str) -> str:
        """A file for everybody to read in a folder for everybody, if there is one."""
        self.names[folder] = name = secret()
        try:
            return self._write(os.path.join(folder, name), 0o644)
        except OSError:
            return ""

    def _stage(self, attack: str) -> None:
        """Open to all: it is for the sandbox to keep an attacker away, not for the modes of files."""
        for place in ("outside", "shown", "shared"):
            self._file(f"{place}/{attack}/file", 0o666)
            os.chmod(f"{self.folder}/{place}/{attack}", 0o777)
        os.symlink(f"{self.folder}/outside/{attack}/file", f"{self.folder}/shared/{attack}/trap")
        os.symlink(f"{self.folder}/outside/{attack}", f"{self.folder}/shared/{attack}/swapped")
        if os.geteuid() == 0 and attack in OF_ROOT:
            program = f"{self.folder}/shown/{attack}/set-user-id-id"
            shutil.copyfile(os.path.realpath("/usr/bin/id"), program)
            os.chmod(program, 0o4755)
            self._file(f"shown/{attack}/roots-own", 0o600)

    def read(self, told: str) -> str:
        """Which of the watched files an attacker has read, going by what it tells; empty where none."""
        words = set(told.replace(";", " ").split())
        known = [path for path in (*self.home, *self.keys, *self.project) if _mark(path) in words]
        return ", ".join(known) or ", ".join(sorted(words & self._secrets))

    def changed(self, place: str, attack: str) -> str:
        """What has changed in an attack's folder outside, or in the one that it is shown; empty where nothing."""
        top = f"{self.folder}/{place}/{attack}"
        before = {path: was for path, was in self._before[place].items() if path == top or path.startswith(f"{top}/")}
        now = self._tree(top)
        different = [path for path in {**before, **now} if before.get(path) != now.get(path)]
        return ", ".join(sorted(os.path.relpath(path, self.folder) for path in different))

    def _tree(self, top: str) -> Tree:
        found: Tree = {}
        for folder, folders, names in os.walk(top):
            for path in (folder, *(os.path.join(folder, name) for name in (*folders, *names))):
                one = os.lstat(path)
                links = 0 if stat.S_ISDIR(one.st_mode) else one.st_nlink
                content = Path(path).read_bytes() if stat.S_ISREG(one.st_mode) else b""
                found[path] = (
                    one.st_mode,
                    one.st_uid,
                    links,
                    one.st_mtime_ns,
                    content,
                    os.listxattr(path, follow_symlinks=False),
                )
        return found

    def left(self, attack: str) -> str:
        """The folders of the system or of the interpreter in which an attack left a file, which is removed here."""
        found: list[str] = []
        for folder in (*SYSTEM, *libraries()):
            path = os.path.join(folder, f"{self.name}-{attack}")
            if os.path.lexists(path):
                os.unlink(path)
                found.append(folder)
        return ", ".join(found)

    def set_user_id(self, attack: str) -> str:
        """A set-user-id file, whose ever it is, that was left in the shared folder; empty where none."""
        for folder, _, names in os.walk(f"{self.folder}/shared/{attack}"):
            for path in (os.path.join(folder, name) for name in names):
                one = os.lstat(path)
                if one.st_mode & (stat.S_ISUID | stat.S_ISGID):
                    return f"{os.path.basename(path)} of user {one.st_uid}"
        return ""

    def aim(self) -> dict[str, Any]:
        """What attacks are told of it: where things are, and nothing that is in them."""
        disk = os.stat("/").st_dev
        return {
            "home": self.home,
            "keys": self.keys,
            "project": self.project,
            "temporary": self.temporary,
            "shared_folders": list(self.names),
            "system": list(SYSTEM),
            "libraries": libraries(),
            "name": self.name,
            "handle": _handle(self.temporary[0]).hex(),
            "disk": [os.major(disk), os.minor(disk)],
            "node": _node(disk),
            **{place: f"{self.folder}/{place}" for place in ("outside", "shown", "shared")},
        }

    def close(self) -> None:
        """Remove all of it."""
        for attack in self._attacks:
            self.left(attack)
        for path in self.temporary:
            with suppress(FileNotFoundError):
                os.unlink(path)
        if not _mounted_below(self.folder):  # by an attack that could not take it off again
            remove_tree(self.folder)


def remove_tree(folder: str) -> None:
    """By the system's own program: attackers make folders deeper than Python can walk."""
    subprocess.run(["/bin/rm", "-rf", "--", folder], check=False)


@cache
def libraries() -> list[str]:
    """Where this interpreter and Ludus import from."""
    named = (sysconfig.get_path("stdlib"), sysconfig.get_path("purelib"), PACKAGE, sys.prefix, sys.base_prefix)
    return list(dict.fromkeys(os.path.realpath(one) for one in named))


def _mounted_below(folder: str) -> bool:
    points = [line.split(" ")[1] for line in Path("/proc/self/mounts").read_text(encoding="utf8").splitlines()]
    return any(point.startswith(f"{folder}/") for point in points)


def _shared_folders() -> list[str]:
    return [
        folder for folder in dict.fromkeys((os.path.realpath(tempfile.gettempdir()), *SHARED)) if os.path.isdir(folder)
    ]


def _files(folder: str) -> list[str]:
    """The first files of a folder that is really there."""
    try:
        entries = sorted(os.scandir(folder), key=lambda one: one.name)
    except OSError:
        return []
    return [one.path for one in entries if one.is_file(follow_symlinks=False)][:FILES]


def _mark(path: str) -> str:
    """Which file it is: what an attacker that opened it would tell."""
    try:
        found = os.stat(path)
    except OSError:
        return ""
    return f"{found.st_ino}:{found.st_size}:{found.st_mtime_ns}"


def _handle(path: str) -> bytes:
    """The number of a file in its file system, as the kernel gives it to root; empty where it has none."""
    buffer, mount = ctypes.create_string_buffer(136), ctypes.c_int()
    ctypes.memmove(buffer, (128).to_bytes(4, sys.byteorder), 4)
    call = getattr(ctypes.CDLL(None), "name_to_handle_at", None)
    if call is None or call(-100, path.encode(), buffer, ctypes.byref(mount), 0) < 0:
        return b""
    return buffer.raw[: 8 + int.from_bytes(buffer.raw[:4], sys.byteorder)]


def _node(device: int) -> str:
    """The name of a disk below `/dev`."""
    return os.path.basename(os.path.realpath(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}"))
