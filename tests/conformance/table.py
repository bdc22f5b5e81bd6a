"""The table "what holds where", written by the suite's own data: laws are rows, places are columns."""

from collections.abc import Iterator

from tests.conformance import test_batch, test_one, test_wrappers
from tests.conformance.kinds import KINDS
from tests.conformance.laws import LAWS, Law
from tests.conformance.places import PLACES, Absence, Fault, Place, Refusal

MODULES = (test_one, test_batch, test_wrappers)
"""Importing them has their laws written down."""
HOLDS = "✓"
HEAD = """# places: what holds where

An environment is the same `Env` wherever it runs: in this process, in worker processes, in isolation, or at a server.
One suite, `tests/conformance`, holds every place to the same laws, with environments that a stranger might write: of
arrays, typed by a dataclass, a msgspec Struct and a Pydantic model, of tools, and of text. This page is written by it
(`python scripts/places_table.py`), and a test fails where it is not what the suite says.

✓ holds, and is tested. A number is the reason why it does not: what a place cannot do is refused by an error that says
so, which is tested too. ✗ is a fault that is known, and expected to fail until it is mended.
"""
FOOT = """A server with several workers has no Unix socket: one process listens there. The column of OpenEnv is its
stock server, version 0.10.0, spoken to by `ludus.connect`; its environments are typed by Pydantic models, and only this
kind is tried there. Stock clients of OpenEnv at our server are tried by `tests/server`.
"""


class Reasons:
    """The reasons of a table, numbered in the order in which they come up."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def number(self, reason: str) -> int:
        """The number of a reason."""
        return self.numbers.setdefault(reason, len(self.numbers) + 1)

    def lines(self) -> Iterator[str]:
        """Each with its number."""
        for reason, number in self.numbers.items():
            yield f"{number}. {reason}"


def cell(law: Law, place: Place, reasons: Reasons) -> str:
    """What a place has to say of a law: of all kinds, or of some."""
    found: dict[str, list[str]] = {}
    for kind in law.kinds:
        if place.only is None or kind in place.only:
            found.setdefault(_word(law.exception(place, kind), reasons), []).append(kind)
    if not found:
        return "–"
    if len(found) == 1:
        return next(iter(found))
    return ", ".join(word if word == HOLDS else f"{word} ({', '.join(kinds)})" for word, kinds in found.items())


def _word(exception: Absence | Fault | Refusal | None, reasons: Reasons) -> str:
    if exception is None:
        return HOLDS
    number = str(reasons.number(exception.reason))
    return f"✗ {number}" if isinstance(exception, Fault) else number


def table(laws: list[Law], places: list[Place], reasons: Reasons) -> Iterator[str]:
    """A table of Markdown."""
    yield "| | " + " | ".join(place.title for place in places) + " |"
    yield "|---" * (len(places) + 1) + "|"
    for law in laws:
        yield f"| {law.title} | " + " | ".join(cell(law, place, reasons) for place in places) + " |"


def page() -> str:
    """The whole page."""
    reasons, places = Reasons(), list(PLACES.values())
    ones, batches = [law for law in LAWS.values() if not law.batch], [law for law in LAWS.values() if law.batch]
    lines = [
        HEAD,
        "## One environment",
        "",
        *table(ones, [place for place in places if place.singles], reasons),
        "",
        "## A batch",
        "",
        *table(batches, places, reasons),
        "",
        "## Reasons",
        "",
        *reasons.lines(),
        "",
        FOOT.rstrip(),
        "",
    ]
    return "\n".join(lines)


def counts() -> dict[str, int]:
    """How much is tried: laws, places, kinds, and tests in a full run and in a quick one."""
    cells = [one for law in LAWS.values() for one in law.cells()]
    quick = [one for one in cells if not any(mark.name == "full" for mark in one.marks)]
    return {"laws": len(LAWS), "places": len(PLACES), "kinds": len(KINDS), "full": len(cells), "quick": len(quick)}
