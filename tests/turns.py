"""Tests that take turns: where backends share the code of a law, each run tries it on one of them.

`pytestmark = pytest.mark.in_turns("box")` says so of a parameter. Which value a test gets follows from its name and the
seed of the samples, so that half of a file's tests meet one and half the other; `make test-full` tries all.

`pytest.mark.one_of(2)` says of a test over many alike cases that a run tries every second of them, beginning with one
that follows from its name and the seed; `make test-full` tries all.
"""

from collections.abc import Hashable
from itertools import zip_longest
from zlib import crc32

import pytest

from tests.sampling import SEED


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as `full` whatever has not its turn, before pytest leaves out what is marked so."""
    functions: dict[str, dict[Hashable, list[pytest.Item]]] = {}
    for item in items:
        value = turning(item)
        if value is not None:
            functions.setdefault(item.nodeid.partition("[")[0], {}).setdefault(value, []).append(item)
    for name, values in functions.items():
        # In each of them a function has the same tests in the same order.
        for place, alike in enumerate(zip_longest(*values.values())):
            found = [item for item in alike if item is not None]
            turn = (crc32(f"{name}[{place}]".encode()) + SEED) % len(found)
            for item in found[:turn] + found[turn + 1 :]:
                item.add_marker(pytest.mark.full)
    _thin(items)


def _thin(items: list[pytest.Item]) -> None:
    """Of the cases of a test that are one in so many, mark the others as `full`."""
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("one_of") and not item.get_closest_marker("full"):
            cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for name, alike in cases.items():
        every = min(int(next(iter(alike[0].iter_markers("one_of"))).args[0]), len(alike))
        first = (crc32(name.encode()) + SEED) % every
        for place, item in enumerate(alike):
            if place % every != first:
                item.add_marker(pytest.mark.full)


def turning(item: pytest.Item) -> Hashable:
    """Which of the values that take turns this test has, by its place; None where it takes none."""
    places = getattr(getattr(item, "callspec", None), "indices", {})
    named = (str(mark.args[0]) for mark in item.iter_markers("in_turns"))
    return next((places[name] for name in named if name in places), None)
