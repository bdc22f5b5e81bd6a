"""Targets: what may be served: ids, `module:Env`, specs, classes, and folders with a manifest."""

from collections.abc import Sequence
from typing import Any

import msgspec

from ludus.core.spec import load_entry_point
from ludus.errors import EntryPointError, InvalidArgument, LudusError
from ludus.registry.trust import demand_ahead
from ludus.serve.manifest import Manifest, Resources, is_folder, read_manifest
from ludus.serve.openenv_target import ISOLATION, check_target, folder_spec, is_openenv, openenv_spec
from ludus.serve.served import Served
from ludus.serve.settings import Settings

__all__ = ["Application", "offered"]


class Application:
    """An ASGI application that a folder made for OpenEnv brings along; it is served as it is."""

    def __init__(self, manifest: Manifest) -> None:
        manifest.enter()
        self.name = manifest.name
        self.isolation = "none"
        try:
            self.app: Any = load_entry_point(manifest.app)
        except (ImportError, EntryPointError) as error:
            raise InvalidArgument(
                f"{manifest.folder}: expected what its application {manifest.app!r} imports, got: {error}; install it"
            ) from error


def offered(targets: Sequence[Any], settings: Settings) -> list[Served] | Application:
    """The environments that are meant, each settled once; or one application, which is served alone.

    >>> [one.name for one in offered(["CartPole-v1"], Settings())]
    ['CartPole-v1']
    """
    if not targets:
        raise InvalidArgument("serve: expected at least one environment, got none")
    found = [_offered(one, settings) for one in targets]
    served = [one for one in found if isinstance(one, Served)]
    if len(served) == len(found):
        return served
    [app] = [one for one in found if isinstance(one, Application)][:1]
    if len(found) > 1:
        raise InvalidArgument(f"serve: expected the application {app.name!r} alone, got {len(found)} targets")
    return app


def _with_needs(settings: Settings, needs: Resources) -> Settings:
    """What the author says of its steps, where whoever serves it says nothing else."""
    if settings.deadline != Settings().deadline:
        return settings
    return msgspec.structs.replace(settings, deadline=float(needs.step_seconds))


def _named(target: Any, settings: Settings) -> Served:
    """An id, a class or `module:name`, which is looked at now: what cannot be served is refused, not served as well."""
    if isinstance(target, str) and ":" in target:
        if settings.isolation not in (None, "none") or demand_ahead(target).isolation != "none":
            return Served(target, settings=settings)  # its code runs in isolation only, this look at it included
        found = check_target(target)
        if is_openenv(found):
            return _checked(Served(openenv_spec(target, found), settings=_apart(settings)))
    elif isinstance(target, type) and is_openenv(target):
        spec = openenv_spec(f"{target.__module__}:{target.__qualname__}", target)
        return _checked(Served(spec, settings=_apart(settings)))
    return Served(target, settings=settings)


def _apart(settings: Settings) -> Settings:
    if settings.isolation is not None:
        return settings
    return msgspec.structs.replace(settings, isolation=ISOLATION)


def _checked(served: Served) -> Served:
    """Made once, to know that it can be."""
    served.description()
    return served


def _openenv_folder(manifest: Manifest, settings: Settings) -> Served | Application:
    """The environment of a folder made for OpenEnv; an application of another make is served as it is."""
    manifest.enter()
    asked = demand_ahead(manifest.app).isolation  # the spec names an adapter of ours: the code is the folder's
    if settings.isolation is None and asked != "none":
        settings = msgspec.structs.replace(settings, isolation=asked)
    own = _apart(_with_needs(settings, manifest.resources))
    served = Served(folder_spec(manifest), manifest.name, settings=own, version=manifest.version)
    try:
        return _checked(served)
    except InvalidArgument:
        if settings.isolation not in (None, "none"):
            raise
        return Application(manifest)


def _offered(target: Any, settings: Settings) -> Served | Application:
    if isinstance(target, Served):
        return target
    if not is_folder(target):
        return _named(target, settings)
    manifest = read_manifest(target)
    if manifest.kind == "asgi":
        return _openenv_folder(manifest, settings)
    manifest.enter()
    try:
        own = _with_needs(settings, manifest.resources)
        return Served(manifest.target, manifest.name, settings=own, version=manifest.version)
    except LudusError as error:
        error.add_note(f"in the folder {target}")
        raise
