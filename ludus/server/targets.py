"""Targets: what may be served: ids, `module:Env`, specs, classes, and folders with a manifest."""

import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from inspect import signature
from pathlib import Path

import msgspec
from starlette.types import ASGIApp

from ludus.core import EnvSpec
from ludus.core.spec import load_entry_point
from ludus.errors import EntryPointError, InvalidArgument, LudusError, shorten
from ludus.packaging.installation import installed
from ludus.packaging.manifest import Manifest, ServiceResources, is_folder, read_manifest
from ludus.registry.resolution import Target
from ludus.registry.trust import required_before_import
from ludus.server.config import ServerConfig
from ludus.server.openenv_target import (
    ISOLATION,
    check_creator,
    check_target,
    folder_spec,
    folders_of,
    is_openenv,
    needs_arguments,
    openenv_spec,
)
from ludus.server.prepared_env import FixedEnv, PreparedEnv
from ludus.server.served_env import ServedEnv

__all__ = ["Application", "ServeTarget", "offered"]

ServeTarget = Target | ServedEnv | Path
"""What may be served: an id, `module:Env`, a spec, a class or function, a folder, or what is ready to be served."""


class Application:
    """An ASGI application that a folder made for OpenEnv brings along; it is served as it is."""

    def __init__(self, manifest: Manifest) -> None:
        manifest.enter("none")  # whoever serves it as it is has said so
        self.name = manifest.name
        self.isolation = "none"
        try:
            self.app: ASGIApp = load_entry_point(manifest.app)
        except (ImportError, EntryPointError) as error:
            raise InvalidArgument(
                f"{manifest.folder}: expected what its application {manifest.app!r} imports, got: {error}; install it"
            ) from error
        if not _is_asgi(self.app):
            raise InvalidArgument(
                f"{manifest.folder}: expected an ASGI application as {manifest.app!r}, got {shorten(self.app)}"
            )


def _is_asgi(app: Callable[..., object]) -> bool:
    """Whether it can be called as ASGI calls: with scope, receive and send."""
    try:
        signature(app).bind(None, None, None)
    except (TypeError, ValueError):
        return False
    return not isinstance(app, type)


def offered(targets: Sequence[ServeTarget], config: ServerConfig) -> list[ServedEnv] | Application:
    """The environments that are meant, each settled once; or one application, which is served alone.

    >>> [one.name for one in offered(["CartPole-v1"], ServerConfig())]
    ['CartPole-v1']
    """
    if not targets:
        raise InvalidArgument("serve: expected at least one environment, got none")
    found = [_offered(one, config) for one in targets]
    served = [one for one in found if isinstance(one, ServedEnv)]
    if len(served) == len(found):
        return served
    [app] = [one for one in found if isinstance(one, Application)][:1]
    if len(found) > 1:
        raise InvalidArgument(f"serve: expected the application {app.name!r} alone, got {len(found)} targets")
    return app


def _with_needs(config: ServerConfig, needs: ServiceResources) -> ServerConfig:
    """What the author says of its steps, where whoever serves it says nothing else."""
    if config.deadline != ServerConfig().deadline:
        return config
    return msgspec.structs.replace(config, deadline=float(needs.step_seconds))


def _named(target: Target, config: ServerConfig) -> ServedEnv:
    """An id, a class or `module:name`, which is looked at now: what cannot be served is refused, not served as well."""
    if isinstance(target, str) and ":" in target:
        # What runs in isolation only is not imported here, but made there, as every target is.
        if config.isolation in (None, "none") and required_before_import(target).isolation == "none":
            found = check_target(target)
            if is_openenv(found):
                return _adapted(openenv_spec(target, found), config)
    elif isinstance(target, type) and is_openenv(target):
        return _adapted(openenv_spec(f"{target.__module__}:{target.__qualname__}", target), config)
    elif callable(target):
        check_creator(getattr(target, "__qualname__", repr(target)), target)
    served = ServedEnv(target, config=config)
    if not served.isolated:
        check_creator(served.name, served.creator, served.spec.kwargs)
        if needs_arguments(served.creator, served.spec.kwargs):
            return served  # callers choose them
    return _checked(served)


def _adapted(spec: EnvSpec, config: ServerConfig, name: str | None = None, version: str = "") -> ServedEnv:
    """What was written for OpenEnv, made once to know that it can be.

    Where nobody says in what its sessions run, or where that is no boundary anyway, they are forked from one process.
    """
    own = _apart(config)
    kind = PreparedEnv if own.isolation == ISOLATION else FixedEnv
    served = kind(spec, name, config=own, version=version)
    served.show(folders_of(spec))
    return _checked(served)


def _apart(config: ServerConfig) -> ServerConfig:
    if config.isolation is not None:
        return config
    return msgspec.structs.replace(config, isolation=ISOLATION)


def _checked(served: ServedEnv) -> ServedEnv:
    """Made once, to know that it can be. What it prints is not what the server says of itself."""
    with redirect_stdout(sys.stderr):
        served.description()
    return served


def _openenv_folder(manifest: Manifest, config: ServerConfig) -> ServedEnv | Application:
    """The environment of a folder made for OpenEnv; an application of another make is served as it is."""
    asked = manifest.enter(config.isolation).isolation  # the spec names an adapter of ours: the code is the folder's
    if config.isolation is None and asked != "none":
        config = msgspec.structs.replace(config, isolation=asked)
    own = _with_needs(config, manifest.resources)
    packages = [str(installed(manifest))] if config.install else []
    try:
        return _adapted(folder_spec(manifest, packages), own, manifest.name, manifest.version)
    except InvalidArgument:
        if config.isolation not in (None, "none"):
            raise
        return Application(manifest)


def _offered(target: ServeTarget, config: ServerConfig) -> ServedEnv | Application:
    if isinstance(target, ServedEnv):
        return target
    if not isinstance(target, Path) and not is_folder(target):
        return _named(target, config)
    manifest = read_manifest(target)
    try:
        return _folder(manifest, config)
    except LudusError as error:
        error.add_note(f"in the folder {target}")
        raise


def _folder(manifest: Manifest, config: ServerConfig) -> ServedEnv | Application:
    """What a folder's manifest names, made once."""
    if manifest.kind == "asgi":
        return _openenv_folder(manifest, config)
    manifest.enter(config.isolation)
    own = _with_needs(config, manifest.resources)
    return _checked(ServedEnv(manifest.target, manifest.name, config=own, version=manifest.version))
