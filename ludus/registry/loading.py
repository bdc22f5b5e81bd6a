"""Loading: from `module:Class` to the object, with errors that say which part failed."""

from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any

from ludus.errors import EntryPointError, LudusError
from ludus.registry.suggestion import did_you_mean

__all__ = ["import_named", "load", "member"]


def import_named(module: str, what: str) -> ModuleType:
    """The module; raises EntryPointError, whose cause is what the import raised."""
    try:
        return import_module(module)
    except LudusError:  # a module that says by itself what it lacks
        raise
    except ModuleNotFoundError as error:
        if error.name is not None and f"{module}.".startswith(f"{error.name}."):
            raise EntryPointError(
                f"{what}: expected a module {module!r} that can be imported, got no module named {error.name!r}; "
                "install its package, or run from the folder it is in"
            ) from error
        raise EntryPointError(f"{what}: importing {module!r} failed: {error}; install what it needs") from error
    except Exception as error:
        raise EntryPointError(f"{what}: importing {module!r} failed: {type(error).__name__}: {error}") from error


def member(module: ModuleType, path: str, what: str) -> Any:
    """The attribute of a module at a dotted path."""
    found: Any = module
    for part in path.split("."):
        if not hasattr(found, part):
            near = did_you_mean(part, [name for name in dir(found) if not name.startswith("_")])
            raise EntryPointError(
                f"{what}: expected {path!r} in the module {module.__name__!r}, got no such name{near}"
            )
        found = getattr(found, part)
    return found


def load(entry_point: str | Callable[..., Any], what: str) -> Any:
    """The object that an entry point names; a callable is taken as it is."""
    if not isinstance(entry_point, str):
        return entry_point
    module, _, path = entry_point.partition(":")
    if not module or not path:
        raise EntryPointError(f"{what}: expected an entry point like 'module:Class', got {entry_point!r}")
    return member(import_named(module, what), path, what)
