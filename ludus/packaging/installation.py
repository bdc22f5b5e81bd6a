"""`installed`: what a folder requires, installed for it alone, in a folder of the user's cache.

Wheels only, so that no code of a package is run by installing it. The folder is named by a hash of the requirements and
of the interpreter, and is there whole or not at all. It comes first on the path of the processes that the environment's
sessions run in, and is nowhere on the server's own.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from sysconfig import get_platform
from tempfile import mkdtemp

from ludus.errors import EntryPointError
from ludus.packaging.manifest import Manifest
from ludus.packaging.requirements import name_of, requirements
from ludus.registry.ownership import DISTRIBUTION
from ludus.sandbox.locks import user_lock

__all__ = ["installed", "place_of"]

INSTALL_TIMEOUT_S = 1800.0
"""For all of it."""
MAX_REPORTED_LINES = 6
PIP = ("-m", "pip", "install", "--only-binary", ":all:", "--no-input", "--disable-pip-version-check", "--no-compile")


def installed(manifest: Manifest) -> Path:
    """The folder with what the manifest's folder requires; installed now, where that was not done before."""
    wanted = wanted_by(manifest)
    folder = place_of(wanted)
    with user_lock(f"install-{folder.name}"):
        if not folder.is_dir():
            _install(wanted, folder, str(manifest.folder))
    return folder


def wanted_by(manifest: Manifest) -> list[str]:
    """Its requirements, but for Ludus itself, which is the one that runs."""
    return sorted(one for one in requirements(manifest) if name_of(one) != DISTRIBUTION)


def place_of(wanted: list[str]) -> Path:
    """The folder of such requirements for this interpreter, whether it is there or not.

    >>> place_of(["numpy"]) == place_of(["numpy"]) != place_of(["numpy>=2"])
    True
    """
    known = "\0".join([sys.version, get_platform(), *wanted])
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(cache, "ludus", "folders", hashlib.sha256(known.encode()).hexdigest()[:32])


def _install(wanted: list[str], folder: Path, what: str) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    fresh = mkdtemp(prefix="new-", dir=folder.parent)
    try:
        if wanted:
            _run([sys.executable, *PIP, "--target", fresh, "--", *wanted], what)
        Path(fresh).chmod(0o755)  # packages are no secret, and sandboxed code is another user
        os.rename(fresh, folder)
    except BaseException:
        shutil.rmtree(fresh, ignore_errors=True)
        raise


def _run(command: list[str], what: str) -> None:
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=INSTALL_TIMEOUT_S, check=False
        )
        code, said = done.returncode, done.stderr or done.stdout
    except subprocess.TimeoutExpired:
        code, said = 1, f"it took longer than {INSTALL_TIMEOUT_S:g} seconds"
    if code:
        told = "\n".join(said.strip().splitlines()[-MAX_REPORTED_LINES:])
        raise EntryPointError(f"{what}: expected its requirements to be installed as wheels, got:\n{told}")
