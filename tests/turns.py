"""Tests that take turns: where backends share the code of a law, each run tries it on one of them.

`pytestmark = pytest.mark.in_turns("box")` says so of a parameter. Which value a test gets follows from its name and the
seed of the samples, so that half of a file's tests meet one and half the other; `make test-full` tries all.
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


def turning(item: pytest.Item) -> Hashable:
    """Which of the values that take turns this test has, by its place; None where it takes none."""
    places = getattr(getattr(item, "callspec", None), "indices", {})
    named = (str(mark.args[0]) for mark in item.iter_markers("in_turns"))
    return next((places[name] for name in named if name in places), None)
