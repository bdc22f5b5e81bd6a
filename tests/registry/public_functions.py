"""Every public function, constructor and class method that takes a text, a path or a spec, as packages list them."""

import dataclasses
import inspect
import re
from collections.abc import Callable, Iterator
from importlib import import_module
from pkgutil import walk_packages
from typing import Any

import msgspec

import ludus
from ludus.core import Wrapper
from ludus.spaces import Space
from ludus.wrappers import Transform

TEXT = re.compile(r"\bstr\b|PathLike|\bPath\b|EnvSpec|Target|AgentLike|^(typing\.)?Any$|^object$|^<class 'object'>$")
"""What an annotation says where a parameter may be a text or a spec."""
APART = ("ludus.envs", "ludus.tasks.library")
"""Environments and tasks: what their arguments name, `named_by_caller` and `places` look at."""
NEEDS_OPENENV = ("ludus.interop.openenv.library",)
"""Whose package is a peer, and not installed beside the tests."""
DATA = (msgspec.Struct, Space, Wrapper, Transform, tuple, Exception)
"""Values, which hold what they are given and do nothing with it."""


def public() -> dict[str, tuple[str, ...]]:
    """What is public by its full name, with the parameters that may be texts or specs."""
    found: dict[str, tuple[str, ...]] = {}
    for module in map(import_module, modules()):
        for name in getattr(module, "__all__", ()):
            one = getattr(module, name)
            if str(getattr(one, "__module__", "")).startswith("ludus") and not one.__module__.startswith(APART):
                found |= {f"{one.__module__}.{one.__qualname__}{part}": taken(call) for part, call in calls(one)}
    return {name: parameters for name, parameters in found.items() if parameters}


def modules() -> Iterator[str]:
    """Packages, which list what is public, and all modules of `interop`, which are."""
    yield "ludus"
    for one in walk_packages(ludus.__path__, "ludus."):
        hidden = one.name.startswith((*APART, *NEEDS_OPENENV)) or ".inside" in one.name or "__main__" in one.name
        if not hidden and (one.ispkg or one.name.startswith("ludus.interop.")):
            yield one.name


def calls(one: Any) -> Iterator[tuple[str, Callable[..., Any]]]:
    """A function; a class, unless it is one of values; and the methods that need no instance."""
    if inspect.isfunction(one):
        yield "", one
    elif inspect.isclass(one):
        if not issubclass(one, DATA) and not dataclasses.is_dataclass(one):
            yield "", one
        for name, member in vars(one).items():
            if not name.startswith("_") and isinstance(member, classmethod | staticmethod):
                yield f".{name}", getattr(one, name)


def taken(call: Callable[..., Any]) -> tuple[str, ...]:
    """The parameters that may be texts or specs."""
    try:
        parameters = inspect.signature(call).parameters.values()
    except (ValueError, TypeError):
        return ()
    return tuple(one.name for one in parameters if TEXT.search(str(one.annotation)))
