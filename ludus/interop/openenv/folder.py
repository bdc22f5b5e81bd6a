"""Folders made for OpenEnv: the environment behind the application that `openenv.yaml` names.

The folder is imported as the package it is, whose modules refer to each other, under the name that they use. What the
application passes to OpenEnv's server is taken, and the server left alone.
"""

import re
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from ludus.core import Env
from ludus.errors import EntryPointError, InvalidArgument, MissingExtra, shorten
from ludus.interop.openenv.core import env_server
from ludus.interop.openenv.source import from_openenv

__all__ = ["create_folder"]

GUIDE = ("core", "ludus.interop.openenv.core")
"""What the first guide imports, where no such package is installed."""


def create_folder(folder: str, app: str = "server.app:app", paths: Sequence[str] = ()) -> Env[Any, Any]:
    """The environment that a folder's application serves.

    Modules that it names are imported into this process, from `paths`, too; a server makes it in one of its own.
    """
    sys.path[:0] = [path for path in paths if path not in sys.path]  # before others, as PYTHONPATH would be
    where = Path(folder)
    if folder not in sys.path:
        sys.path.append(folder)  # some fall back to `from models import …`, as in an image of their own
    module, _, name = app.partition(":")
    package = _package(where, module)
    with _captured() as servers:
        try:
            found = import_module(module if module.startswith(package.__name__) else f"{package.__name__}.{module}")
        except ImportError as error:
            raise EntryPointError(
                f"{where}: expected what its application {app!r} imports, got: {error}; install it beside Ludus"
            ) from error
        application: Any = getattr(found, name, None)
    known: Any = getattr(application, "state", None)
    taken = getattr(known, "openenv_source", None) or (servers[-1] if servers else None)
    if known is not None:
        known.openenv_source = taken  # its module is imported once, and may be asked again
    if taken is None:
        raise InvalidArgument(
            f"{where}: expected an application of create_app or create_fastapi_app, got {shorten(application)}"
        )
    return from_openenv(taken.make(), **taken.models)


def _package(where: Path, module: str) -> ModuleType:
    """The folder as a package: as `envs.NAME` where its code calls it so, else by its own name."""
    if GUIDE[0] not in sys.modules and find_spec(GUIDE[0]) is None:
        _alias(*GUIDE)
    name = re.sub(r"\W", "_", where.name)
    text = "".join(one.read_text(errors="replace") for one in sorted((where / "server").glob("*.py")))
    if re.search(rf"^\s*(from|import) envs\.{name}\b", text, re.MULTILINE) or module.startswith("envs."):
        parent = sys.modules.setdefault("envs", ModuleType("envs"))
        parent.__path__ = [str(where.parent), *getattr(parent, "__path__", [])]
        name = f"envs.{name}"
    if name in sys.modules:
        return sys.modules[name]
    return _loaded(name, where)


def _loaded(name: str, where: Path) -> ModuleType:
    first = where / "__init__.py"
    if not first.is_file():
        package = ModuleType(name)
        package.__path__ = [str(where)]
        sys.modules[name] = package
        return package
    spec = spec_from_file_location(name, first, submodule_search_locations=[str(where)])
    if spec is None or spec.loader is None:
        raise EntryPointError(f"{first}: expected a package, got none")
    sys.modules[name] = package = module_from_spec(spec)
    try:
        spec.loader.exec_module(package)
    except Exception:  # its client may need what its server does not
        package.__path__ = [str(where)]
    return package


def _alias(name: str, target: str) -> None:
    """`core` and its modules, as the ones of this package."""
    package = import_module(target)
    sys.modules[name] = package
    for part in ("env_server", "env_server.types", "env_server.interfaces", "http_env_client", "client_types"):
        sys.modules[f"{name}.{part}"] = import_module(f"{target}.{part}")


@contextmanager
def _captured() -> Generator[list[env_server.Source]]:
    """What is given to OpenEnv's server while the application is imported."""
    found: list[env_server.Source] = []
    try:
        from ludus.interop.openenv.library import http_server  # loaded for folders that need the package alone
    except MissingExtra:  # the guide's layout does not
        yield found
        return
    server: Any = http_server.HTTPEnvServer
    begin = server.__init__

    def begun(self: Any, *arguments: Any, **named: Any) -> None:
        begin(self, *arguments, **named)
        first = getattr(self, "reset_observation_cls", None)
        models = {
            "action": self.action_cls,
            "observation": self.observation_cls,
            "state": getattr(self, "state_cls", None),
            "reset_observation": None if first is self.observation_cls else first,
        }
        found.append(env_server.Source(self._env_factory, models))

    server.__init__ = begun
    try:
        yield found
    finally:
        server.__init__ = begin
