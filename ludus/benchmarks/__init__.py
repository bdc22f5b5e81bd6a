"""How fast environments step: by every executor, beside other libraries, in turns, with nothing typed in by hand.

Not here: which figures we want to reach, which is in the repository's `benchmarks/suite`.
"""

from ludus.benchmarks.bench import bench, compare
from ludus.benchmarks.contestant import Contestant
from ludus.benchmarks.lineup import lineup
from ludus.benchmarks.plot import plot
from ludus.benchmarks.process import ContestantFailed, ContestantProcess
from ludus.benchmarks.race import Arena, RacePace
from ludus.benchmarks.report import BenchmarkReport, Figure, SkippedContestant, bars

__all__ = [
    "Arena",
    "Contestant",
    "ContestantFailed",
    "Figure",
    "RacePace",
    "ContestantProcess",
    "BenchmarkReport",
    "SkippedContestant",
    "bars",
    "bench",
    "compare",
    "lineup",
    "plot",
]
