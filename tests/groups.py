"""Groups of tests that share a worker, and there what is started once: a server, a daemon, a browser.

pytest-xdist 3.8 writes a test's group into an attribute that pytest 9.2 does not read any more, and spreads groups over
all workers without a word (pytest-dev/pytest-xdist#1386). Until a release mends that, the group is written where pytest
looks, in the form in which xdist's scheduler expects it.
"""

import pytest


def group_of(item: pytest.Item) -> str:
    """The group that a test is marked with; empty for none, and all of them for several."""
    names = {str(mark.args[0] if mark.args else mark.kwargs["name"]) for mark in item.iter_markers("xdist_group")}
    return "_".join(sorted(names))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Write the group behind the id of each test, in workers that are told to keep groups together."""
    if not getattr(config.option, "loadgroup", False):
        return
    for item in items:
        group = group_of(item)
        if group and not item.nodeid.endswith(f"@{group}"):
            item._id = type(item.id).parse(f"{item.nodeid}@{group}")  # pyright: ignore[reportPrivateUsage]
