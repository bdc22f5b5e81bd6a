"""What the tests of each room take, beside what they should: printed at the end of a run, and never a reason to fail.

A room's time is the sum over its tests and doctests, on whichever worker each ran: workers that wait at the same time
add up to more than the clock on the wall shows. Beside it stands what of that was the processor's, in the worker and in
processes that ended there; not in those that a daemon started. Runs that belong together (`make test` has two) leave
their figures in the folder that LUDUS_TIMES names, and each shows the sum of those before it and of its own.
"""

import json
import os
import resource
import sys
import time
from collections.abc import Generator, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path, PurePosixPath

import pytest

BUDGETS_S = {
    "attacks": 5,
    "benchmarks": 25,
    "cli": 220,
    "client": 170,
    "conformance": 290,
    "core": 10,
    "envs": 180,
    "envs.open": 410,
    "errors": 1,
    "evaluate": 80,
    "house": 330,
    "interop": 130,
    "kernels": 670,
    "packaging": 170,
    "registry": 170,
    "remote": 5,
    "rendering": 10,
    "rubrics": 20,
    "sampling": 1,
    "sandbox": 1070,
    "seeding": 1,
    "server": 490,
    "spaces": 60,
    "testing": 330,
    "tasks": 360,
    "tools": 5,
    "trajectory": 40,
    "vector": 340,
    "web": 170,
    "wire": 10,
    "wrappers": 70,
}
"""Seconds of tests for each room, on two cores with nothing else to do: what six workers, who wait for each other's
processes, have in seventeen minutes, beside the other checks. A new room needs a line."""
NEW = ("envs.open", "tasks")
"""Rooms of engines, browsers and research tasks, which have ten minutes of their own."""
TOTAL_S = 1200
"""Of the clock, for all of `make test` without the installation: ten minutes for what the library had before there were
engines, browsers and tasks in it, and ten for these."""
TIMES = "LUDUS_TIMES"
COSTLIEST = 25
"""Tests that are printed with what they took of the processor, beside the slowest that pytest prints."""


@dataclass
class Times:
    """Tests, seconds and seconds of the processor by room, and when the first of the runs began."""

    began: float
    items: dict[str, int] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    processor: dict[str, float] = field(default_factory=dict)

    def add(self, room: str, items: int, seconds: float, processor: float = 0.0) -> None:
        """Count tests of a room."""
        self.items[room] = self.items.get(room, 0) + items
        self.seconds[room] = self.seconds.get(room, 0.0) + seconds
        self.processor[room] = self.processor.get(room, 0.0) + processor

    def plus(self, others: Iterable["Times"]) -> "Times":
        """The sum of several."""
        found = [self, *others]
        total = Times(min(one.began for one in found))
        for one in found:
            for room, items in one.items.items():
                total.add(room, items, one.seconds[room], one.processor.get(room, 0.0))
        return total


def room_of(nodeid: str) -> str:
    """The room that a test is about: `tests/core/test_env.py::…` and the doctests of `ludus/core` are both of core.

    The environments of `ludus/envs/open`, most of which drive an engine, are counted by themselves.
    """
    parts = PurePosixPath(nodeid.partition("::")[0]).parts
    if parts[:2] in (("tests", "envs"), ("ludus", "envs")) and parts[2].startswith(("open", "test_open")):
        return "envs.open"
    return parts[1].removesuffix(".py") if len(parts) > 1 and parts[0] in ("tests", "ludus") else "elsewhere"


