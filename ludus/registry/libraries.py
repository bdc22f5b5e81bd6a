"""Other libraries: each has a namespace, and is asked for an environment of it when one is wanted, and not before."""

from collections.abc import Callable
from typing import NamedTuple

from ludus.core import EnvId, EnvSpec

__all__ = [
    "Library",
    "adapted_by",
    "adapter_of",
    "find_library_spec",
    "is_library",
    "library_that_has",
    "register_library",
]


class Library(NamedTuple):
    """A library whose environments can be made here."""

    adapter: str
    """The module of ours that runs its environments, and that their entry points name."""
    resolve: Callable[[str], EnvSpec]
    """From the rest of an id to its spec; it raises UnknownEnvironment where there is none."""
    names: frozenset[str] = frozenset()
    """Names and namespaces that its users know and Ludus has not: an error for one says where it is."""


_libraries: dict[str, Library] = {}


def register_library(namespace: str, library: Library) -> None:
    """Give a namespace to a library. What adapts it is above this room, so `ludus` itself says so."""
    _libraries[namespace] = library


def is_library(namespace: str) -> bool:
    """Whether the namespace is another library's."""
    return namespace in _libraries


def adapter_of(namespace: str) -> str:
    """The module of ours that runs the environments of a library.

    >>> import ludus
    >>> adapter_of("gymnasium")
    'ludus.interop.gymnasium'
    """
    return _libraries[namespace].adapter


def adapted_by(module: str) -> str | None:
    """The library whose environments a module of ours runs, if it does."""
    return next((namespace for namespace, one in _libraries.items() if one.adapter == module), None)


def library_that_has(id: EnvId) -> str | None:
    """The namespace of the library whose users know an id that there is not here."""
    known = {id.namespace} if id.namespace is not None else {id.name}
    return next((namespace for namespace, one in _libraries.items() if known & one.names), None)


def find_library_spec(id: EnvId) -> EnvSpec | None:
    """The spec that another library has under the id, or None where the namespace is no other library's."""
    namespace, _, rest = str(id).partition("/")
    library = _libraries.get(namespace) if rest else None
    return None if library is None else library.resolve(rest)
