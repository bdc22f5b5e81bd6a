"""Targets that were written for OpenEnv: `module:Class` of an `Environment`, and folders with an `openenv.yaml`.

Each is a spec whose entry point adapts it, so that it is served like any other: with pages, limits, deadlines, metrics
and isolation. Sessions have a process each, unless somebody says otherwise: most of OpenEnv's allow one in a process.
"""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ludus.core import Env, EnvSpec
from ludus.core.spec import load_entry_point
from ludus.errors import InvalidArgument, InvalidType, LudusError, shorten
from ludus.packaging.manifest import Manifest
from ludus.registry.extensions import extensions

__all__ = ["check_target", "folder_spec", "folders_of", "is_openenv", "openenv_spec"]

PACKAGES = ("openenv", "openenv_core")
"""OpenEnv's own, of either name: a process of a folder's finds them where this one does."""
ISOLATION = "process"
"""Where nobody says in what."""


def is_openenv(found: Any) -> bool:
    """Whether a class, or an object's class, derives from an `Environment` of OpenEnv's.

    >>> is_openenv(int)
    False
    """
    kind = found if isinstance(found, type) else type(found)
    return any(one.__name__ == "Environment" and "env_server" in one.__module__ for one in kind.__mro__)


def check_target(target: str) -> Any:
    """What `module:name` is, or an error now, where no request could be answered later."""
    try:
        found: Any = load_entry_point(target)
    except LudusError:
        return None  # an id behind a module's name, or an error that whoever makes it tells better
    if is_openenv(found) or isinstance(found, EnvSpec) or (isinstance(found, type) and issubclass(found, Env)):
        return found
    if isinstance(found, type) or not callable(found) or hasattr(found, "routes"):
        raise InvalidType(
            f"{target}: expected a ludus Env, a function that makes one, or an Environment of OpenEnv, got "
            f"{shorten(found)}; an application is served from its folder"
        )
    return found


def openenv_spec(target: str, kind: Any) -> EnvSpec:
    """The spec of a class."""
    doc = (getattr(kind, "__doc__", None) or "").strip().partition("\n\n")[0]
    kwargs = {"source": target, "paths": _paths(target)}
    return EnvSpec(
        kind.__name__, entry_point=extensions().openenv_class, kwargs=kwargs, description=" ".join(doc.split())
    )


def _paths(target: str) -> list[str]:
    """Where a process of its own finds the module."""
    spec = find_spec(target.partition(":")[0].partition(".")[0])
    if spec is None:
        return []
    places = list(spec.submodule_search_locations or ()) or [spec.origin or ""]
    return [str(Path(place).resolve().parent) for place in places if place]


def folder_spec(manifest: Manifest, packages: Sequence[str] = ()) -> EnvSpec:
    """The spec of a folder's environment, whatever its application would do beside serving it.

    `packages` are folders to import from before any other, in place of where OpenEnv is installed here.
    """
    if not (manifest.folder / "server").is_dir() and ":" not in manifest.app:
        raise InvalidArgument(f"{manifest.folder}: expected server/app.py, got none")
    folder = str(manifest.folder.resolve())
    found = [] if packages else [path for package in PACKAGES for path in _paths(package)]
    paths = list(dict.fromkeys([*map(str, packages), *found]))
    return EnvSpec(
        manifest.name,
        entry_point=extensions().openenv_folder,
        kwargs={"folder": folder, "app": manifest.app, "paths": paths},
        description=manifest.description,
        security=manifest.security,
    )


def folders_of(spec: EnvSpec) -> list[str]:
    """The folders whose code a spec of these runs, which a sandbox has to show it."""
    folder: str | None = spec.kwargs.get("folder")
    paths: list[str] = spec.kwargs.get("paths", [])
    named = paths if folder is None else [folder, *paths]
    return [path for path in dict.fromkeys(named) if Path(path).is_dir()]
