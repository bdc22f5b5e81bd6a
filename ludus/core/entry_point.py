"""Entry points: `module:Class` as data, loaded when it is needed, with errors that say which part failed."""

from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any

from ludus.errors import EntryPointError, InvalidSpec, LudusError, did_you_mean, shorten

__all__ = ["EntryPoint", "entry_point_name", "import_named", "load_entry_point", "member"]

EntryPoint = str | Callable[..., object]
"""`module:name` of something callable, or the thing itself: what it takes and gives is its own affair."""


def load_entry_point(entry_point: EntryPoint, what: str = "entry_point") -> Any:
    """The object that `module:name` names; a callable is taken as it is. Raises EntryPointError.

    >>> load_entry_point("ludus.core.id:EnvId").__name__
    'EnvId'
    """
    if not isinstance(entry_point, str):
        return entry_point
    module, _, path = entry_point.partition(":")
    if not module or not path:
        raise EntryPointError(f"{what}: expected an entry point like 'module:Class', got {entry_point!r}")
    return member(import_named(module, what), path, what)


def import_named(module: str, what: str) -> ModuleType:
    """The module; raises EntryPointError, whose cause is what the import raised.

    Its packages come first, one by one: Python holds a module's lock while it imports the package above it, so that of
    two threads, one of which begins with the package and the other with a module in it, one would be refused.
    """
    above = [module[:dot] for dot, letter in enumerate(module) if letter == "."]
    try:
        for package in above:
            import_module(package)
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


def member(module: ModuleType, path: str, what: str) -> object:
    """The attribute of a module at a dotted path."""
    found: object = module
    for part in path.split("."):
        if not hasattr(found, part):
            near = did_you_mean(part, [name for name in dir(found) if not name.startswith("_")])
            raise EntryPointError(
                f"{what}: expected {path!r} in the module {module.__name__!r}, got no such name{near}"
            )
        found = getattr(found, part)
    return found


def entry_point_name(entry_point: EntryPoint, what: str) -> str:
    """`module:name` of an importable callable; raises InvalidSpec for lambdas and the like."""
    if isinstance(entry_point, str) and "<" not in entry_point:
        return entry_point
    module, name = getattr(entry_point, "__module__", None), getattr(entry_point, "__qualname__", None)
    if not module or not name or "<" in name or module == "__main__":
        raise InvalidSpec(
            f"{what}: expected something that can be imported by name, got {shorten(entry_point)}; "
            "define it at the top of a module"
        )
    return f"{module}:{name}"
