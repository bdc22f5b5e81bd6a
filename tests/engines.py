"""Environments whose every instance starts programs: a browser, a simulation, a forge, the sandbox of a research task.

What is tried on every id of the registry is tried on these in `make test-full`; in each run their own tests show it.
"""

from collections.abc import Iterable
from typing import Any

import pytest

ENGINES = {"open/BrowserGym-v0", "open/Git-v0", "open/SumoRL-v0", "open/SumoRLSignals-v0"}


def starts_programs(name: str) -> bool:
    """Whether each instance of it takes a second and more."""
    return name in ENGINES or name.startswith("task/")


def engines_in_full(names: Iterable[str]) -> list[Any]:
    """The ids as parameters of a test: those that start programs are for `make test-full`."""
    return [pytest.param(name, marks=pytest.mark.full) if starts_programs(name) else name for name in names]
