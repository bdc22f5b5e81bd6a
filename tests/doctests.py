"""Doctests are sought where there is an example: files of tests have none, and each worker would search them all."""

from collections.abc import Generator
from pathlib import Path

import pytest
from _pytest.doctest import DoctestModule


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Of a file whose text has no example, only its tests."""
    found = yield
    if not any(isinstance(one, DoctestModule) for one in found) or b">>> " in file_path.read_bytes():
        return found
    return [one for one in found if not isinstance(one, DoctestModule)]
