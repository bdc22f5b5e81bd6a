"""Attacks on files: reading, writing, links, devices, set-user-id programs."""

import ctypes
import os
import select
import shutil
import stat
import subprocess
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from tests.attacks.inside.kernel import call
from tests.attacks.inside.trying import CHANNEL, any_of, canaries, of_processes, tell

Aim = dict[str, Any]
MOST = 65536
NOBODY = 65534
SET_USER_ID = 0o6755
SWAPPING = 8.0
"""Seconds at most."""
REMOUNT = 0x20 | 0x1000
"""MS_REMOUNT and MS_BIND: with all options that are not named taken off."""


def read_home(aim: Aim) -> str:
    """Read the files in the home folder."""
    return any_of(partial(_open, path) for path in aim["home"])


def read_keys(aim: Aim) -> str:
    """Read private keys."""
    return any_of(partial(_open, path) for path in aim["keys"])


def read_project(aim: Aim) -> str:
    """Read the files of the project that the work is started from."""
    return any_of(partial(_open, path) for path in aim["project"])


def read_temporary(aim: Aim) -> str:
    """Read what others have left, for everybody to read, in shared folders."""
    return any_of(partial(_read, path) for path in aim["temporary"])


def read_by_proc(aim: Aim) -> str:
    """Read through the folders that /proc shows of other processes, and of oneself."""
    below = [
        f"/proc/{pid}/{way}" for pid in ("self", 1, os.getppid(), *aim["pids"]["memory"]) for way in ("root", "cwd")
    ]
    up = "/".join([".."] * 20)
    tops = [*below, *(f"{one}/{up}" for one in below), up]
    return any_of(partial(_read, top + path) for top in tops for path in aim["temporary"])


def list_shared_folders(aim: Aim) -> str:
    """Learn the names of what others have in shared folders."""
    return any_of(lambda folder=folder: _names(folder) for folder in aim["shared_folders"])


def look_up(aim: Aim) -> str:
    """Learn of files outside that they are there, how large they are and when they were changed."""

    def look(path: str) -> str:
        found = os.stat(path)
        return f"{found.st_ino}:{found.st_size}:{found.st_mtime_ns}"

    return any_of(partial(look, path) for path in aim["project"])


def _names(folder: str) -> str:
    return " ".join(canaries(" ".join(os.listdir(folder)).encode()))


def _open(path: str) -> str:
    """Which file it is. That it could be opened is enough: nothing is read of files that are somebody's."""
    with open(path, "rb") as file:
        found = os.fstat(file.fileno())
        return f"{found.st_ino}:{found.st_size}:{found.st_mtime_ns}"


def _read(path: str) -> str:
    """The secrets in a file that was made to be read."""
    with open(path, "rb") as file:
        return " ".join(canaries(file.read(MOST)))


def write_outside(aim: Aim) -> str:
    """Change files and folders outside that everybody may write to, in every way there is."""
    return any_of(_changes(aim["outside"], os.path.join(aim["outside"], "file")))


def _changes(folder: str, file: str) -> "list[Callable[[], str]]":
    """Each alone gives the host away; the last ones remove what the first ones need."""

    def write(flags: int) -> str:
        descriptor = os.open(file, flags)
        if not flags & os.O_TRUNC:
            os.write(descriptor, b"changed")
        os.close(descriptor)
        return f"opened with {flags}"

    def make(name: str) -> str:
        with open(os.path.join(folder, name), "x") as made:
            made.write("made")
        return f"made {name}"

    return [
        lambda: write(os.O_WRONLY | os.O_APPEND),
        lambda: write(os.O_RDWR),
        lambda: write(os.O_WRONLY | os.O_TRUNC),
        lambda: make("new"),
        lambda: os.mkdir(os.path.join(folder, "new-folder")) or "made a folder",
        lambda: os.symlink("/", os.path.join(folder, "new-link")) or "made a link",
        lambda: os.mkfifo(os.path.join(folder, "new-pipe")) or "made a pipe",
        lambda: os.truncate(file, 1) or "cut",
        lambda: os.chmod(file, 0o777) or "changed the mode",
        lambda: os.utime(file, (1, 1)) or "changed the times",
        lambda: os.setxattr(file, "user.ludus", b"1") or "set an attribute",
        lambda: os.rename(file, file + "-moved") or "renamed",
        lambda: os.unlink(file) or "removed",
    ]


