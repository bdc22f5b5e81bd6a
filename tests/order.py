"""The order of tests: what takes longest is begun first, so that no worker is left with it when the others are done.

xdist hands out tests, and groups of them, in the order in which they are collected (`--no-loadscope-reorder`; its own
order, by the number of tests in a group, leaves a group of few long tests for the end). Within a file, and among files
of one weight, the order stays.
"""

from functools import cache
from pathlib import PurePosixPath

import pytest

from tests.groups import group_of

LONGEST = (
    "docker",
    "browsergym",
    "browser",
    "images",
    "hostile bubblewrap",
    "hostile bare",
    "hostile gvisor",
    "hostile podman",
    "openenv",
    "soak",
)
"""Groups, the longest first: each is one worker's from its first test to its last."""
LONG = (
    "tests/tasks",
    "tests/envs/test_open_*.py",
    "tests/envs/test_contract.py",
    "tests/conformance",
    "tests/packaging",
    "tests/server/test_mcp*.py",
    "tests/server/test_openenv*.py",
    "tests/testing/test_service*.py",
    "tests/vector/test_matrix.py",
    "tests/kernels",
    "tests/sandbox",
    "tests/server",
    "tests/client",
    "tests/cli",
)
"""Files and folders whose single tests take seconds, in the order in which they are begun; all others follow."""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sort, after whatever else chooses among them."""
    items.sort(key=lambda item: place_of(item.nodeid, group_of(item)))


def place_of(nodeid: str, group: str) -> int:
    """How many kinds of tests come before one."""
    if group in LONGEST:
        return LONGEST.index(group)
    return len(LONGEST) + _place_of_file(nodeid.partition("::")[0])


@cache
def _place_of_file(name: str) -> int:
    path = PurePosixPath(name)
    above = (path, *path.parents)
    return next((place for place, long in enumerate(LONG) if any(one.match(long) for one in above)), len(LONG))
