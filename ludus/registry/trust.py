"""Trust: what was said of whose code, and so the least isolation that an environment has to run in."""

import os
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from ludus.core import EnvSpec
from ludus.core.spec import Isolation
from ludus.errors import InvalidArgument, InvalidType, closest, listing, shorten
from ludus.registry.provenance import LEVELS, Author, authors, authors_before_import, folder_author
from ludus.registry.search import ISOLATION_LEVELS

__all__ = [
    "NO_REQUIREMENT",
    "VARIABLE",
    "IsolationRequirement",
    "TrustRule",
    "required_isolation",
    "required_before_import",
    "required_in_folder",
    "is_granted",
    "stronger",
    "trust",
    "trust_rules",
]

VARIABLE = "LUDUS_TRUST"
GRANT = "+grant"


class TrustRule(NamedTuple):
    """What was said of somebody's code."""

    who: str
    isolation: Isolation
    grant: bool
    said: str
    """Where it was said."""

    def __str__(self) -> str:
        return f"{self.said} says {self.who}={self.isolation}{GRANT if self.grant else ''}"


class IsolationRequirement(NamedTuple):
    """The least isolation that an environment has to run in, and why."""

    isolation: Isolation = "none"
    reasons: tuple[str, ...] = ()


NO_REQUIREMENT = IsolationRequirement()
_said: dict[str, TrustRule] = {}


def trust(who: str, isolation: str | None, *, grant: bool = False) -> None:
    """Say what code has to run behind: "none", "process", "sandbox" or "container"; None takes the word back.

    `who` is `"third-party"` (installed packages), `"first-party"` (your own modules and classes), `"built-in"`, or a
    package by its name, which goes before its level. A word never lowers what an environment's own spec asks for. With
    `grant` the isolation opens for what a third party's specs declare (hosts and paths), as it does for your own
    code's.

    The variable LUDUS_TRUST says the same for a whole program, as `third-party=sandbox,mazes=none`; a call goes before.

    >>> trust("third-party", "sandbox")
    >>> trust("gymnasium", "none")
    >>> trust("gymnasium", None)
    >>> trust("third-party", None)
    """
    name = _name(who, "trust")
    if isolation is None:
        _said.pop(name, None)
        return
    _said[name] = TrustRule(name, _isolation_level(isolation, f"trust {who!r}"), bool(grant), "ludus.trust")


def trust_rules() -> dict[str, TrustRule]:
    """Every word in force, by level or package."""
    text = os.environ.get(VARIABLE, "")
    return {**_from_variable(text), **_said} if text.strip() else _said


def required_isolation(spec: EnvSpec) -> IsolationRequirement:
    """What a spec's own security block and the words on whose code it is ask for, whichever is more."""
    said, own = trust_rules(), spec.security.isolation
    if own == "none" and not said:
        return NO_REQUIREMENT
    whose = authors(spec)
    return _strongest([] if own == "none" else [(own, "its spec asks for it")], whose, said)


def required_before_import(target: str) -> IsolationRequirement:
    """The same for a text whose meaning is known only when code has run: `module:Name`, or another library's id."""
    said = trust_rules()
    return _strongest([], authors_before_import(target), said) if said else NO_REQUIREMENT


def required_in_folder(target: str) -> IsolationRequirement:
    """The same for what the manifest of a folder names: whatever that is, the code beside it is the folder's."""
    said = trust_rules()
    return _strongest([], [*authors_before_import(target), folder_author(target)], said) if said else NO_REQUIREMENT


def is_granted(whose: Iterable[Author]) -> bool:
    """Whether isolation opens for what a security block declares: for your own code, for others by a word only."""
    said = trust_rules()
    found = [_word(author, said) for author in whose if author.level == "third-party"]
    return all(word is not None and word.grant for word in found)


def stronger(one: Isolation, other: Isolation) -> Isolation:
    """The stronger of two."""
    return one if ISOLATION_LEVELS.index(one) > ISOLATION_LEVELS.index(other) else other


def _strongest(
    reasons: list[tuple[Isolation, str]], whose: Iterable[Author], said: Mapping[str, TrustRule]
) -> IsolationRequirement:
    for author in whose:
        word = _word(author, said)
        if word is not None and word.isolation != "none":
            reasons.append((word.isolation, str(word)))
    least: Isolation = "none"
    for level, _ in reasons:
        least = stronger(level, least)
    return IsolationRequirement(least, tuple(dict.fromkeys(reason for level, reason in reasons if level == least)))


def _word(author: Author, said: Mapping[str, TrustRule]) -> TrustRule | None:
    """What was said of an author by name, else of its level."""
    named = [said[name] for name in map(_normal, author.names) if name in said]
    return max(named, key=lambda word: ISOLATION_LEVELS.index(word.isolation)) if named else said.get(author.level)


# --- reading ---


def _normal(name: str) -> str:
    """As package indexes compare names."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _name(who: object, what: str) -> str:
    """A level or a package. What looks like a level that was misspelt is refused: it would guard nothing."""
    if not isinstance(who, str):
        raise InvalidType(f"{what}: expected a level or the name of a package, got {shorten(who)}")
    name = _normal(who.strip())
    meant = None if name in LEVELS else closest(name, LEVELS)
    if not re.fullmatch(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?", name) or (meant is not None and not _is_package(name)):
        hint = "" if meant is None else f"; did you mean {meant!r}?"
        raise InvalidArgument(
            f"{what}: expected {listing(map(repr, LEVELS))} or the name of a package, got {shorten(who)}{hint}"
        )
    return name


def _is_package(name: str) -> bool:
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True


def _isolation_level(word: object, what: str) -> Isolation:
    for level in ISOLATION_LEVELS:
        if word == level:
            return level
    raise InvalidArgument(f"{what}: expected one of {listing(ISOLATION_LEVELS)}, got {shorten(word)}")


@lru_cache(maxsize=8)
def _from_variable(text: str) -> dict[str, TrustRule]:
    found: dict[str, TrustRule] = {}
    for part in filter(None, map(str.strip, text.split(","))):
        who, equals, level = part.partition("=")
        if not equals:
            raise InvalidArgument(
                f"{VARIABLE}: expected NAME=ISOLATION, as in 'third-party=sandbox', got {shorten(part)}"
            )
        name, level = _name(who, VARIABLE), level.strip()
        isolation = _isolation_level(level.removesuffix(GRANT), f"{VARIABLE} {name}")
        found[name] = TrustRule(name, isolation, level.endswith(GRANT), VARIABLE)
    return found