def write_system(aim: Aim) -> str:
    """Leave a file in a folder of the system."""
    return any_of(partial(_leave, folder, aim["name"]) for folder in aim["system"])


def poison_interpreter(aim: Aim) -> str:
    """Leave a file where this interpreter, or Ludus, imports from: the host would run it the next time."""
    return any_of(partial(_leave, folder, aim["name"]) for folder in aim["libraries"])


def _leave(folder: str, name: str) -> str:
    with open(os.path.join(folder, name), "x"):
        return f"left a file in {folder}"


def write_read_only(aim: Aim) -> str:
    """Change what is shown read-only."""
    folder, file = aim["shown"], os.path.join(aim["shown"], "file")

    def remount() -> str:
        call("mount", None, folder.encode(), None, REMOUNT, None)
        return "mounted it again"

    return any_of([remount, *_changes(folder, file)])


def follow_links(aim: Aim) -> str:
    """Read and write outside through symbolic links in a shared folder: those that are there, and new ones."""
    shared, targets = aim["shared"], [*aim["temporary"], os.path.join(aim["outside"], "file")]
    ways: list[Callable[[], str]] = [partial(_read, os.path.join(shared, "trap"))]
    for number, target in enumerate(targets):
        for kind, text in (("whole", target), ("up", "/".join([".."] * 20) + target)):
            ways.append(partial(_through, os.path.join(shared, f"link-{kind}-{number}"), text))
    return any_of(ways)


def _through(link: str, target: str) -> str:
    os.symlink(target, link)
    try:
        with open(link, "ab") as file:
            file.write(b"changed")
        changed = "wrote through a link; "
    except OSError:
        changed = ""
    return changed + _read(link)


def link_hard(aim: Aim) -> str:
    """Bring a file from outside, or from what is read-only, into a folder that can be written, and write to it."""
    ways: list[Callable[[], str]] = []
    for number, source in enumerate((os.path.join(aim["outside"], "file"), os.path.join(aim["shown"], "file"))):
        new = os.path.join(aim["shared"], f"hard-{number}")
        ways.append(partial(_linked, source, f"{new}-link", os.link))
        ways.append(partial(_linked, source, f"{new}-fd", _link_open))
        ways.append(partial(_linked, source, f"{new}-moved", os.rename))
    return any_of(ways)


def _linked(source: str, new: str, link: Callable[[str, str], None]) -> str:
    link(source, new)
    with open(new, "ab") as file:
        file.write(b"changed")
    return f"linked {source}"


def _link_open(source: str, new: str) -> None:
    descriptor = os.open(source, os.O_RDONLY)
    try:
        os.link(f"/proc/self/fd/{descriptor}", new, follow_symlinks=True)
    finally:
        os.close(descriptor)


def rename_out(aim: Aim) -> str:
    """Move something from a shared folder to outside."""
    mine = os.path.join(aim["shared"], "mine")

    def move(target: str) -> str:
        with open(mine, "w") as file:
            file.write("moved")
        os.rename(mine, os.path.join(target, "moved"))
        return f"moved a file to {target}"

    return any_of(partial(move, folder) for folder in (aim["outside"], os.path.dirname(aim["shared"])))


def open_by_handle(aim: Aim) -> str:
    """Open a file outside by its number in the file system, from a shared folder on the same one."""
    handle = bytes.fromhex(aim["handle"])
    buffer = ctypes.create_string_buffer(handle, len(handle))

    def opened(folder: str) -> str:
        mount = os.open(folder, os.O_RDONLY)
        descriptor = call("open_by_handle_at", mount, buffer, os.O_RDONLY)
        return " ".join(canaries(os.read(descriptor, MOST)))

    return any_of(partial(opened, folder) for folder in (aim["shared"], aim["shown"], "/", "/usr", os.getcwd()))


def read_swapped(aim: Aim) -> str:
    """Read outside through a folder that was mounted though it had been replaced by a link."""
    return any_of([partial(_read, os.path.join(aim["shared"], "swapped", "file"))])


