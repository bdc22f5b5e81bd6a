"""The suite's bars and page: every figure and verdict on it follows from the results."""

from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest

from ludus.benchmarks import SkippedContestant

SUITE = Path(__file__).resolve().parents[2] / "benchmarks" / "suite"
KERNEL = "ludus kernel"


@pytest.fixture
def suite(monkeypatch):
    """Import a module of the suite, which is a program and no package."""
    monkeypatch.syspath_prepend(str(SUITE))
    return import_module


@pytest.fixture
def results(suite, figure, report):
    """A run in which some bars are met, some are not, and some could not be measured."""
    cartpole = report(
        figure(KERNEL, 64, 1e7, 200.0), figure(KERNEL, 4096, 4e7, 200.0), figure(KERNEL, 65536, 2e7, 200.0),
        figure("envpool", 64, 2e5, envpool="1.2.5"), figure("envpool", 4096, 8e5, envpool="1.2.5"),
        figure("gymnasium vector", 64, 1e6, gymnasium="1.4.0"),
        figure("gymnasium vector", 4096, 1e7, gymnasium="1.4.0"),
        figure("gymnasium sync", 4096, 1e5, gymnasium="1.4.0"), figure("C loop", 4096, 6e7, compiler="gcc 12"),
    )  # fmt: skip
    others = (
        report(figure(KERNEL, 4096, 3e7), figure("envpool", 4096, 1e6), id="MountainCar-v0"),
        report(figure(KERNEL, 4096, 1e7), figure("gymnasium sync", 4096, 1e6), id="Taxi-v4"),
        report(figure(KERNEL, 4096, 5e6), id="Copy-v0"),
    )
    broken = SkippedContestant("ludus process", 8, "executor: expected one of serial, kernel, got 'process'")
    processes = {
        "Cheap": report(figure("gymnasium async", 8, 1e4), id="x:Cheap", skipped=[broken]),
        "Pictures": report(figure("ludus process", 8, 5e4), figure("gymnasium async", 8, 1e4), id="x:Pictures"),
    }
    return suite("measure").Results(
        cartpole, others, processes, (SkippedContestant("gymnax", 0, "gymnax is not installed"),)
    )


def test_each_bar_follows_from_the_figures(suite, results):
    found = [(bar.measured, bar.wanted, bar.met) for bar in suite("bars").all_bars(results)]
    assert found == [
        (pytest.approx(50.0), 60.0, False),
        (pytest.approx(4.0), 2.5, True),
        (pytest.approx(400.0), 300.0, True),
        (None, 6.0, None),
        (pytest.approx(2 / 3), 0.5, True),
        (pytest.approx(50.0), 40.0, True),
        (pytest.approx(10.0), 12.0, False),
        (pytest.approx(10.0), 20.0, False),
        (None, 6.0, None),
        (pytest.approx(5.0), 3.0, True),
        (200.0, 256.0, True),
        (pytest.approx(2.0), 1.5, False),
    ]


def test_a_bar_that_could_not_be_measured_says_why(suite, results):
    notes = [bar.note for bar in suite("bars").all_bars(results) if bar.met is None]
    assert notes == [
        "gymnax: gymnax is not installed",
        "ludus process: executor: expected one of serial, kernel, got 'process'",
    ]


def test_the_bar_for_all_others_names_the_least_and_is_open_while_a_kernel_fails(suite, results, report, figure):
    bar = suite("bars").others_bar(results)
    assert bar.note == "the least, Taxi-v4; 1 of 2 reach the bar"
    lost = report(figure("envpool", 4096, 1e6), id="Acrobot-v1", skipped=[SkippedContestant(KERNEL, 0, "no")])
    bar = suite("bars").others_bar(replace(results, others=(*results.others, lost)))
    assert (bar.met, bar.note) == (None, "kernel failed: Acrobot-v1")


def test_a_rise_is_counted_from_the_cheapest_smaller_batch(suite, figure):
    line = [figure(KERNEL, n, speed) for n, speed in ((64, 10.0), (256, 40.0), (1024, 30.0), (4096, 20.0))]
    assert suite("bars").steepest_rise(line) == (pytest.approx(2.0), 256, 4096)


def test_the_page_says_what_was_measured_and_fills_every_place(suite, results, tmp_path):
    page = tmp_path / "benchmarks.md"
    suite("page").write_page(results, page)
    text = page.read_text(encoding="utf8")
    assert "{{" not in text
    assert "6 of 12 bars are met, 4 are not, 2 could not be measured." in text
    assert "| CartPole-v1 × 4,096, kernel | EnvPool 1.2.5 | 60× | 50× | **no** |" in text
    assert "| CartPole-v1 × 4,096, kernel | gymnax on the CPU | 6× | – | not available: gymnax: gymnax is not" in text
    assert "| Taxi-v4 | 10.0 M | Gymnasium's SyncVectorEnv | 1.00 M | 10× | **no** |" in text
    assert "| Copy-v0 | 5.00 M | nobody has it |" in text
    assert "| processor | Abacus |" in text
    assert "- gymnax, everywhere: gymnax is not installed" in text
    assert "- ludus process, Cheap × 8: executor: expected one of serial, kernel, got 'process'" in text
    assert "```python" not in text  # nothing on it is run by the tests
    assert (tmp_path / "assets" / "benchmarks" / "scaling.svg").read_text(encoding="utf8").startswith("<svg")


def test_the_page_says_when_the_machine_was_busy(suite, results):
    busy = replace(results.cartpole, machine={"processor": "Abacus", "cores": "2", "load": "3.5"})
    parts = suite("page").parts
    assert parts(replace(results, cartpole=busy))["verdict"].endswith("busy with other work: load 3.5 on 2 cores.")
    assert "busy" not in parts(results)["verdict"]


def test_results_can_be_saved_and_the_page_written_again(suite, results, tmp_path):
    path = tmp_path / "results.json"
    results.save(path)
    assert suite("measure").Results.load(path) == results


def test_every_environment_made_of_rules_is_measured(suite):
    found = suite("measure").compiled_ids()
    assert {"CartPole-v1", "Acrobot-v1", "Taxi-v4", "Copy-v0"} <= set(found)
    assert "GridWorld-v0" not in found
