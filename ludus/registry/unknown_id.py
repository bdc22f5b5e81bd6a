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

__all__ = ["UnknownKey", "unknown"]


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
    hint = did_you_mean(str(id), _spellings([*index.claims, *index.aliases]))
    kind, what = NameNotFound, f"no environment '{id}'"
    if id.namespace is not None and id.namespace not in namespaces:
        kind, what = NamespaceNotFound, f"{what}: there is no namespace {id.namespace!r}"
        hint = hint or did_you_mean(id.namespace, namespaces)
    rest = "the one known" if len(index.claims) == 1 else f"the {len(index.claims)} known ones"
    return kind(f"{what}{hint or ';'} `ludus list` shows {rest}")


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