def swap_mounts(aim: Aim) -> str:
    """Swap a folder for a link to outside and back, as fast as one can, while the host mounts it elsewhere."""
    os.chdir(aim["shared"])
    os.mkdir("sub")
    os.symlink(aim["outside"], "link")
    swap = _exchange
    try:
        _exchange()
    except OSError:  # not every kernel can
        swap = _move_about
    tell(ready="swapping")
    end = time.monotonic() + SWAPPING
    while time.monotonic() < end and not select.select([CHANNEL], [], [], 0)[0]:
        for _ in range(200):
            swap()
    return ""


def _exchange() -> None:
    call("renameat2", -100, b"sub", -100, b"link", 2)  # RENAME_EXCHANGE


def _move_about() -> None:
    """There and back, with moments at which nothing is there."""
    for name, other in (("sub", "real"), ("link", "sub"), ("sub", "link"), ("real", "sub")):
        os.rename(name, other)


def inherited(aim: Aim) -> str:
    """Read from descriptors that were open in the process that started this one."""
    return any_of(partial(_read_descriptor, number) for number in aim["descriptors"])


def _read_descriptor(number: int) -> str:
    kind = stat.filemode(os.fstat(number).st_mode)[0]
    try:
        found = canaries(os.pread(number, MOST, 0))
    except OSError:
        found = []  # a pipe or a socket: that it is there is enough
    return " ".join([f"descriptor {number} ({kind})", *found])


def read_roots_own(aim: Aim) -> str:
    """Read what only root may, among files that are shown."""
    return any_of([partial(_read, os.path.join(aim["shown"], "roots-own"))])


def run_set_user_id(aim: Aim) -> str:
    """Run a set-user-id program of root's, which tells whose rights it has."""
    told = subprocess.run(
        [os.path.join(aim["shown"], "set-user-id-id"), "-u"],
        capture_output=True,
        check=False,
        preexec_fn=lambda: os.setuid(NOBODY) if os.getuid() == 0 else None,
    )
    return "ran with the rights of root" if told.stdout.strip() == b"0" else ""


def leave_set_user_id(aim: Aim) -> str:
    """Leave a set-user-id program in a shared folder, for others of the host to run: by every call that sets a mode."""

    def copied(name: str) -> str:
        path = os.path.join(aim["shared"], name)
        shutil.copyfile("/bin/true", path)
        return path

    def by_path() -> None:
        os.chmod(copied("by-path"), SET_USER_ID)

    def by_descriptor() -> None:
        with open(copied("by-descriptor"), "rb") as file:
            os.fchmod(file.fileno(), SET_USER_ID)

    def by_folder() -> None:
        call("fchmodat2", -100, copied("by-folder").encode(), SET_USER_ID, 0)

    def by_opening() -> None:
        os.close(os.open(os.path.join(aim["shared"], "by-opening"), os.O_WRONLY | os.O_CREAT, SET_USER_ID))

    def by_making() -> None:
        os.mknod(os.path.join(aim["shared"], "by-making"), stat.S_IFREG | SET_USER_ID)

    def by_opening_anew() -> None:
        how = (ctypes.c_uint64 * 3)(os.O_WRONLY | os.O_CREAT, SET_USER_ID, 0)
        path = os.path.join(aim["shared"], "by-opening-anew").encode()
        os.close(call("openat2", -100, path, how, ctypes.sizeof(how)))

    def by_naming() -> None:
        descriptor = os.open(aim["shared"], os.O_WRONLY | os.O_TMPFILE, SET_USER_ID)
        os.link(f"/proc/self/fd/{descriptor}", os.path.join(aim["shared"], "by-naming"), follow_symlinks=True)
        os.close(descriptor)

    def left(way: Callable[[], None]) -> str:
        way()
        return f"left one {way.__name__.replace('_', ' ')}"

    os.umask(0)
    ways = (by_path, by_descriptor, by_folder, by_opening, by_opening_anew, by_making, by_naming)
    return any_of(partial(left, way) for way in ways)


def read_variables(aim: Aim) -> str:
    """Read environment variables: one's own, and those of every process that can be seen."""
    del aim
    found = canaries("\n".join(map("=".join, os.environ.items())).encode())
    found += [one for _, told in of_processes("environ") for one in canaries(told)]
    return " ".join(found)
