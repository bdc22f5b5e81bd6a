"""Locks between processes of one user, on files that nobody else can open: sandboxed code could hold one for ever."""

import fcntl
import os
import stat
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

from ludus.errors import SandboxError

__all__ = ["lock_descriptor", "user_lock"]

PATIENCE_S, PAUSE_S = 300.0, 0.005
MAX_PID_CHARS = 20
"""Of the number of the process that holds a lock, as its file has it."""


@contextmanager
def user_lock(
    name: str, *, patience: float | None = None, held: Callable[[str], None] | None = None
) -> Generator[None]:
    """Hold the lock of this name; SandboxError where somebody else has it for `patience` seconds, or else minutes.

    `held` is called with the number of the process that has it, before that is waited for.

    >>> with user_lock("example"):
    ...     pass
    """
    path = os.path.join(_folder(), f"{name}.lock")
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        if held is not None and not _is_free(descriptor):
            held(os.pread(descriptor, MAX_PID_CHARS, 0).decode() or "unknown")
        lock_descriptor(descriptor, path, patience=patience)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        yield
    finally:
        os.close(descriptor)


def _is_free(descriptor: int) -> bool:
    """Whether nobody has it; then it is locked."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def lock_descriptor(descriptor: int, path: object, kind: int = fcntl.LOCK_EX, *, patience: float | None = None) -> None:
    """Lock an open file, which `path` names in the error of a wait that was too long."""
    patience = PATIENCE_S if patience is None else patience
    until = time.monotonic() + patience
    while True:
        try:
            fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() > until:
                raise SandboxError(
                    f"{path}: expected it to be free within {patience:g} seconds, got one that another process holds"
                ) from None
            time.sleep(PAUSE_S)


def _folder() -> str:
    """A folder of this user's alone, in a place that all of their processes find."""
    path = os.path.join(tempfile.gettempdir(), f"ludus-locks-{os.getuid()}")
    os.makedirs(path, mode=0o700, exist_ok=True)
    found = os.lstat(path)
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or stat.S_IMODE(found.st_mode) & 0o077:
        raise SandboxError(f"{path}: expected a folder that is yours alone, got one of user {found.st_uid}; remove it")
    return path
