"""The interpreter inside the sandbox: how it is started, what it sees of this machine, and where it imports from.

It starts bare (`-I -S`), with the folders that this side names for it: nothing of the user's own, no `.pth` files.
A module outside of them is seen there without its neighbours, and is found where this side has found it.
"""

import os
import sys
from collections.abc import Iterable, Sequence
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path

import msgspec

from ludus.errors import InvalidArgument, shorten
from ludus.sandbox.located_finder import Location
from ludus.sandbox.mounts import PACKAGE, USR, python_mounts
from ludus.sandbox.policy import Mount, Policy

__all__ = ["Interpreter", "StrPath"]

StrPath = str | os.PathLike[str]

BOOT = "import sys; sys.prefix = sys.exec_prefix = sys.argv[1]; sys.path += sys.argv[2:]; del sys.argv[1:]; {}{}"
LOCATE = "from ludus.sandbox.located_finder import LocatedFinder; LocatedFinder({}).install(); "
SERVE = "import gc; gc.disable(); from ludus.sandbox.environment.inside.{} import main; main()"
FLAGS = ("-I", "-S", "-B", "-X", "faulthandler")
SINGLE = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
"""One thread each: a step is too small for more, and a process is forked without its threads."""


class Interpreter:
    """What to start, and what has to be visible for it."""

    def __init__(self, modules: Iterable[str] = (), paths: Sequence[StrPath] = ()) -> None:
        given = [_folder(path) for path in paths]
        installed = python_mounts()
        seen = [*[place for mount in installed for place in (mount.where, mount.source)], USR, *given]
        found = {name: _located(name) for name in dict.fromkeys([module.partition(".")[0] for module in modules])}
        apart = [place for one in found.values() for place in one.places if not _within_any(place, seen)]
        self._located = {name: tuple(one) for name, one in found.items() if not set(one.places).isdisjoint(apart)}
        parents = map(os.path.dirname, [str(PACKAGE), *apart])
        self.paths = list(dict.fromkeys([*given, *parents, *_site_folders()]))
        self.mounts = (*installed, *(Mount(path) for path in dict.fromkeys([*given, *apart])))

    def argv(self, entry: str) -> list[str]:
        """The command that runs `main` of a module of `inside`."""
        return self.command(SERVE.format(entry))

    def command(self, code: str) -> list[str]:
        """The command that runs code which may import this Ludus and the modules."""
        locate = LOCATE.format(ascii(self._located)) if self._located else ""
        return [sys.executable, *FLAGS, "-c", BOOT.format(locate, code), sys.prefix, *self.paths]

    def policy(self, policy: Policy) -> Policy:
        """`policy`, and what an interpreter needs beside it."""
        there = {mount.where for mount in policy.mounts}
        mounts = (*policy.mounts, *[mount for mount in self.mounts if mount.where not in there])
        return msgspec.structs.replace(policy, mounts=mounts, environment=SINGLE | policy.environment)


def _folder(path: StrPath) -> str:
    found = Path(path).resolve()
    if not found.is_dir():
        raise InvalidArgument(f"paths: expected folders to import from, got {shorten(str(path))}")
    return str(found)


def _located(name: str) -> Location:
    """Where an outermost module is; nowhere if this side cannot tell."""
    known = sys.modules.get(name)
    spec: ModuleSpec | None = getattr(known, "__spec__", None) if known is not None else _spec(name)
    if spec is None:
        return Location(None)
    origin = spec.origin if spec.has_location else None
    if not spec.submodule_search_locations:
        return Location(None if origin is None else os.path.realpath(origin))
    folders = [os.path.realpath(folder) for folder in spec.submodule_search_locations]
    return Location(None if origin is None else os.path.join(folders[0], os.path.basename(origin)), folders)


def _spec(name: str) -> ModuleSpec | None:
    try:
        return find_spec(name)
    except (ImportError, ValueError):
        return None


def _site_folders() -> list[str]:
    """The folders of installed packages that this side imports from."""
    standard = os.path.dirname(os.__file__)
    roots = {sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix, USR}
    return [
        path
        for path in sys.path
        if os.path.isdir(path)
        and _within_any(path, roots)
        and path not in (standard, os.path.join(standard, "lib-dynload"))
    ]


def _within_any(path: str, folders: Iterable[str]) -> bool:
    return f"{path}/".startswith(tuple([folder.rstrip("/") + "/" for folder in folders]))
