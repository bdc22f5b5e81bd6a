"""How fast environments step: by every executor, beside other libraries, in turns, with nothing typed in by hand.

Not here: which figures we want to reach, which is in the repository's `benchmarks/suite`.
"""

from ludus.benchmarks.bench import bench, compare
from ludus.benchmarks.contestant import Contestant
from ludus.benchmarks.lineup import lineup
from ludus.benchmarks.plot import plot
from ludus.benchmarks.process import ContestantFailed, ContestantProcess
from ludus.benchmarks.race import Arena, Pace
from ludus.benchmarks.report import Figure, Report, Skipped, bars

__all__ = [
    "Arena",
    "Contestant",
    "ContestantFailed",
    "Figure",
    "Pace",
    "ContestantProcess",
    "Report",
    "Skipped",
    "bars",
    "bench",
    "compare",
    "lineup",
    "plot",
]
