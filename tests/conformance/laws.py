"""Laws: what holds of an environment wherever it runs. Each is a test over places and kinds, and a row of the table.

What a place honestly cannot do is written down in `places.py`: there the very same test has to be refused, by an error
that says why. A fault that is known and not mended yet is expected to fail, strictly: mending it fails the test.
"""

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from tests.conformance.kinds import KINDS
from tests.conformance.places import PLACES, Absence, Fault, Place, Refusal

LAWS: dict[str, "Law"] = {}
TYPED = ("dataclass", "struct", "pydantic")


@dataclass(frozen=True)
class Law:
    """A row: what it says, of one environment or of a batch, and of which kinds."""

    name: str
    title: str
    batch: bool
    kinds: tuple[str, ...]
    own: bool
    """Whether each test needs an environment of its own, since it spoils it."""

    def cells(self) -> list[Any]:
        """The places and kinds it is tried with; those that a quick run leaves to a full one are marked."""
        return [
            self._cell(place, kind)
            for place in PLACES.values()
            for kind in self.kinds
            if self.exception(place, kind) is None or not isinstance(self.exception(place, kind), Absence)
        ]

    def _cell(self, place: Place, kind: str) -> Any:
        marks = [pytest.mark.xdist_group(place.group)]
        found = self.exception(place, kind)
        if isinstance(found, Fault):
            marks.append(pytest.mark.xfail(reason=found.reason, strict=True))
        if not self._sampled(place, kind):
            marks.append(pytest.mark.full)
        return pytest.param(place, KINDS[kind], marks=marks, id=f"{place.name}-{kind}")

    def _sampled(self, place: Place, kind: str) -> bool:
        """Whether a quick run tries it: of a dear place, every law with one kind, another one each time."""
        if place.cost == 0 or (place.cost == 1 and not self.own):
            return True
        there = [one for one in self.kinds if not isinstance(self.exception(place, one), Absence)]
        number = list(LAWS).index(self.name) + list(PLACES).index(place.name)
        return kind == there[number % len(there)]

    def exception(self, place: Place, kind: str) -> Absence | Fault | Refusal | None:
        """What a place has to say against it."""
        if self.batch and not place.batches:
            return place.batches_absent
        if not self.batch and not place.singles:
            return place.singles_absent
        return place.exception(self.name, kind)


def law(
    title: str, *, batch: bool = False, own: bool = False, kinds: tuple[str, ...] = tuple(KINDS)
) -> Callable[[Callable[..., None]], Any]:
    """A test of `place` and `kind` as a law."""

    def decorate(test: Callable[..., None]) -> Any:
        found = Law(test.__name__.removeprefix("test_"), title, batch, kinds, own)
        LAWS[found.name] = found

        @functools.wraps(test)
        def checked(*args: Any, **kwargs: Any) -> None:
            given = inspect.signature(test).bind(*args, **kwargs).arguments
            refusal = found.exception(given["place"], given["kind"].name)
            if not isinstance(refusal, Refusal):
                test(*args, **kwargs)
                return
            with pytest.raises(refusal.error, match=refusal.said):
                test(*args, **kwargs)

        return pytest.mark.parametrize(("place", "kind"), found.cells())(checked)

    return decorate
