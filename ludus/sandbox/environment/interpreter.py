"""The interpreter behind the wall: how it is started, what it sees of this machine, and where it imports from.

It starts bare (`-I -S`), with the folders that this side names for it: nothing of the user's own, no `.pth` files.
"""

import os
import sys
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import msgspec

from ludus.errors import InvalidArgument, shorten
from ludus.sandbox.mounts import PACKAGE, python_mounts
from ludus.sandbox.policy import Mount, Policy

__all__ = ["Interpreter"]

BOOT = (
    "import gc, sys; gc.disable(); sys.prefix = sys.exec_prefix = sys.argv[1]; sys.path += sys.argv[2:]; "
    "del sys.argv[1:]; from ludus.sandbox.environment.inside.{} import main; main()"
)
FLAGS = ("-I", "-S", "-B", "-X", "faulthandler")
SINGLE = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
"""One thread each: a step is too small for more, and a process is forked without its threads."""
SYSTEM = "/usr"
"""Every backend shows it already."""


class Interpreter:
    """What to start, and what has to be visible for it."""

    def __init__(self, modules: Iterable[str] = (), paths: Sequence[Any] = ()) -> None:
        given = [_folder(path) for path in paths]
        installed = python_mounts()
        seen = [*(mount.where for mount in installed), *(mount.source for mount in installed), SYSTEM, *given]
        apart = [place for name in modules for place in _places(name) if not _within_any(place, seen)]
        parents = map(os.path.dirname, [str(PACKAGE), *apart])
        self.paths = list(dict.fromkeys([*given, *parents, *_site_folders()]))
        self.mounts = (*installed, *(Mount(path) for path in dict.fromkeys([*given, *apart])))

    def argv(self, entry: str) -> list[str]:
        """The command that runs `main` of a module of `inside`."""
        return [sys.executable, *FLAGS, "-c", BOOT.format(entry), sys.prefix, *self.paths]

    def policy(self, policy: Policy) -> Policy:
        """`policy`, and what an interpreter needs beside it."""
        there = {mount.where for mount in policy.mounts}
        mounts = (*policy.mounts, *(mount for mount in self.mounts if mount.where not in there))
        return msgspec.structs.replace(policy, mounts=mounts, environment=SINGLE | policy.environment)


def _folder(path: Any) -> str:
    found = Path(path).resolve()
    if not found.is_dir():
        raise InvalidArgument(f"paths: expected folders to import from, got {shorten(str(path))}")
    return str(found)


def _places(module: str) -> list[str]:
    """The files or folders of a module's outermost package; none where this side cannot tell."""
    name = module.partition(".")[0]
    known: Any = sys.modules.get(name)
    spec = getattr(known, "__spec__", None) if known is not None else _spec(name)
    if spec is None:
        return []
    if spec.submodule_search_locations:
        return [os.path.realpath(place) for place in spec.submodule_search_locations]
    return [os.path.realpath(spec.origin)] if spec.has_location else []


def _spec(name: str) -> Any:
    try:
        return find_spec(name)
    except (ImportError, ValueError):
        return None


def _site_folders() -> list[str]:
    """The folders of installed packages that this side imports from."""
    standard = os.path.dirname(os.__file__)
    roots = {sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix, SYSTEM}
    return [
        path
        for path in sys.path
        if os.path.isdir(path)
        and _within_any(path, roots)
        and path not in (standard, os.path.join(standard, "lib-dynload"))
    ]


def _within_any(path: str, folders: Iterable[str]) -> bool:
    return any(path == folder or path.startswith(folder.rstrip("/") + "/") for folder in folders)
