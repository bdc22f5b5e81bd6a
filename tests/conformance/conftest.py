"""Environments and servers that the tests of places share end with them."""

from collections.abc import Iterator

import pytest

from tests.conformance.places import OPENED


@pytest.fixture(scope="package", autouse=True)
def shared() -> Iterator[None]:
    """Close what was opened."""
    yield
    OPENED.close()
