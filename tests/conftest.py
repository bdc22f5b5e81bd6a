"""Shared by all tests: the same examples and samples on every machine and run, and a report of failures and times."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

from tests import doctests, garbage, order
from tests.budgets import Budgets, Meter
from tests.bytecode import pytest_sessionstart as pytest_sessionstart  # a hook, for pytest
from tests.certificates import read_once
from tests.failures import Failures
from tests.groups import pytest_collection_finish as pytest_collection_finish  # a hook, for pytest
from tests.patience import wait_for_replies
from tests.sampling import HEADER, examples
from tests.turns import pytest_collection_modifyitems as pytest_collection_modifyitems  # a hook, for pytest

# Derandomized, so a red build is red again on the next run; no deadline, because shared machines stall.
settings.register_profile(
    "ludus",
    deadline=None,
    derandomize=True,
    max_examples=examples(100),
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
)
# `pytest --hypothesis-profile=explore` looks further, and elsewhere each time.
settings.register_profile("explore", deadline=None, max_examples=1000)
settings.load_profile("ludus")

# Hypothesis draws constants out of every module that happens to be imported: which these are depends on the tests that
# ran before, and so would the examples.
providers._get_local_constants = lambda: providers._local_constants  # pyright: ignore[reportPrivateUsage]

# Compiled kernels are kept beside the code, not in the home folder: `make clean` forgets them.
os.environ.setdefault("LUDUS_CACHE_DIR", str(Path(__file__).resolve().parents[1] / "build" / "cache"))

# Programs for other interpreters, which have what these import.
collect_ignore_glob = [
    "client/stock_server.py",
    "conformance/stock_strangers.py",
    "interop/openenv_both_ways.py",
    "server/openenv_peers/*",
    "trajectory/peers/*",
]


def pytest_report_header() -> str:
    """Which sample of each product this run takes."""
    return HEADER


def pytest_configure(config: pytest.Config) -> None:
    """Whoever runs tests measures them; whoever prints, which workers do not, prints failures at once, times last."""
    wait_for_replies()
    read_once()
    config.pluginmanager.register(Meter(), "ludus-meter")
    for plugin in (doctests, garbage, order):
        config.pluginmanager.register(plugin, f"ludus-{plugin.__name__}")
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Budgets(), "ludus-budgets")
        config.pluginmanager.register(Failures(config), "ludus-failures")
