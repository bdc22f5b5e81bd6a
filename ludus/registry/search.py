"""Search: the environments that answer a question."""

from collections.abc import Collection, Iterable, Sequence
from typing import TypeVar, get_args

from ludus.core import EnvId, EnvSpec
from ludus.core.spec import Isolation
from ludus.errors import InvalidArgument, InvalidType, did_you_mean, listing, shorten

__all__ = ["by_id", "search"]

T = TypeVar("T")
ISOLATION_LEVELS: tuple[Isolation, ...] = get_args(Isolation)


def by_id(spec: EnvSpec) -> tuple[str, str, int]:
    """The order of listings: namespace, name, version."""
    return id_order(spec.id)


def id_order(id: str) -> tuple[str, str, int]:
    """The same for an id; v10 comes after v9."""
    parsed = EnvId.parse(id)
    return parsed.namespace or "", parsed.name, -1 if parsed.version is None else parsed.version


def search(
    specs: Iterable[EnvSpec],
    query: str | None = None,
    *,
    family: str | None = None,
    tags: Sequence[str] = (),
    deterministic: bool | None = None,
    namespace: str | None = None,
    extras: Sequence[str] | None = None,
    isolation: str | None = None,
) -> list[EnvSpec]:
    """The specs that meet every condition, by id; see `list_envs`."""
    found = sorted(specs, key=by_id)
    _check_known("family", family, {spec.family for spec in found if spec.family})
    _check_known("namespace", namespace, {spec.namespace for spec in found if spec.namespace})
    for tag in _words("tags", tags):
        _check_known("tag", tag, {one for spec in found for one in spec.tags})
    _check_known("isolation", isolation, ISOLATION_LEVELS)
    text = _text(query)
    have = None if extras is None else set(_words("extras", extras))
    levels: tuple[str, ...] = ISOLATION_LEVELS
    within = levels if isolation is None else levels[: levels.index(isolation) + 1]
    return [
        spec
        for spec in found
        if text in _described(spec)
        and family in (None, spec.family)
        and namespace in (None, spec.namespace)
        and deterministic in (None, spec.deterministic)
        and set(tags) <= set(spec.tags)
        and (have is None or set(spec.extras) <= have)
        and spec.security.isolation in within
    ]


def _described(spec: EnvSpec) -> str:
    return "\n".join([spec.id, spec.description, *spec.tags]).casefold()


def _text(query: object) -> str:
    if query is not None and not isinstance(query, str):
        raise InvalidType(f"query: expected text to look for in ids, descriptions and tags, got {shorten(query)}")
    return (query or "").casefold()


def _words(what: str, words: Collection[object]) -> Sequence[str]:
    texts = [one for one in words if isinstance(one, str)]
    if isinstance(words, str) or len(texts) != len(words):
        raise InvalidType(f"{what}: expected a sequence of text, got {shorten(words)}")
    return texts


def _check_known(what: str, word: object, known: Iterable[str]) -> None:
    names = sorted(known) if isinstance(known, set) else list(known)
    if word is not None and word not in names:
        near = did_you_mean(word, names) if isinstance(word, str) else ""
        expected = f"one of {listing(names)}" if names else "none, as no environment has one"
        raise InvalidArgument(f"{what}: expected {expected}, got {shorten(word)}{near}")