def table(times: Times, now: float) -> Iterator[str]:
    """A line for each room, and the total by the clock; what is over its budget says so."""
    yield f"{'room':<12} {'tests':>6} {'seconds':>8} {'cpu':>8} {'budget':>8}"
    for room in sorted(times.items):
        taken, budget = times.seconds[room], BUDGETS_S.get(room)
        said = f"{'no budget yet':>8}" if budget is None else f"{budget:>8}{' over' if taken > budget else ''}"
        yield f"{room:<12} {times.items[room]:>6} {taken:>8.1f} {times.processor.get(room, 0.0):>8.1f} {said}"
    clock = now - times.began
    tests, seconds = sum(times.items.values()), sum(times.seconds.values())
    over = " over" if clock > TOTAL_S else ""
    used = sum(times.processor.values())
    new = [sum(kept.get(room, 0) for room in NEW) for kept in (times.items, times.seconds, times.processor)]
    yield f"{'engines':<12} {new[0]:>6} {new[1]:>8.1f} {new[2]:>8.1f}, of all: {' and '.join(NEW)}"
    yield f"{'all':<12} {tests:>6} {seconds:>8.1f} {used:>8.1f}, by the clock {clock:.0f} of {TOTAL_S}{over}"


def costliest(tests: Mapping[str, float]) -> Iterator[str]:
    """A line for each of the tests that took most of the processor, at least a second."""
    for nodeid, seconds in sorted(tests.items(), key=lambda one: -one[1])[:COSTLIEST]:
        if seconds >= 1.0:
            yield f"{seconds:>8.2f} {nodeid}"


class Meter:
    """The plugin of whoever runs tests: each report says what it took of the processor since the one before it."""

    ATTRIBUTE = "ludus_processor_s"

    def __init__(self) -> None:
        self._before = processor_s()

    def pytest_collection_finish(self) -> None:
        """What collecting took is no test's."""
        self._before = processor_s()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Write it where the report travels with it, from a worker to whoever prints."""
        report, now = (yield), processor_s()
        setattr(report, self.ATTRIBUTE, now - self._before)
        self._before = now
        return report


def processor_s() -> float:
    """Seconds of the processor that this process has taken, and those that it started and waited for."""
    return sum(sum(resource.getrusage(whose)[:2]) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


class Budgets:
    """The plugin: it sums what every worker reports, and speaks last."""

    def __init__(self) -> None:
        self.times = Times(time.time())
        self.tests: dict[str, float] = {}
        """Seconds of the processor by test."""
        self.clock: dict[str, float] = {}
        """And by the clock."""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count a part of a test: set-up, call or teardown."""
        processor = getattr(report, Meter.ATTRIBUTE, 0.0)
        self.times.add(room_of(report.nodeid), report.when == "setup", report.duration, processor)
        self.tests[report.nodeid] = self.tests.get(report.nodeid, 0.0) + processor
        self.clock[report.nodeid] = self.clock.get(report.nodeid, 0.0) + report.duration

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the table."""
        if not self.times.items:
            return
        terminalreporter.section("time by room")
        for line in table(self.times.plus(earlier(os.environ.get(TIMES))), time.time()):
            terminalreporter.write_line(line)
        terminalreporter.section(f"{COSTLIEST} tests with most of the processor")
        for line in costliest(self.tests):
            terminalreporter.write_line(line)
        keep(self.times, os.environ.get(TIMES), self.each())

    def each(self) -> Iterator[str]:
        """A line for each test: seconds of the processor, seconds by the clock, its id."""
        for nodeid, seconds in sorted(self.tests.items(), key=lambda one: -one[1]):
            yield f"{seconds:.3f}\t{self.clock[nodeid]:.3f}\t{nodeid}\n"


def earlier(folder: str | None) -> list[Times]:
    """What runs before this one left."""
    files = sorted(Path(folder).glob("*.json")) if folder else []
    return [Times(**json.loads(file.read_text(encoding="utf8"))) for file in files]


def keep(times: Times, folder: str | None, each: Iterable[str] = ()) -> None:
    """Leave the figures for runs that follow, and those of each test for whoever looks for seconds to save."""
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
        name = str(time.time_ns())
        Path(folder, f"{name}.json").write_text(json.dumps(asdict(times)), encoding="utf8")
        Path(folder, f"{name}.tsv").write_text("".join(each), encoding="utf8")


if __name__ == "__main__":  # `make test` begins here, so that what runs before pytest counts by the clock
    keep(Times(time.time()), sys.argv[1])
