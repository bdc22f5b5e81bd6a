"""What is kept on disk: the text of a loop and its machine code, in files named by everything they depend on.

Code is run from here, so a folder that others may write to is not used, and neither is a file that is not this user's.
A file that was cut off, or changed, is as good as none.
"""

import fcntl
import hashlib
import os
import stat
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import FunctionType
from typing import NamedTuple

import numpy as np

from ludus.kernels.exact.reach import constants_of, reached
from ludus.kernels.machine import host
from ludus.kernels.rules import Rules

__all__ = ["MachineCode", "by_one_process", "code_path", "read_code", "source_path", "text_path", "write_code"]

OWN = ("compiler.py", "displays.py", "library.py", "random.py", "source.py", "store.py", "stream.py", "views.py")
"""The files of this folder that decide what is compiled, beside all of `exact`."""
MAGIC = b"ludus kernel 1\n"


class MachineCode(NamedTuple):
    """An object file, and the name of its function."""

    entry: str
    data: bytes


def source_path(text: str, rules: Rules, *, checks: bool) -> Path | None:
    """The file that holds the text of a loop, named by all that its code depends on; None where nothing can be kept."""
    functions = list(rules.functions.values())
    importable = all(_importable(one) for one in [*functions, rules.state, rules.params])
    folder = _folder() if importable else None
    if folder is None:
        return None
    digest = hashlib.sha256(f"{text}{checks}{rules.compiled}{versions()}".encode())
    called = reached(functions)
    for source in sorted({one.__code__.co_filename for one in called} | _own_files()):
        digest.update(Path(source).read_bytes())
    # One file may hold several sets of rules, and constants may come from files that are not read here.
    for one in [*functions, rules.state, rules.params]:
        digest.update(f"{one.__module__}:{one.__qualname__};".encode())
    for one in called:
        digest.update(constants_of(one).encode())
    path = folder / f"{rules.step.__module__.replace('.', '_')}_{digest.hexdigest()[:24]}.py"
    try:
        if not path.exists():
            _put_first(path, text.encode())
    except OSError:
        return None
    return path


def code_path(source: Path) -> Path:
    """Where the machine code of a kept text is."""
    return source.with_suffix(".code")


def text_path(name: str, text: str) -> Path | None:
    """Where the machine code of a text of LLVM's language is kept, by text and processor; None where none can be."""
    folder = _folder()
    digest = hashlib.sha256(f"{text}{host()}".encode()).hexdigest()
    return None if folder is None else folder / f"{name}_{digest[:24]}.code"


@cache
def versions() -> str:
    """The releases that compiled code depends on, the processor, and the user's settings of Numba."""
    settings = sorted(f"{name}={value}" for name, value in os.environ.items() if name.startswith("NUMBA_"))
    return f"{_numba_version()}{np.__version__}{sys.version}{host()}{settings}"


def _numba_version() -> str:
    """Which Numba there is, without loading it, which takes half a second."""
    found = find_spec("numba")
    if found is None or not found.origin:
        return ""
    home = Path(found.origin).parent
    version = home / "_version.py"
    return f"{home}{version.read_text() if version.exists() else found.origin}"


@cache
def _own_files() -> frozenset[str]:
    home = Path(__file__).parent
    return frozenset([str(home / name) for name in OWN] + [str(path) for path in (home / "exact").glob("*.py")])


def read_code(path: Path) -> MachineCode | None:
    """What `write_code` has written; None for anything else."""
    try:
        with open(os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0)), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode) or not _is_own(status):
                return None
            data = file.read()
    except OSError:
        return None
    if not data.startswith(MAGIC):
        return None
    digest, _, rest = data[len(MAGIC) :].partition(b"\n")
    if hashlib.sha256(rest).hexdigest().encode() != digest:
        return None
    entry, _, code = rest.partition(b"\n")
    return MachineCode(entry.decode(), code)


def write_code(path: Path, code: MachineCode) -> None:
    """Keep machine code; where that cannot be done, the next process compiles again."""
    rest = code.entry.encode() + b"\n" + code.data
    with suppress(OSError):
        _put(path, MAGIC + hashlib.sha256(rest).hexdigest().encode() + b"\n" + rest)


def _put(path: Path, data: bytes) -> None:
    new = path.with_suffix(f".{os.getpid()}")
    new.write_bytes(data)
    new.replace(path)  # at once: many processes may do the same


def _put_first(path: Path, data: bytes) -> None:
    """Keep it unless another process has in this moment: to replace its file would give each a lock of its own."""
    new = path.with_suffix(f".{os.getpid()}")
    new.write_bytes(data)
    try:
        os.link(new, path)
    except FileExistsError:
        pass
    except OSError:  # a file system without links
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)


@contextmanager
def by_one_process(path: Path) -> Generator[None]:
    """Of processes that want the same code at once, one compiles it and the others load what it kept."""
    with open(path, "rb") as file:
        with suppress(OSError):  # a file system without locks: then each compiles for itself
            fcntl.flock(file, fcntl.LOCK_EX)
        try:
            yield
        finally:
            with suppress(OSError):  # said, not left to closing: a process that was forked meanwhile has the file open
                fcntl.flock(file, fcntl.LOCK_UN)


def _folder() -> Path | None:
    home = os.environ.get("LUDUS_CACHE_DIR") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache"), "ludus"
    )
    folder = Path(home) / "kernels"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        return None
    return folder if _is_own(folder.stat()) and os.access(folder, os.W_OK) else None


def _is_own(status: os.stat_result) -> bool:
    """Whether it is this user's, and nobody else may write to it."""
    return not hasattr(os, "getuid") or (status.st_uid == os.getuid() and not status.st_mode & 0o022)


def _importable(thing: type[object] | FunctionType) -> bool:
    module = sys.modules.get(thing.__module__)
    return thing.__module__ != "__main__" and getattr(module, thing.__qualname__, None) is thing
