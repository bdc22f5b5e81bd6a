"""The bars: what Ludus wants to reach, and whether a run reached it."""

from collections.abc import Iterator
from dataclasses import dataclass

from measure import CARTPOLE, FEW_LANES, KERNEL, LANES, PROCESS, PROCESS_LANES, Results

from ludus.benchmarks import BenchmarkReport, Figure

NAMES = {
    "envpool": "EnvPool",
    "gymnasium vector": "Gymnasium's NumPy vector entry point",
    "gymnasium sync": "Gymnasium's SyncVectorEnv",
    "gymnasium async": "Gymnasium's AsyncVectorEnv",
    "gymnax": "gymnax on the CPU",
    "C loop": "a scalar loop in C",
}
CARTPOLE_BARS = (
    (LANES, "envpool", 60.0),
    (LANES, "gymnasium vector", 2.5),
    (LANES, "gymnasium sync", 300.0),
    (LANES, "gymnax", 6.0),
    (LANES, "C loop", 0.5),
    (FEW_LANES, "envpool", 40.0),
    (FEW_LANES, "gymnasium vector", 12.0),
)
OTHERS_BAR = 20.0
PROCESS_BARS = {
    "Cheap": ("cheap Python environments", 6.0),
    "Pictures": ("environments that show 84 × 84 × 4 bytes", 3.0),
}
MAX_BYTES = 256.0
MAX_RISE = 1.5


@dataclass(frozen=True)
class Bar:
    """One thing to reach. `measured` is None where it could not be measured, and `note` says why."""

    work: str
    against: str
    wanted: float
    measured: float | None
    unit: str = "×"
    at_most: bool = False
    note: str = ""

    @property
    def met(self) -> bool | None:
        """Whether it was reached; None if nobody knows."""
        if self.measured is None:
            return None
        return self.measured <= self.wanted if self.at_most else self.measured >= self.wanted


def all_bars(results: Results) -> list[Bar]:
    """Every bar, in the order of the page."""
    return [*cartpole_bars(results), others_bar(results), *process_bars(results), *lane_bars(results)]


def name_of(report: BenchmarkReport, contestant: str) -> str:
    """A contestant's name and version, as the run reported it."""
    about = next((one.about for one in report.figures if one.contestant == contestant), {})
    version = about.get(contestant.partition(" ")[0], "")
    name, place, rest = NAMES.get(contestant, contestant).partition(" on the ")
    return f"{name} {version}{place}{rest}" if version else NAMES.get(contestant, contestant)


def cartpole_bars(results: Results) -> Iterator[Bar]:
    """CartPole's kernel against each peer."""
    report = results.cartpole
    for lanes, other, wanted in CARTPOLE_BARS:
        work = f"{CARTPOLE} × {lanes:,}, kernel"
        ratio = report.ratio(KERNEL, other, lanes)
        note = "" if ratio is not None else why_missing(results, report, (KERNEL, other), lanes)
        yield Bar(work, name_of(report, other), wanted, ratio, note=note)


def why_missing(results: Results, report: BenchmarkReport, names: tuple[str, str], lanes: int) -> str:
    """The reason of whoever of the two has no figure."""
    absent = next(name for name in names if report.figure(name, lanes) is None)
    reasons = [one.reason for one in results.missing if one.contestant == absent]
    return f"{absent}: {(reasons or [report.reason(absent, lanes)])[0]}"


def opponent(report: BenchmarkReport) -> Figure | None:
    """Whom another environment's kernel was measured beside."""
    return next((one for one in report.figures if one.contestant != KERNEL), None)


def others_bar(results: Results) -> Bar:
    """The least ratio over all other environments that a peer has; one that cannot be had leaves the bar open."""
    compared = [one for one in results.others if opponent(one) is not None]
    work, against = f"every other kernel environment × {LANES:,}", "EnvPool's, else Gymnasium's SyncVectorEnv"
    broken = [one.id for one in compared if one.figure(KERNEL, LANES) is None]
    if broken or not compared:
        note = f"kernel failed: {', '.join(broken)}" if broken else "no peer took part"
        return Bar(work, against, OTHERS_BAR, None, note=note)
    ratios = {one.id: ratio_of(one) for one in compared}
    least = min(ratios, key=lambda id: ratios[id])
    reached = sum(ratio >= OTHERS_BAR for ratio in ratios.values())
    return Bar(
        work, against, OTHERS_BAR, ratios[least], note=f"the least, {least}; {reached} of {len(ratios)} reach the bar"
    )


def ratio_of(report: BenchmarkReport) -> float:
    """The kernel's ratio to whom it was measured beside."""
    other = opponent(report)
    return (report.ratio(KERNEL, other.contestant, LANES) if other else None) or 0.0


def process_bars(results: Results) -> Iterator[Bar]:
    """The executor for processes against Gymnasium's."""
    for name, (what, wanted) in PROCESS_BARS.items():
        report = results.processes[name]
        ratio = report.ratio(PROCESS.name, "gymnasium async", PROCESS_LANES)
        note = "" if ratio else why_missing(results, report, (PROCESS.name, "gymnasium async"), PROCESS_LANES)
        against = f"{name_of(report, 'gymnasium async')} ({PROCESS_LANES})"
        work = f"process, {PROCESS_LANES} {what} on {PROCESS.options['workers']} workers"
        yield Bar(work, against, wanted, ratio, note=note)


def lane_bars(results: Results) -> Iterator[Bar]:
    """What a lane takes, and how its cost grows with the batch."""
    line = [one for one in results.cartpole.figures if one.contestant == KERNEL]
    size = line[0].bytes_per_lane if line else None
    note = "" if size is not None else "memory cannot be read here"
    yield Bar(f"memory of a {CARTPOLE} lane, kernel", "", MAX_BYTES, size, " bytes", at_most=True, note=note)
    work = f"cost of a {CARTPOLE} lane, kernel"
    if len(line) < 2:
        yield Bar(work, "any smaller batch", MAX_RISE, None, at_most=True, note="kernel was not measured")
        return
    rise, smaller, larger = steepest_rise(line)
    note = f"from {smaller:,} to {larger:,} lanes"
    against = f"any smaller batch, from {line[0].lanes:,} to {line[-1].lanes:,} lanes"
    yield Bar(work, against, MAX_RISE, rise, at_most=True, note=note)


def steepest_rise(line: list[Figure]) -> tuple[float, int, int]:
    """The largest factor by which a lane costs more in a larger batch than in a smaller one, and the two sizes."""
    pairs = [(a, b) for place, b in enumerate(line) for a in line[:place]]
    return max((b.seconds_per_lane / a.seconds_per_lane, a.lanes, b.lanes) for a, b in pairs)
