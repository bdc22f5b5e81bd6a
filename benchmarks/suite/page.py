"""The page: Markdown from results. Its words are in `page.md`; every figure, name and verdict comes from the run."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from bars import KERNEL, OTHERS_BAR, Bar, all_bars, name_of, opponent, ratio_of
from measure import FEW_LANES, LANES, READINGS, Results

from ludus.benchmarks import BenchmarkReport, plot
from ludus.benchmarks.report import amount

TEMPLATE = Path(__file__).with_name("page.md")
PICTURE = Path("assets", "benchmarks", "scaling.svg")


def write_page(results: Results, page: Path) -> None:
    """Write the page, and its picture beside it."""
    picture = page.parent / PICTURE
    picture.parent.mkdir(parents=True, exist_ok=True)
    plot(results.cartpole).save(picture)
    text = TEMPLATE.read_text(encoding="utf8")
    for name, part in parts(results).items():
        text = text.replace(f"{{{{{name}}}}}", part)
    page.write_text(text, encoding="utf8")


def parts(results: Results) -> dict[str, str]:
    """What goes into the template's places."""
    report, bars = results.cartpole, all_bars(results)
    return {
        "verdict": verdict(bars) + caution(report),
        "bars": bars_table(bars),
        "picture": PICTURE.as_posix(),
        "scaling": scaling_table(report),
        "lanes": f"{LANES:,}",
        "few_lanes": f"{FEW_LANES:,}",
        "many": size_table(report, LANES),
        "few": size_table(report, FEW_LANES),
        "others": others_table(results.others),
        "others_bar": times(OTHERS_BAR),
        "processes": processes_table(results),
        "machine": machine_table(results),
        "skipped": skipped_list(results),
        "seconds": f"{report.seconds:g}",
        "rounds": str(report.rounds),
        "readings": str(READINGS),
    }


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; a column whose head begins with a space is one of numbers, and set to the right."""
    lines = ["--:" if name.startswith(" ") else "---" for name in head]
    head = [name.strip() for name in head]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (head, lines, *rows))


def times(ratio: float) -> str:
    """A ratio, with as many figures as it is worth."""
    return f"{ratio:.0f}×" if ratio >= 100 else f"{ratio:.3g}×"


def value(bar: Bar, number: float) -> str:
    return times(number) if bar.unit == "×" else f"{number:.0f}{bar.unit}"


def verdict(bars: list[Bar]) -> str:
    met = [bar.met for bar in bars]
    text = f"{met.count(True)} of {len(bars)} bars are met"
    missed, unknown = met.count(False), met.count(None)
    more = [f"{missed} {'is' if missed == 1 else 'are'} not"] if missed else []
    more += [f"{unknown} could not be measured"] if unknown else []
    return ", ".join([text, *more]) + "."


def caution(report: BenchmarkReport) -> str:
    """A word of warning where others were at work: those with several threads suffer most from it."""
    load, cores = report.machine.get("load", "0"), report.machine["cores"]
    return (
        f" The machine was busy with other work: load {load} on {cores} cores." if float(load) > int(cores) / 2 else ""
    )


def bars_table(bars: list[Bar]) -> str:
    rows: list[list[str]] = []
    for bar in bars:
        wanted = ("≤ " if bar.at_most else "") + value(bar, bar.wanted)
        note = f" ({bar.note})" if bar.note else ""
        if bar.measured is None:
            rows.append([bar.work, bar.against, wanted, "–", f"not available: {plain(bar.note)}"])
        else:
            rows.append(
                [bar.work, bar.against, wanted, value(bar, bar.measured) + note, "yes" if bar.met else "**no**"]
            )
    return table(("work", "against", "bar", "measured", "met"), rows)


def scaling_table(report: BenchmarkReport) -> str:
    names = report.contestants
    rows: list[list[str]] = []
    for lanes in report.sizes:
        found = [report.figure(name, lanes) for name in names]
        rows.append([f"{lanes:,}", *("–" if one is None else amount(one.steps_per_second) for one in found)])
    return table((" lanes", *(f" {name}" for name in names)), rows)


def size_table(report: BenchmarkReport, lanes: int) -> str:
    """Everybody at one size: the figures behind the bars."""
    rows: list[list[str]] = []
    for one in report.figures:
        if one.lanes == lanes:
            size = "–" if one.bytes_per_lane is None else amount(one.bytes_per_lane)
            speed = [amount(one.steps_per_second), f"{one.spread:.0%}"]
            latency = [amount(one.microseconds), amount(one.microseconds_p99)]
            rows.append([one.contestant, *speed, *latency, size, times(report.compared(one))])
    head = ("executor", " steps/s", " slowest round", " µs/call", " p99", " bytes/lane", " × Gymnasium's plain loop")
    return table(head, rows)


def others_table(reports: Iterable[BenchmarkReport]) -> str:
    rows: list[list[str]] = []
    for report in reports:
        mine, other = report.figure(KERNEL, LANES), opponent(report)
        speed = amount(mine.steps_per_second) if mine else f"not available: {plain(report.reason(KERNEL, LANES))}"
        if other is None:
            rows.append([report.id, speed, "nobody has it", "", "", ""])
        else:
            ratio = ratio_of(report)
            met = "–" if mine is None else "yes" if ratio >= OTHERS_BAR else "**no**"
            peer = [name_of(report, other.contestant), amount(other.steps_per_second)]
            rows.append([report.id, speed, *peer, times(ratio) if mine else "–", met])
    return table(("environment", " kernel, steps/s", "peer", " steps/s", " ratio", "met"), rows)


def processes_table(results: Results) -> str:
    rows: list[list[str]] = []
    for name, report in results.processes.items():
        rows += [
            [name, one.contestant, str(one.lanes), amount(one.steps_per_second), amount(one.microseconds)]
            for one in report.figures
        ]
    return table(("workload", "executor", " lanes", " steps/s", " µs/call"), rows)


def machine_table(results: Results) -> str:
    """The machine, and everybody's versions and settings as they reported them."""
    report = results.cartpole
    rows = [[name, value] for name, value in report.machine.items()]
    rows += [[name, settings(report, name)] for name in report.contestants if not name.startswith("ludus")]
    return table(("what", "is"), rows)


