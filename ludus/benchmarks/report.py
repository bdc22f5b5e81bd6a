"""`BenchmarkReport`: what came out of a benchmark, and on which machine, as data.

Tables, bars, plots and pages are made of it, and nothing is added.
"""

import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import msgspec

from ludus.version import __version__

__all__ = ["Figure", "BenchmarkReport", "SkippedContestant", "amount", "bars", "describe_machine"]

LETTERS = ((1e9, " G"), (1e6, " M"), (1e3, " k"))


def amount(number: float) -> str:
    """A number in three figures, with k, M or G for thousands, millions and more.

    >>> amount(38_412_345), amount(650_120), amount(7.25), amount(0.1234)
    ('38.4 M', '650 k', '7.25', '0.123')
    """
    # Just below a letter's size, three figures round up to it.
    size, letter = next(((size, letter) for size, letter in LETTERS if abs(number) >= size * 0.9995), (1.0, ""))
    value = number / size
    digits = 0 if abs(value) >= 99.95 else 1 if abs(value) >= 9.995 else 2 if abs(value) >= 0.9995 else 3
    return f"{value:.{digits}f}{letter}"


BASELINE = "gymnasium sync"
"""Whom everybody is compared with, where it was measured; else the slowest is."""


@dataclass(frozen=True)
class Figure:
    """One contestant at one size of batch: its best round, and how far the rounds lay apart.

    >>> Figure("ludus kernel", 64, 1_000_000.0, 64.0, 80.0, rounds=5, spread=0.9).seconds_per_lane
    1e-06
    """

    contestant: str
    lanes: int
    steps_per_second: float
    """Steps of lanes: a batch of 64 that is stepped once makes 64."""
    microseconds: float
    """The median time of one step call, that is of one step of every lane."""
    microseconds_p99: float
    rounds: int
    spread: float
    """The slowest round's steps per second as a part of the best's."""
    bytes_per_lane: float | None = None
    about: Mapping[str, str] = field(default_factory=dict[str, str])
    """Versions and settings, as the contestant gives them."""

    @property
    def seconds_per_lane(self) -> float:
        """What one step of one lane costs."""
        return 1.0 / self.steps_per_second


@dataclass(frozen=True)
class SkippedContestant:
    """A contestant that was not measured, at one size or (`lanes` 0) at any, and why.

    >>> SkippedContestant("envpool", 0, "not installed").reason
    'not installed'
    """

    contestant: str
    lanes: int
    reason: str


@dataclass(frozen=True)
class BenchmarkReport:
    """All figures about one environment, and who is missing.

    >>> figures = Figure("a", 1, 300.0, 1, 1, 5, 1.0), Figure("b", 1, 100.0, 1, 1, 5, 1.0)
    >>> report = BenchmarkReport("GridWorld-v0", 0.3, 5, figures)
    >>> report.ratio("a", "b", 1), report.compared(report.figures[0])
    (3.0, 3.0)
    """

    id: str
    seconds: float
    """How long each round was."""
    rounds: int
    figures: tuple[Figure, ...] = ()
    skipped: tuple[SkippedContestant, ...] = ()
    machine: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def sizes(self) -> list[int]:
        """The batch sizes that were measured."""
        return sorted({one.lanes for one in self.figures})

    @property
    def contestants(self) -> list[str]:
        """Who was measured, in the order of taking part."""
        return list(dict.fromkeys(one.contestant for one in self.figures))

    def figure(self, contestant: str, lanes: int) -> Figure | None:
        """The figure of a contestant at a size, if there is one."""
        return next((one for one in self.figures if (one.contestant, one.lanes) == (contestant, lanes)), None)

    def ratio(self, contestant: str, other: str, lanes: int) -> float | None:
        """How many times as many steps per second, if both were measured."""
        mine, theirs = self.figure(contestant, lanes), self.figure(other, lanes)
        return None if mine is None or theirs is None else mine.steps_per_second / theirs.steps_per_second

    def compared(self, figure: Figure) -> float:
        """How many times as fast as Gymnasium's plain loop at that size, or as the slowest if that is missing."""
        speeds = {one.contestant: one.steps_per_second for one in self.figures if one.lanes == figure.lanes}
        return figure.steps_per_second / speeds.get(BASELINE, min(speeds.values()))

    def reason(self, contestant: str, lanes: int) -> str:
        """Why a figure is missing."""
        found = [one.reason for one in self.skipped if one.contestant == contestant and one.lanes in (0, lanes)]
        return found[0] if found else "it did not take part"

    def to_json(self) -> str:
        """The whole report; each figure also has its `ratio` (see `compared`)."""
        data: dict[str, list[dict[str, object]]] = msgspec.to_builtins(self)
        for row, one in zip(data["figures"], self.figures, strict=True):
            row["ratio"] = self.compared(one)
        return msgspec.json.encode(data).decode()


EIGHTHS = " ▏▎▍▌▋▊▉"


def bars(report: BenchmarkReport, lanes: int, width: int = 40) -> list[tuple[str, str, str]]:
    """Name, bar and steps per second of everybody at one size, the fastest first; the longest bar is `width` wide.

    >>> from ludus.benchmarks import Figure
    >>> figures = Figure("one", 8, 3000.0, 1, 1, 1, 1.0), Figure("other", 8, 1000.0, 1, 1, 1, 1.0)
    >>> bars(BenchmarkReport("GridWorld-v0", 0.3, 1, figures), 8, width=6)
    [('one', '██████', '3.00 k'), ('other', '██', '1.00 k')]
    """
    found = sorted((one for one in report.figures if one.lanes == lanes), key=lambda one: -one.steps_per_second)
    if not found:
        return []
    unit = found[0].steps_per_second / width
    return [(one.contestant, _bar(one.steps_per_second / unit), amount(one.steps_per_second)) for one in found]


def _bar(length: float) -> str:
    """Blocks of this length to an eighth, and never none: what is slow is still there."""
    eighths = max(1, round(length * 8))
    return "█" * (eighths // 8) + EIGHTHS[eighths % 8].strip()


def describe_machine() -> dict[str, str]:
    """The processor, its cores that may be used, how busy they are, and the versions of what Ludus runs on.

    >>> sorted(describe_machine())
    ['cores', 'load', 'ludus', 'numba', 'numpy', 'processor', 'python', 'system']
    """
    return {
        "processor": _processor(),
        "cores": str(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()),
        "load": f"{os.getloadavg()[0]:.1f}",
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "numpy": _version("numpy"),
        "numba": _version("numba"),
        "ludus": __version__,
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf8").splitlines()
    except OSError:
        return platform.processor() or "unknown"
    pairs = (line.partition(":") for line in lines)
    return next((value.strip() for name, _, value in pairs if name.strip() == "model name"), "unknown")


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
