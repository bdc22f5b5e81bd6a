"""The registry that a program's parts share, and its methods as functions."""

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from types import ModuleType
from typing import Unpack

from ludus.core import EnvId, EnvSpec
from ludus.errors import InvalidType, shorten
from ludus.registry.plugins import discover
from ludus.registry.registration import SpecFields
from ludus.registry.search import search
from ludus.registry.table import Registry

__all__ = ["list_envs", "namespace", "pprint_registry", "register", "register_envs", "registry", "spec"]

registry = Registry(discover)


def register(
    id: str | EnvSpec, entry_point: str | Callable[..., object] | None = None, **fields: Unpack[SpecFields]
) -> EnvSpec:
    """Give an environment a name: an id and an entry point with any field of `EnvSpec`, or an `EnvSpec`.

    The same spec again changes nothing; another of the same package takes its place, with a warning; one of another
    package raises DuplicateId.
    """
    return registry.register(id, entry_point, **fields)


def spec(id: str) -> EnvSpec:
    """What is known of an environment, without loading its code; an id without a version means the newest.

    >>> spec("GridWorld").max_episode_steps
    100
    """
    return registry.spec(id)


def list_envs(
    query: str | None = None,
    *,
    family: str | None = None,
    tags: Sequence[str] = (),
    deterministic: bool | None = None,
    namespace: str | None = None,
    extras: Sequence[str] | None = None,
    isolation: str | None = None,
) -> list[EnvSpec]:
    """The environments that meet every condition, by id.

    `query` is looked for in ids, descriptions and tags, whatever its case; all of `tags` must be there. `extras` are
    those you have installed: environments that need others are left out. `isolation` is the isolation you can offer:
    environments that ask for a stronger one are left out.

    >>> [spec.id for spec in list_envs("goal", family="teaching")]
    ['GridWorld-v0']
    """
    return search(
        registry.values(),
        query,
        family=family,
        tags=tags,
        deterministic=deterministic,
        namespace=namespace,
        extras=extras,
        isolation=isolation,
    )


def namespace(name: str) -> AbstractContextManager[None]:
    """Put every id that is registered in the with-block into the namespace."""
    return registry.namespace(name)


def register_envs(module: ModuleType) -> None:
    """Nothing: importing a module registers its environments, and this line makes the import look used."""
    if not isinstance(module, ModuleType):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidType(f"register_envs: expected a module, got {shorten(module)}")


def pprint_registry(
    print_registry: Mapping[str, EnvSpec] | None = None,
    *,
    num_cols: int = 3,
    exclude_namespaces: Iterable[str] = (),
    disable_print: bool = False,
) -> str | None:
    """Print the ids in columns, one paragraph for each namespace; return the text instead when `disable_print`."""
    groups: dict[str, list[str]] = {}
    for one in registry if print_registry is None else print_registry:
        groups.setdefault(EnvId.parse(one).namespace or "", []).append(one)
    hidden = set(exclude_namespaces)
    shown = [_columns(name, ids, num_cols) for name, ids in groups.items() if name not in hidden]
    text = "\n\n".join(shown)
    if disable_print:
        return text
    sys.stdout.write(f"{text}\n")
    return None


def _columns(title: str, ids: list[str], count: int) -> str:
    width = max(map(len, ids))
    rows = [ids[start : start + count] for start in range(0, len(ids), count)]
    lines = ["  ".join(one.ljust(width) for one in row).rstrip() for row in rows]
    return "\n".join([f"===== {title or 'no namespace'} =====", *lines])
