"""Groups of tests that share a worker, and there what is started once: a server, a daemon, a browser.

pytest-xdist 3.8 writes a test's group into an attribute that pytest 9.2 does not read any more, and spreads groups over
all workers without a word (pytest-dev/pytest-xdist#1386). Until a release mends that, ids have groups behind them, as
xdist's scheduler expects it, for as long as it takes to tell it of them; reports have the ids that users can type.
"""

from collections.abc import Generator

import pytest


def group_of(item: pytest.Item) -> str:
    """The group that a test is marked with; empty for none, and all of them for several."""
    names = {str(mark.args[0] if mark.args else mark.kwargs["name"]) for mark in item.iter_markers("xdist_group")}
    return "_".join(sorted(names))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_finish(session: pytest.Session) -> Generator[None]:
    """Around the moment in which a worker tells what it has collected."""
    wanted = getattr(session.config.option, "loadgroup", False) and hasattr(pytest.Item, "id")
    grouped = [item for item in session.items if group_of(item)] if wanted else []
    known = [item.id for item in grouped]
    for item in grouped:
        if not item.nodeid.endswith(f"@{group_of(item)}"):
            item._id = type(item.id).parse(f"{item.nodeid}@{group_of(item)}")  # pyright: ignore[reportPrivateUsage]
    yield
    for item, plain in zip(grouped, known, strict=True):
        item._id = plain  # pyright: ignore[reportPrivateUsage]
