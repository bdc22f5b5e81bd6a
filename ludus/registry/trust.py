"""Trust: what was said of whose code, and so the least wall that an environment has to run behind."""

import os
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from ludus.core import EnvSpec
from ludus.core.spec import Isolation
from ludus.errors import InvalidArgument, InvalidType, closest, listing, shorten
from ludus.registry.provenance import LEVELS, Author, authors, authors_ahead
from ludus.registry.search import WALLS

__all__ = [
    "NOTHING_ASKED",
    "VARIABLE",
    "Demand",
    "Word",
    "demand",
    "demand_ahead",
    "granted",
    "stronger",
    "trust",
    "words",
]

VARIABLE = "LUDUS_TRUST"
GRANT = "+grant"


class Word(NamedTuple):
    """What was said of somebody's code."""

    who: str
    isolation: Isolation
    grant: bool
    said: str
    """Where it was said."""

    def __str__(self) -> str:
        return f"{self.said} says {self.who}={self.isolation}{GRANT if self.grant else ''}"


class Demand(NamedTuple):
    """The least wall that an environment has to run behind, and why."""

    isolation: Isolation = "none"
    reasons: tuple[str, ...] = ()


NOTHING_ASKED = Demand()
_said: dict[str, Word] = {}


def trust(who: str, isolation: str | None, *, grant: bool = False) -> None:
    """Say what code has to run behind: "none", "process", "sandbox" or "container"; None takes the word back.

    `who` is `"third-party"` (installed packages), `"first-party"` (your own modules and classes), `"built-in"`, or a
    package by its name, which goes before its level. A word never lowers what an environment's own spec asks for. With
    `grant` the wall opens for what a third party's specs declare (hosts and paths), as it does for your own code's.

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
    _said[name] = Word(name, _wall(isolation, f"trust {who!r}"), bool(grant), "ludus.trust")


def words() -> dict[str, Word]:
    """Every word in force, by level or package."""
    text = os.environ.get(VARIABLE, "")
    return {**_from_variable(text), **_said} if text.strip() else _said


def demand(spec: EnvSpec) -> Demand:
    """What a spec's own security block and the words on whose code it is ask for, whichever is more."""
    said, own = words(), spec.security.isolation
    if own == "none" and not said:
        return NOTHING_ASKED
    whose = authors(spec)
    return _strongest([] if own == "none" else [(own, "its spec asks for it")], whose, said)


def demand_ahead(target: str) -> Demand:
    """The same for a text whose meaning is known only when code has run: `module:Name`, or another library's id."""
    said = words()
    return _strongest([], authors_ahead(target), said) if said else NOTHING_ASKED


def granted(whose: Iterable[Author]) -> bool:
    """Whether a wall opens for what a security block declares: for your own code, for others by a word only."""
    said = words()
    found = [_word(author, said) for author in whose if author.level == "third-party"]
    return all(word is not None and word.grant for word in found)


def stronger(one: Isolation, other: Isolation) -> Isolation:
    """The stronger of two."""
    return one if WALLS.index(one) > WALLS.index(other) else other


def _strongest(reasons: list[tuple[Isolation, str]], whose: Iterable[Author], said: Mapping[str, Word]) -> Demand:
    for author in whose:
        word = _word(author, said)
        if word is not None and word.isolation != "none":
            reasons.append((word.isolation, str(word)))
    least: Isolation = "none"
    for wall, _ in reasons:
        least = stronger(wall, least)
    return Demand(least, tuple(dict.fromkeys(reason for wall, reason in reasons if wall == least)))


def _word(author: Author, said: Mapping[str, Word]) -> Word | None:
    """What was said of an author by name, else of its level."""
    named = [said[name] for name in map(_normal, author.names) if name in said]
    return max(named, key=lambda word: WALLS.index(word.isolation)) if named else said.get(author.level)


# --- reading ---


def _normal(name: str) -> str:
    """As package indexes compare names."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _name(who: Any, what: str) -> str:
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


def _wall(word: Any, what: str) -> Isolation:
    if word not in WALLS:
        raise InvalidArgument(f"{what}: expected one of {listing(WALLS)}, got {shorten(word)}")
    return word


@lru_cache(maxsize=8)
def _from_variable(text: str) -> dict[str, Word]:
    found: dict[str, Word] = {}
    for part in filter(None, map(str.strip, text.split(","))):
        who, equals, wall = part.partition("=")
        if not equals:
            raise InvalidArgument(f"{VARIABLE}: expected NAME=WALL, as in 'third-party=sandbox', got {shorten(part)}")
        name, wall = _name(who, VARIABLE), wall.strip()
        isolation = _wall(wall.removesuffix(GRANT), f"{VARIABLE} {name}")
        found[name] = Word(name, isolation, wall.endswith(GRANT), VARIABLE)
    return found
