"""The benchmark of services: verdicts follow from figures, and what is served is nobody's example but a user's own."""

import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import ludus
from ludus.testing import check_env

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def service(monkeypatch):
    """Import a module of the program, which is no package."""
    monkeypatch.syspath_prepend(str(BENCHMARKS / "service"))
    return import_module


@pytest.fixture
def mine(monkeypatch):
    """The user's module."""
    monkeypatch.syspath_prepend(str(BENCHMARKS / "strangers"))
    return import_module("mine")


def test_less_time_and_more_steps_a_second_are_both_better(service):
    race = service("race")
    time = race.Row("a", 3.0, "µs", theirs=[400.0, 300.0, 900.0], ours=[100.0, 90.0, 300.0])
    speed = race.Row("b", 4.0, "steps/s", theirs=[1000.0], ours=[3000.0])
    assert (time.ratio, time.met) == (4.0, True)
    assert (speed.ratio, speed.met) == (3.0, False)
    assert race.Row("c", None, theirs=[1.0], ours=[2.0]).met is None


def test_rounds_take_turns_at_being_first(service):
    row, order = service("race").Row("a"), list[str]()
    for _ in range(2):
        row.take(lambda: order.append("theirs") or 1.0, lambda: order.append("ours") or 1.0)
    assert order == ["ours", "theirs", "theirs", "ours"]


def test_a_page_says_which_bars_are_not_met_and_what_was_not_measured(service):
    race, report = service("race"), service("report")
    row = race.Row("64 lanes", 40.0, "steps/s", theirs=[1000.0], ours=[39_000.0])
    isolated = {"backend": "bubblewrap", "typed bare": 1.0, "typed sandboxed": 41.0, "typed": 40.0}
    page = report.write_page(report.Results(7, [row], isolation=[isolated], quick=True))
    assert "| 64 lanes | steps/s | 1,000 | 39,000 | 39.0× | 40× | **no** |" in page
    assert "| bubblewrap | 1.0 | 41.0 | 40.0 | 60 | yes |" in page
    assert page.count("Not measured in this run.") == 4
    assert "not to quote" in page


def test_the_environment_that_is_served_keeps_the_contract_and_sets_nothing(mine):
    check_env(mine.Count)
    assert mine.Count.__bases__[0] is ludus.Env
    assert "metadata" not in vars(mine.Count)


def test_the_calls_of_a_remote_step_are_counted_on_both_sides(tmp_path):
    found = tmp_path / "calls.json"
    subprocess.run(
        [sys.executable, str(BENCHMARKS / "calls.py"), "--only", "Move", "--json", str(found)],
        check=True,
        capture_output=True,
    )
    (count,) = json.loads(found.read_text())
    assert set(count["sides"]) == {"client", "server"}
    assert min(count["sides"].values()) > 10
    assert count["calls"] == sum(count["sides"].values())
    assert count["changes"] > 2
