"""Attacks on what there is: processes, memory, disk, files, time, output. All of them end by themselves."""

import ctypes
import mmap
import os
import select
import signal
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from tests.attacks.inside.kernel import call, libc
from tests.attacks.inside.trying import ready, tell

Aim = dict[str, Any]
MIB = 1 << 20
WRITABLE = ("/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue", "/run", "/dev", "/etc", "/home", "/mnt", "/")
"""Folders that might be writable; nothing with a name is put there."""
LIFE = 8.0
"""Seconds after which whatever was started ends by itself."""


def fork_bomb(aim: Aim) -> str:
    """Start processes until that is refused, or until there are far too many."""
    reading, writing = os.pipe()
    count = 0
    try:
        while count < aim["most_processes"]:
            if os.fork() == 0:
                os.close(writing)
                select.select([reading], [], [], LIFE)
                os._exit(0)
            count += 1
    except OSError:
        pass  # refused
    ready(count)
    os.close(writing)
    return f"{count} processes"


def thread_bomb(aim: Aim) -> str:
    """Start threads until that is refused, or until there are far too many."""
    end = threading.Event()
    count = 0
    threading.stack_size(65536)
    try:
        while count < aim["most_processes"]:
            threading.Thread(target=end.wait, args=(LIFE,), daemon=True).start()
            count += 1
    except (RuntimeError, MemoryError):
        pass  # refused
    ready(count)
    end.set()
    return f"{count} threads"


