"""Provenance: whose code a spec runs, told from names and places on disk; none of it is imported."""

import os
import re
import sys
from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

from ludus.core import EnvSpec
from ludus.registry.elsewhere import ADAPTERS
from ludus.registry.ownership import DISTRIBUTION, MODULE
from ludus.registry.shared import registry

__all__ = ["LEVELS", "Author", "Level", "authors", "authors_ahead", "is_built_in"]

Level = Literal["built-in", "first-party", "third-party"]
LEVELS: tuple[Level, ...] = ("built-in", "first-party", "third-party")
SITES = ("site-packages", "dist-packages")
NAMED = r"(?<![\w.:/])([A-Za-z_][\w.]*):[A-Za-z_]"


class Author(NamedTuple):
    """Somebody whose code is run: the modules and packages that it goes by, and how near they are to the user."""

    level: Level
    names: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.level}: {', '.join(self.names)}"


BUILT_IN = Author("built-in", (MODULE, DISTRIBUTION))


def authors(spec: EnvSpec) -> tuple[Author, ...]:
    """Everybody whose code the spec runs: that of the environment, of its wrappers, of who announced it."""
    announcer = registry.announcer(spec)
    found = [] if announcer is None else [Author("third-party", (announcer,))]
    for entry_point in (spec.entry_point, spec.vector_entry_point):
        if entry_point is not None:
            found += _environment(entry_point, spec.kwargs)
    for wrapper in spec.additional_wrappers:
        module = wrapper.entry_point.partition(":")[0]
        found.append(BUILT_IN if _top(module) == MODULE else _located(_top(module), None))
        found += (_located(_top(one), None) for one in _named_in(wrapper.kwargs) if _top(one) != MODULE)
    return tuple(dict.fromkeys(found))


def is_built_in(spec: EnvSpec) -> bool:
    """Whether a spec names no code but that of this library, as far as names tell: nothing is looked up.

    >>> is_built_in(registry.spec("CartPole-v1")), is_built_in(EnvSpec("A-v0", "os:system"))
    (True, False)
    """
    for entry_point in (spec.entry_point, spec.vector_entry_point):
        if entry_point is not None and not (isinstance(entry_point, str) and entry_point.startswith("ludus.envs.")):
            return False
    wrappers = spec.additional_wrappers
    named = [*(one.entry_point for one in wrappers), *(found for one in wrappers for found in _named_in(one.kwargs))]
    return all(_top(one.partition(":")[0]) == MODULE for one in named)


def authors_ahead(target: str) -> tuple[Author, ...]:
    """Whose code would run merely to find out what a text means; nobody's where it is an id."""
    module, colon, _ = target.partition(":")
    if colon:
        return (BUILT_IN,) if _top(module) == MODULE else (_located(_top(module), None),)
    library = target.partition("/")[0]
    return (Author("third-party", (library,)),) if library in ADAPTERS.values() and "/" in target else ()


def _environment(entry_point: Any, arguments: dict[str, Any]) -> Iterator[Author]:
    while hasattr(entry_point, "func"):  # functools.partial
        entry_point = entry_point.func
    named = isinstance(entry_point, str)
    module = entry_point.partition(":")[0] if named else str(getattr(entry_point, "__module__", None) or "")
    if _top(module) != MODULE:
        yield _located(_top(module), None if named else entry_point)
    elif not named or module.startswith("ludus.envs."):
        yield BUILT_IN
    else:  # code of ours that runs what its arguments name
        yield Author("third-party", (ADAPTERS.get(module, MODULE),))
        yield from (_located(_top(one), None) for one in _named_in(arguments))


def _named_in(arguments: Any) -> list[str]:
    """The modules that arguments name as `module:Name`, however deep, by themselves or inside text such as JSON."""
    if isinstance(arguments, str):
        return re.findall(NAMED, arguments)
    if isinstance(arguments, Mapping):
        arguments = [*arguments, *arguments.values()]
    elif not isinstance(arguments, list | tuple | set | frozenset):
        return []
    return [module for one in arguments for module in _named_in(one)]


def _top(module: str) -> str:
    return module.partition(".")[0]


# --- places ---


def _located(module: str, handed: Any) -> Author:
    """Who a top-level module belongs to; `handed` is the object that is run, where it is here already."""
    announcers = registry.announcers(module)
    if announcers:
        return Author("third-party", tuple(dict.fromkeys([*announcers, module])))
    if module == "__main__":
        return Author("first-party", (module,))
    places = _places(module)
    own = bool(places) or handed is not None
    if module in sys.stdlib_module_names or not own or any(map(_is_installed, places)):
        return Author("third-party", tuple(dict.fromkeys([module, *_distributions(module)])))
    return Author("first-party", (module,))


def _places(module: str) -> list[str]:
    """The entries of the path under which a module is found."""
    from importlib.util import find_spec

    known: Any = sys.modules.get(module)
    try:
        spec = getattr(known, "__spec__", None) if known is not None else find_spec(module)
    except (ImportError, ValueError):
        return []
    if spec is None:
        return []
    if spec.submodule_search_locations:
        return [os.path.dirname(place) for place in spec.submodule_search_locations]
    return [os.path.dirname(str(spec.origin))] if spec.has_location else []


def _is_installed(place: str) -> bool:
    """Whether an installer puts packages there; what cannot be looked into counts as such."""
    try:
        return os.path.basename(place) in SITES or any(name.endswith(".dist-info") for name in os.listdir(place))
    except OSError:
        return True


def _distributions(module: str) -> list[str]:
    """The installed packages that a module's files belong to."""
    from importlib.metadata import distributions

    found: set[str] = set()
    for one in distributions():
        try:
            # As text: to parse the records of all packages takes most of a second.
            files = f"\n{one.read_text('RECORD') or ''}"
            if f"\n{module}/" in files or f"\n{module}.py," in files:
                found.add(str(one.metadata["Name"]))
        except Exception:  # noqa: S112  (metadata of any package may be broken: the module's own name is left)
            continue
    return sorted(found)
