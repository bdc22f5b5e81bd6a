"""Groups of tests that share a worker, and there what is started once: a server, a daemon, a browser.

A mark says so of tests in several files. Tests of one file that take the same fixture of that file, and all tests of a
file of rules, whose first test compiles what the others use, are a group without a mark: spread over six workers they
would start six servers, and compile six times.

pytest-xdist 3.8 writes a test's group into an attribute that pytest 9.2 does not read any more, and spreads groups over
all workers without a word (pytest-dev/pytest-xdist#1386). Until a release mends that, ids have groups behind them, as
xdist's scheduler expects it, for as long as it takes to tell it of them; reports have the ids that users can type.
"""

from collections.abc import Generator

import pytest

COMPILED = "tests/kernels/"


def group_of(item: pytest.Item) -> str:
    """The group that a test is marked with, or that of its file; empty for none, and all marks for several."""
    names = {str(mark.args[0] if mark.args else mark.kwargs["name"]) for mark in item.iter_markers("xdist_group")}
    return "_".join(sorted(names)) or _group_of_file(item)


def _group_of_file(item: pytest.Item) -> str:
    """The file of a test that takes what the file makes once, with which of it, where there are several; or empty."""
    file = item.nodeid.partition("::")[0]
    if file.startswith(COMPILED):
        return file
    known = getattr(item, "_fixtureinfo", None)
    made = {} if known is None else known.name2fixturedefs
    once = sorted(name for name, found in made.items() if found[-1].scope == "module" and found[-1].baseid == file)
    places = getattr(getattr(item, "callspec", None), "indices", {})
    return " ".join([file, *(f"{name}{places[name]}" for name in once if name in places)]) if once else ""


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
