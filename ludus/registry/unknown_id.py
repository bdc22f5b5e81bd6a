"""Unknown ids: the error that says what is missing, what is closest, and how to see the rest."""

from collections.abc import Iterable

from ludus.core import EnvId
from ludus.errors import (
    EntryPointError,
    NameNotFound,
    NamespaceNotFound,
    RegistryError,
    UnknownEnvironment,
    VersionNotFound,
    did_you_mean,
    listing,
)
from ludus.registry.index import Index
from ludus.registry.libraries import library_that_has

__all__ = ["UnknownKey", "unknown"]

MAX_HINTS = 3


class UnknownKey(UnknownEnvironment, KeyError):
    """For `registry[id]`: the KeyError that mappings raise, reading as our errors do."""

    __str__ = Exception.__str__


def unknown(id: EnvId, index: Index) -> RegistryError:
    """The error to raise for an id that the index does not have."""
    problem = next((one for one in index.problems if one.concerns(id)), None)
    if problem is not None:
        error = EntryPointError(
            f"no environment '{id}': what the package {problem.package!r} announces cannot be used: {problem.error}; "
            f"repair {problem.package!r}, or install another version of it"
        )
        error.__cause__ = problem.error
        return error
    versions = index.versions(id.base)
    if versions or id.base in index.claims:
        has = f"it has {listing(f'v{one}' for one in versions)}; use {id.base!r} for the newest"
        return VersionNotFound(f"no environment '{id}': {has if versions else f'{id.base!r} has no versions'}")
    return _unknown_name(id, index)


def _unknown_name(id: EnvId, index: Index) -> UnknownEnvironment:
    namespaces = {one for name in index.claims if (one := EnvId.parse(name).namespace) is not None}
    kind, message = NameNotFound, f"no environment '{id}'"
    if id.namespace is not None and id.namespace not in namespaces:
        kind, message = NamespaceNotFound, f"{message}: there is no namespace {id.namespace!r}"
    rest = "the one known" if len(index.claims) == 1 else f"the {len(index.claims)} known ones"
    return kind(f"{message}{_hint(id, index, namespaces) or ';'} `ludus list` shows {rest}")


def _hint(id: EnvId, index: Index, namespaces: set[str]) -> str:
    same = _same_name(id, index)
    library = None if id.namespace in namespaces else library_that_has(id)
    if library is not None:
        return f"{same or ';'} {library.capitalize()} has it as '{library}/{id}';"
    near = did_you_mean(str(id), _spellings([*index.claims, *index.aliases]))
    if same or near or id.namespace is None or id.namespace in namespaces:
        return same or near
    return did_you_mean(id.namespace, namespaces)


def _same_name(id: EnvId, index: Index) -> str:
    """The ids that end in that name, of that version or the newest: `open/Atari-pong-v0` for `Pong`."""
    parsed = map(EnvId.parse, index.claims)
    found = [one for one in parsed if one.name.rpartition("-")[2].lower() == id.name.lower()]
    exact = sorted(str(one) for one in found if one.version == id.version)
    ids = exact or sorted({index.newest(EnvId.parse(one.base)) for one in found})
    return f"; did you mean {' or '.join(map(repr, ids[:MAX_HINTS]))}?" if ids else ""


def _spellings(ids: Iterable[str]) -> dict[str, str]:
    """Each way in which people write the ids, with or without namespace and version, and the id to suggest for it."""
    found: dict[str, str] = {}
    parsed = [EnvId.parse(one) for one in ids]
    for one in sorted(parsed, key=lambda one: (one.namespace is not None, str(one))):
        found.setdefault(str(one), str(one))
        found.setdefault(one.base, one.base)
        found.setdefault(str(one._replace(namespace=None)), str(one))
        found.setdefault(one.name, one.base)
    return found
