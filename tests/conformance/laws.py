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

from ludus.core import AutoresetMode
from tests.conformance.kinds import KINDS, SCREENS
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
    modes: tuple[AutoresetMode, ...] = ()
    """The autoreset modes that it is tried in, where these matter."""

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters of its test."""
        return ("place", "kind", "mode") if self.modes else ("place", "kind")

    def cells(self) -> list[Any]:
        """What it is tried with; what a quick run leaves to a full one is marked."""
        tried = [(place, kind) for place in PLACES.values() for kind in self.kinds if not self.is_absent(place, kind)]
        return [self._cell(place, kind, mode) for place, kind in tried for mode in self.modes or (None,)]

    def is_absent(self, place: Place, kind: str) -> bool:
        """Whether it cannot even be asked for there."""
        return (place.only is not None and kind not in place.only) or isinstance(self.exception(place, kind), Absence)

    def _cell(self, place: Place, kind: str, mode: AutoresetMode | None) -> Any:
        marks = [pytest.mark.xdist_group(place.group)]
        found = self.exception(place, kind)
        if isinstance(found, Fault):
            marks.append(pytest.mark.xfail(reason=found.reason, strict=True))
        if not self._sampled(place, kind, mode):
            marks.append(pytest.mark.full)
        values = (place, {**KINDS, SCREENS.name: SCREENS}[kind], *(() if mode is None else (mode,)))
        return pytest.param(*values, marks=marks, id="-".join([place.name, kind, *([mode.value] if mode else [])]))

    def _sampled(self, place: Place, kind: str, mode: AutoresetMode | None) -> bool:
        """Whether a quick run tries it: in a dear place with two kinds, which the laws take in turns, or with one."""
        if place.sample is None:
            return True
        some = [one for one in self.kinds if one in place.sample and not self.is_absent(place, one)]
        number = list(LAWS).index(self.name)
        if self.own and number % place.every:
            return False
        if mode is not None:
            return kind in some[:1] and mode is self.modes[number % len(self.modes)]
        turns = (number,) if self.own or len(place.sample) < len(KINDS) else (number, number + len(some) // 2)
        return kind in {some[turn % len(some)] for turn in turns if some}

    def exception(self, place: Place, kind: str) -> Absence | Fault | Refusal | None:
        """What a place has to say against it."""
        if self.batch and not place.batches:
            return place.batches_absent
        if not self.batch and not place.singles:
            return place.singles_absent
        return place.exception(self.name, kind)


def law(
    title: str,
    *,
    batch: bool = False,
    own: bool = False,
    kinds: tuple[str, ...] = tuple(KINDS),
    modes: tuple[AutoresetMode, ...] = (),
) -> Callable[[Callable[..., None]], Any]:
    """A test of `place` and `kind` as a law."""

    def decorate(test: Callable[..., None]) -> Any:
        found = Law(test.__name__.removeprefix("test_"), title, batch, kinds, own, modes)
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

        return pytest.mark.parametrize(found.names, found.cells())(checked)

    return decorate