def settings(report: BenchmarkReport, contestant: str) -> str:
    """What a contestant said about itself; what it changed from size to size, in order."""
    found: dict[str, dict[str, None]] = {}
    for one in report.figures:
        if one.contestant == contestant:
            for key, value in one.about.items():
                found.setdefault(key, {})[value] = None
    return ", ".join(f"{key} {' or '.join(values)}" for key, values in found.items())


def skipped_list(results: Results) -> str:
    """Who is missing where, and why."""
    lines = [f"- {one.contestant}, everywhere: {plain(one.reason)}" for one in results.missing]
    found: dict[tuple[str, str], list[str]] = {}
    for report in (results.cartpole, *results.others, *results.processes.values()):
        for contestant, reason, sizes in missing(report):
            where = f"{report.id.rpartition(':')[2]}{sizes}"
            found.setdefault((contestant, reason.removesuffix(f" {report.id}")), []).append(where)
    lines += [f"- {contestant}, {', '.join(where)}: {plain(reason)}" for (contestant, reason), where in found.items()]
    return "\n".join(lines) or "Nobody."


def missing(report: BenchmarkReport) -> list[tuple[str, str, str]]:
    """Contestant, reason, and the sizes if not all of them."""
    found: dict[tuple[str, str], list[int]] = {}
    for one in report.skipped:
        found.setdefault((one.contestant, one.reason), []).append(one.lanes)
    sizes_by_pair = {
        pair: f" × {' / '.join(f'{size:,}' for size in sizes)}" if any(sizes) else "" for pair, sizes in found.items()
    }
    return [(*pair, sizes) for pair, sizes in sizes_by_pair.items()]


def plain(text: str) -> str:
    """Text that Markdown leaves as it is."""
    return "".join(f"\\{one}" if one in "|*_<>[]`" else one for one in text)