def memory_bomb(aim: Aim) -> str:
    """Take half as much memory again as there is."""
    held = [b"x" * MIB for _ in range(aim["most_memory"] // MIB)]
    return f"held {len(held)} MiB"


def memory_by_children(aim: Aim) -> str:
    """Take as much by several processes, each of which takes less than there is."""
    told, telling = os.pipe()
    end, ending = os.pipe()
    for _ in range(4):
        if os.fork() == 0:
            os.close(ending)
            held = [b"x" * MIB for _ in range(aim["most_memory"] // MIB // 3)]
            os.write(telling, b"x" if held else b"")
            select.select([end], [], [], LIFE)
            os._exit(0)
    os.close(telling)
    took = 0
    while took < 4 and select.select([told], [], [], LIFE)[0] and (some := os.read(told, 4)):
        took += len(some)
    if took == 4:
        ready(took)
    os.close(ending)
    return "four processes held more together" if took == 4 else ""


def memory_by_files(aim: Aim) -> str:
    """Take as much by files that are in memory alone."""
    descriptor = os.memfd_create("ludus")
    for _ in range(aim["most_memory"] // MIB):
        os.write(descriptor, b"x" * MIB)
    ready(descriptor)
    return f"held {os.fstat(descriptor).st_size // MIB} MiB"


def fill_disk(aim: Aim) -> str:
    """Fill its own folders with far more than there may be, and keep it there."""
    return _fill(_own_folders(), lambda folder: _write(_made(folder), aim["most_disk"]))


def fill_unlinked(aim: Aim) -> str:
    """Fill every folder that can be written, with files that have no name any more."""
    return _fill([*_own_folders(), *WRITABLE], lambda folder: _write(_unnamed(folder), aim["most_disk"]))


def fill_mapped(aim: Aim) -> str:
    """Fill its own folders with files without a name, of which nothing is left open: a page of each is mapped."""

    def write(folder: str) -> int:
        descriptor = _write(_unnamed(folder), aim["most_disk"])
        libc.mmap.restype = ctypes.c_void_p
        mapped = libc.mmap(None, ctypes.c_size_t(mmap.PAGESIZE), 1, mmap.MAP_SHARED, descriptor, ctypes.c_long(0))
        os.close(descriptor)
        return mapped

    return _fill(_own_folders(), write)


def fill_in_flight(aim: Aim) -> str:
    """Fill its own folders with files without a name that nobody has open: each is on its way through a socket."""

    def write(folder: str) -> "tuple[socket.socket, socket.socket]":
        descriptor = _write(_unnamed(folder), aim["most_disk"])
        one, other = socket.socketpair()
        socket.send_fds(one, [b"."], [descriptor])
        os.close(descriptor)
        return one, other

    return _fill(_own_folders(), write)


def fill_by_thread(aim: Aim) -> str:
    """Fill its own folders with files without a name that one thread alone has open."""
    told: list[str] = []

    def fill() -> None:
        call("close_range", 1000, 1001, 2)  # CLOSE_RANGE_UNSHARE: from here on its descriptors are its own
        told.append(_fill(_own_folders(), lambda folder: _write(_unnamed(folder), aim["most_disk"])))

    thread = threading.Thread(target=fill)
    thread.start()
    thread.join()
    return "".join(told)


def fill_with_names(aim: Aim) -> str:
    """Fill its own folders with files that are empty: their names alone take room."""
    return _fill(_own_folders(), lambda folder: _make_many(folder, aim["most_names"]))


def _own_folders() -> "list[str]":
    """Never others: what is left there is removed with them."""
    return [*{os.path.realpath(one) for one in (os.getcwd(), os.environ.get("TMPDIR", "."))}]


def _fill(folders: "list[str]", write: Callable[[str], object]) -> str:
    """Folders that took all, and kept it while the other side looked."""
    full: list[str] = []
    held: list[object] = []
    for folder in folders:
        with suppress(OSError):  # it is full, or not to be written
            held.append(write(folder))
            full.append(folder)
    if full:
        ready(full)
    return f"all of it went into {', '.join(full)}" if full else ""


def _made(folder: str) -> int:
    return os.open(os.path.join(folder, f"ludus-fill-{os.getpid()}"), os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)


def _unnamed(folder: str) -> int:
    descriptor = _made(folder)
    os.unlink(os.path.join(folder, f"ludus-fill-{os.getpid()}"))
    return descriptor


def _write(descriptor: int, size: int) -> int:
    """The descriptor, which holds what was written; where not all of it fits, none of it stays."""
    try:
        for _ in range(size // MIB):
            os.write(descriptor, b"x" * MIB)
    except OSError:
        os.ftruncate(descriptor, 0)
        raise
    return descriptor


def _make_many(folder: str, count: int) -> int:
    for number in range(count):
        os.close(os.open(os.path.join(folder, f"ludus-fill-{number}"), os.O_WRONLY | os.O_CREAT, 0o600))
    return count


def huge_file(aim: Aim) -> str:
    """Write one file beyond its limit, with bytes and with a hole."""
    size, path = aim["most_file"], os.path.join(os.getcwd(), "huge")
    reached = 0
    for hole in (True, False):
        try:
            with open(path, "wb", buffering=0) as file:
                if hole:
                    file.truncate(size)
                else:
                    file.write(b"x" * size)
        except OSError:
            pass  # refused
        reached = max(reached, os.stat(path).st_size)
        os.unlink(path)
    return f"{reached} bytes"


def open_files(aim: Aim) -> str:
    """Open files until that is refused, or until there are far too many."""
    held: list[int] = []
    try:
        while len(held) < aim["most_files"]:
            held.append(os.open(os.devnull, os.O_RDONLY))
    except OSError:
        pass  # refused
    return f"{len(held)} files"


def flood_output(aim: Aim) -> str:
    """Write without end to both outputs."""
    for _ in range(aim["most_output"] // 65536):
        os.write(1, b"o" * 65536)
        os.write(2, b"e" * 65536)
    return ""


def hold_pipes(aim: Aim) -> str:
    """End at once, and leave somebody behind who holds the outputs open."""
    if os.fork() == 0:
        os.setsid()
        time.sleep(aim["hold"])
        os._exit(0)
    return ""


def spin(aim: Aim) -> str:
    """Use the processor and hear no signal."""
    _deaf()
    while time.process_time() < aim["spin"]:
        pass
    return "spun to the end"


def spin_by_children(aim: Aim) -> str:
    """Use the processor by many processes, none of which lives for long."""
    _deaf()
    for _ in range(round(aim["spin"] / 0.05)):
        child = os.fork()
        if child == 0:
            while time.process_time() < 0.05:
                pass
            os._exit(0)
        os.waitpid(child, 0)
    return "spun to the end"


def outstay(aim: Aim) -> str:
    """Stay beyond the time there is, and hear no signal."""
    _deaf()
    time.sleep(aim["stay"])
    return "stayed to the end"


def stand_still(aim: Aim) -> str:
    """Stop oneself: whoever is stopped hears no polite word."""
    del aim
    tell(ready="stopping")
    os.kill(os.getpid(), signal.SIGSTOP)
    return "went on"


def _deaf() -> None:
    for number in set(range(1, signal.NSIG)) - {signal.SIGCHLD}:
        with suppress(OSError, ValueError):  # those that nobody can ignore
            signal.signal(number, signal.SIG_IGN)
