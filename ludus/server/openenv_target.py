"""Targets that were written for OpenEnv: `module:Class` of an `Environment`, and folders with an `openenv.yaml`.

Each is a spec whose entry point adapts it, so that it is served like any other: with pages, limits, deadlines, metrics
and isolation. Sessions have a process each, unless somebody says otherwise: most of OpenEnv's allow one in a process.
"""

from collections.abc import Callable, Collection, Sequence
from importlib.util import find_spec
from inspect import Parameter, signature
from pathlib import Path
from typing import TypeGuard, get_origin, get_type_hints

from ludus.core import Env, EnvSpec
from ludus.core.spec import load_entry_point
from ludus.errors import InvalidArgument, InvalidType, LudusError, shorten
from ludus.packaging.manifest import Manifest
from ludus.registry.extensions import extensions

__all__ = [
    "adapted",
    "check_creator",
    "check_target",
    "folder_spec",
    "folders_of",
    "is_openenv",
    "needs_arguments",
    "openenv_spec",
]

PACKAGES = ("openenv", "openenv_core")
"""OpenEnv's own, of either name: a process of a folder's finds them where this one does."""
ISOLATION = "process"
"""Where nobody says in what."""


def is_openenv(found: object) -> TypeGuard[type]:
    """Whether it is a class that derives from an `Environment` of OpenEnv's.

    >>> is_openenv(int)
    False
    """
    return isinstance(found, type) and any(
        one.__name__ == "Environment" and "env_server" in one.__module__ for one in found.__mro__
    )


def check_target(target: str) -> object:
    """What `module:name` is, or an error now, where no request could be answered later."""
    try:
        found: object = load_entry_point(target)
    except LudusError:
        return None  # an id behind a module's name, or an error that whoever makes it tells better
    check_creator(target, found)
    return found


def check_creator(target: str, found: object, given: Collection[str] = ()) -> None:
    """Raise InvalidType for what is no environment, spec or function that may make one; nothing is called.

    `given` names the arguments that it gets in any case.
    """
    if is_openenv(found) or isinstance(found, EnvSpec) or (isinstance(found, type) and issubclass(found, Env)):
        return
    if isinstance(found, type) or not callable(found) or hasattr(found, "routes"):
        raise InvalidType(
            f"{target}: expected a ludus Env, a function that makes one, or an Environment of OpenEnv, got "
            f"{shorten(found)}; an application is served from its folder"
        )
    if needs_arguments(found, given) and not _announces_env(found):
        raise InvalidType(
            f"{target}: expected a function that makes an Env, got {shorten(found)}, which needs arguments and "
            "does not say what it returns; give them defaults, or write `-> ludus.Env` if callers are to choose them"
        )


def needs_arguments(creator: Callable[..., object], given: Collection[str] = ()) -> bool:
    """Whether it cannot be called without arguments beside those `given`, or does not tell.

    >>> needs_arguments(lambda size: size), needs_arguments(lambda size=3: size)
    (True, False)
    """
    try:
        parameters = signature(creator).parameters.values()
    except (TypeError, ValueError):
        return True
    open_ended = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
    needed = [one.name for one in parameters if one.default is Parameter.empty and one.kind not in open_ended]
    return any(name not in given for name in needed)


def _announces_env(creator: Callable[..., object]) -> bool:
    """Whether its annotation says that it returns an environment; one that only type checkers can read, by its name."""
    try:
        told: object = get_type_hints(creator).get("return")
    except (NameError, TypeError):
        told = getattr(creator, "__annotations__", {}).get("return")
    if isinstance(told, str):
        return told.partition("[")[0].endswith("Env")
    kind: object = get_origin(told) or told
    return is_openenv(kind) or (isinstance(kind, type) and issubclass(kind, Env))


def openenv_spec(target: str, kind: type) -> EnvSpec:
    """The spec of a class."""
    doc = (getattr(kind, "__doc__", None) or "").strip().partition("\n\n")[0]
    kwargs = {"source": target, "paths": list(dict.fromkeys([*_paths(target), *_packages()]))}
    return EnvSpec(
        kind.__name__,
        entry_point=extensions().openenv_class,
        kwargs=kwargs,
        description=" ".join(doc.split()),
        order_enforce=False,  # what a step after the end gives is its author's to say, as at OpenEnv's own server
    )


def _paths(target: str) -> list[str]:
    """Where a process of its own finds the module."""
    spec = find_spec(target.partition(":")[0].partition(".")[0])
    if spec is None:
        return []
    places = list(spec.submodule_search_locations or ()) or [spec.origin or ""]
    return [str(Path(place).resolve().parent) for place in places if place]


def _packages() -> list[str]:
    """Where OpenEnv's own packages are imported from here, which may be a folder that only PYTHONPATH names."""
    return [path for package in PACKAGES for path in _paths(package)]


def folder_spec(manifest: Manifest, packages: Sequence[str] = ()) -> EnvSpec:
    """The spec of a folder's environment, whatever its application would do beside serving it.

    `packages` are folders to import from before any other, in place of where OpenEnv is installed here.
    """
    if not (manifest.folder / "server").is_dir() and ":" not in manifest.app:
        raise InvalidArgument(f"{manifest.folder}: expected server/app.py, got none")
    folder = str(manifest.folder.resolve())
    paths = list(dict.fromkeys([*map(str, packages)] if packages else _packages()))
    return EnvSpec(
        manifest.name,
        entry_point=extensions().openenv_folder,
        kwargs={"folder": folder, "app": manifest.app, "paths": paths},
        description=manifest.description,
        security=manifest.security,
        order_enforce=False,  # as above
    )


def adapted(spec: EnvSpec) -> str:
    """What a spec of these stands for, as its owner calls it: `module:Class`, or a folder's application; else nothing.

    >>> adapted(openenv_spec("string:Template", str)), adapted(EnvSpec("Maze-v0", "maze:Maze"))
    ('string:Template', '')
    """
    known = extensions()
    if spec.entry_point == known.openenv_class:
        return spec.kwargs["source"]
    return f"{spec.kwargs['app']} of {spec.kwargs['folder']}" if spec.entry_point == known.openenv_folder else ""


def folders_of(spec: EnvSpec) -> list[str]:
    """The folders whose code a spec of these runs, which a sandbox has to show it."""
    folder: str | None = spec.kwargs.get("folder")
    paths: list[str] = spec.kwargs.get("paths", [])
    named = paths if folder is None else [folder, *paths]
    return [path for path in dict.fromkeys(named) if Path(path).is_dir()]
