"""`bench`: how fast an environment steps, by every executor and beside other libraries."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from operator import index
from typing import SupportsIndex

from ludus.benchmarks.contestant import Contestant
from ludus.benchmarks.lineup import lineup
from ludus.benchmarks.race import Arena, RacePace, Say, silent
from ludus.benchmarks.report import BenchmarkReport, Figure, SkippedContestant, describe_machine
from ludus.errors import InvalidArgument, shorten
from ludus.registry import spec
from ludus.vector.executor import EXECUTORS

__all__ = ["bench", "compare"]

SIZES = (1, 64, 1024, 4096)
MAX_LANES = 1 << 24


def bench(
    id: str,
    sizes: Sequence[int] = SIZES,
    *,
    executors: Sequence[str] | None = None,
    peers: Sequence[str] | None = None,
    pace: RacePace | None = None,
    memory: int = 1,
    say: Say = silent,
) -> BenchmarkReport:
    """Time batches of these sizes, executor by executor, and beside the peers of these Python interpreters.

    Every contestant has a process of its own, and they take turns; the best round of each counts. Without `executors`
    all are tried, without `peers` this interpreter is searched for them. One that cannot take part is in the report,
    with the reason. `memory` is how often memory is read, 0 for never. `say` is called with what is being done.

    >>> report = bench("GridWorld-v0", [4], executors=["serial"], peers=[], pace=RacePace(0.001, 1, 0.0), memory=False)
    >>> report.contestants, report.sizes
    (['ludus serial'], [4])
    """
    found = spec(id)
    lanes, pace = _sizes(sizes), _checked(pace or RacePace())
    names = EXECUTORS if executors is None else executors
    contestants, missing = lineup(found.id, names, [sys.executable] if peers is None else peers)
    with Arena(pace, say) as arena:
        report = compare(arena, id, contestants, lanes, memory=memory)
    return replace(report, id=found.id, skipped=(*missing, *report.skipped))


def compare(
    arena: Arena, id: str, contestants: Sequence[Contestant], sizes: Sequence[int], *, memory: int = 0
) -> BenchmarkReport:
    """The figures of these contestants at each of these sizes, and the least of so many readings of their memory.

    >>> with Arena(RacePace(0.001, rounds=1, warm=0.0)) as arena:
    ...     report = compare(arena, "CartPole-v1", lineup("CartPole-v1", ["serial"], [])[0], [2])
    >>> report.contestants
    ['ludus serial', 'C loop']
    """
    machine = describe_machine()  # now: later, what is busy is the benchmark
    outcomes = [one for lanes in sizes for one in arena.race(contestants, lanes, {"id": id})]
    figures = [one for one in outcomes if isinstance(one, Figure)]
    skipped = [one for one in outcomes if isinstance(one, SkippedContestant)]
    if memory:
        measured = {one.contestant for one in figures}
        each = {one.name: arena.memory(one, {"id": id}, memory) for one in contestants if one.name in measured}
        figures = [replace(one, bytes_per_lane=each[one.contestant]) for one in figures]
    pace = arena.pace
    return BenchmarkReport(id, pace.seconds, pace.rounds, tuple(figures), _summed(skipped, list(sizes)), machine)


def _summed(skipped: list[SkippedContestant], lanes: list[int]) -> tuple[SkippedContestant, ...]:
    """A contestant that was left out at every size for one reason is named once."""
    sizes: dict[tuple[str, str], list[int]] = {}
    for one in skipped:
        sizes.setdefault((one.contestant, one.reason), []).append(one.lanes)
    return tuple(
        SkippedContestant(contestant, size, reason)
        for (contestant, reason), found in sizes.items()
        for size in ([0] if found == lanes else found)
    )


def _sizes(sizes: Sequence[SupportsIndex]) -> list[int]:
    try:
        found = sorted({index(one) for one in sizes})
    except TypeError:
        found = []
    if not found or not 1 <= found[0] <= found[-1] <= MAX_LANES:
        raise InvalidArgument(f"sizes: expected numbers of lanes from 1 to {MAX_LANES}, got {shorten(sizes)}")
    return found


def _checked(pace: RacePace) -> RacePace:
    if not (0.0 < pace.seconds <= 3600.0 and 1 <= pace.rounds <= 1000 and 0.0 <= pace.warm <= 3600.0):
        raise InvalidArgument(f"pace: expected seconds above 0 and 1 to 1000 rounds, got {pace}")
    return pace
