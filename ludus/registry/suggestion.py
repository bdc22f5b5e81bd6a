"""Did-you-mean: the closest of the names there are, whatever their case."""

from collections.abc import Iterable, Mapping

from ludus.core import EnvId

__all__ = ["closest", "did_you_mean", "spellings"]

CUTOFF = 0.6


def closest(word: str, known: Iterable[str] | Mapping[str, str]) -> str | None:
    """The known name most like `word`, if one is like it; of a mapping, what that name stands for."""
    from difflib import get_close_matches

    meant = dict(known) if isinstance(known, Mapping) else {one: one for one in known}
    folded: dict[str, str] = {}
    for spelling, name in meant.items():
        folded.setdefault(spelling.casefold(), name)
    found = get_close_matches(word.casefold(), folded, n=1, cutoff=CUTOFF)
    return folded[found[0]] if found else None


def did_you_mean(word: str, known: Iterable[str] | Mapping[str, str]) -> str:
    """`; did you mean 'GridWorld-v0'?`, or nothing."""
    found = closest(word, known)
    return "" if found is None else f"; did you mean {found!r}?"


def spellings(ids: Iterable[str]) -> dict[str, str]:
    """Each way in which people write the ids, with or without namespace and version, and the id to suggest for it."""
    found: dict[str, str] = {}
    parsed = [EnvId.parse(one) for one in ids]
    for one in sorted(parsed, key=lambda one: (one.namespace is not None, str(one))):
        found.setdefault(str(one), str(one))
        found.setdefault(one.base, one.base)
        found.setdefault(str(one._replace(namespace=None)), str(one))
        found.setdefault(one.name, one.base)
    return found
