"""`installed`: what a folder requires, installed for it alone, in a folder of the user's cache.

Wheels only, so that no code of a package is run by installing it. The folder is named by a hash of the requirements and
of the interpreter, and is there whole or not at all; what a killed installation left is removed by the next. It comes
first on the path of the processes that the environment's sessions run in, and is nowhere on the server's own.
"""

import fcntl
import hashlib
import logging
import os
import shutil
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from sysconfig import get_platform
from tempfile import mkdtemp

from ludus.errors import EntryPointError
from ludus.packaging.manifest import Manifest
from ludus.packaging.requirements import name_of, requirements
from ludus.registry.ownership import DISTRIBUTION
from ludus.sandbox.locks import user_lock

__all__ = ["LOGGER", "installed", "place_of"]

LOGGER = logging.getLogger(__package__)
INSTALL_TIMEOUT_S = 1800.0
"""For all of it."""
LOCK_TIMEOUT_S = INSTALL_TIMEOUT_S + 60.0
"""For whoever else installs the same: all that they may take, and what they need to say so."""
MAX_REPORTED_LINES = 6
UNFINISHED = "new-"
"""How the name of a folder begins that is not whole yet; the process that fills it has it locked."""
DYING_PIP = """
import ctypes, runpy, sys
if sys.platform == "linux":
    ctypes.CDLL(None).prctl(*map(ctypes.c_ulong, (1, 9, 0, 0, 0)))  # PR_SET_PDEATHSIG, SIGKILL
runpy.run_module("pip", run_name="__main__", alter_sys=True)
"""
"""pip that ends with the process that started it, however that ends: nobody would take what it installs."""
PIP = (
    "-c",
    DYING_PIP,
    "install",
    "--only-binary",
    ":all:",
    "--no-input",
    "--disable-pip-version-check",
    "--no-compile",
)


def installed(manifest: Manifest) -> Path:
    """The folder with what the manifest's folder requires; installed now, where that was not done before."""
    required = wanted_by(manifest)
    folder = place_of(required)

    def held(process: str) -> None:
        LOGGER.info(
            "waiting for another installation", extra={"fields": {"folder": manifest.folder, "process": process}}
        )

    with user_lock(f"install-{folder.name}", patience=LOCK_TIMEOUT_S, held=held):
        if not folder.is_dir():
            fields = {"folder": manifest.folder, "requirements": len(required), "into": folder}
            LOGGER.info("installing, which may take minutes", extra={"fields": fields})
            _install(required, folder, str(manifest.folder))
    return folder


def wanted_by(manifest: Manifest) -> list[str]:
    """Its requirements, but for Ludus itself, which is the one that runs."""
    return sorted(one for one in requirements(manifest) if name_of(one) != DISTRIBUTION)


def place_of(required: list[str]) -> Path:
    """The folder of such requirements for this interpreter, whether it is there or not.

    >>> place_of(["numpy"]) == place_of(["numpy"]) != place_of(["numpy>=2"])
    True
    """
    known = "\0".join([sys.version, get_platform(), *required])
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(cache, "ludus", "folders", hashlib.sha256(known.encode()).hexdigest()[:32])


def _install(required: list[str], folder: Path, source: str) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    _sweep(folder.parent)
    with _unfinished(folder.parent) as fresh:
        if required:
            _run([sys.executable, *PIP, "--target", fresh, "--", *required], source)
        Path(fresh).chmod(0o755)  # packages are no secret, and sandboxed code is another user
        os.rename(fresh, folder)


@contextmanager
def _unfinished(parent: Path) -> Generator[str]:
    """A new folder, locked until it has another name, or is removed."""
    fresh, descriptor = "", None
    while descriptor is None or not os.path.isdir(fresh):  # somebody who swept may have had it before us
        fresh = mkdtemp(prefix=UNFINISHED, dir=parent)
        descriptor = _locked(fresh)
    try:
        yield fresh
    except BaseException:
        shutil.rmtree(fresh, ignore_errors=True)
        raise
    finally:
        os.close(descriptor)


def _sweep(parent: Path) -> None:
    """Remove folders that nobody fills any more: the process that did was killed, and its lock went with it."""
    for left in parent.glob(f"{UNFINISHED}*"):
        descriptor = _locked(left)
        if descriptor is not None:
            shutil.rmtree(left, ignore_errors=True)
            os.close(descriptor)


def _locked(folder: str | Path) -> int | None:
    """The descriptor that holds its lock; None where somebody else does, or it is gone."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor


def _run(command: list[str], source: str) -> None:
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=INSTALL_TIMEOUT_S, check=False
        )
        code, output = done.returncode, done.stderr or done.stdout
    except subprocess.TimeoutExpired:
        code, output = 1, f"it took longer than {INSTALL_TIMEOUT_S:g} seconds"
    if code:
        tail = "\n".join(output.strip().splitlines()[-MAX_REPORTED_LINES:])
        raise EntryPointError(
            f"{source}: expected its requirements to be installed as wheels, got:\n{tail}\nWhere one of them has "
            "no wheel, install them beside Ludus, by pip without --only-binary, and leave --install out"
        )
