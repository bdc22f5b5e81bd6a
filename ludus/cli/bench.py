"""`ludus bench`: how fast an environment steps."""

from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from ludus.benchmarks import BenchmarkReport, Figure, RacePace, bars, plot
from ludus.benchmarks import bench as measure
from ludus.benchmarks.report import BASELINE, amount
from ludus.cli.console import err, out, say
from ludus.errors import InvalidArgument, listing

__all__ = ["bench"]

NOTHING = 1
"""The exit code when there is not a single figure."""


def bench(
    target: Annotated[str, typer.Argument(metavar="ID", help="An id, or module:Env of the current folder.")],
    sizes: Annotated[str, typer.Option(help="Numbers of lanes.")] = "1,64,1024,4096",
    executors: Annotated[str | None, typer.Option(help="Only these of Ludus's executors; all if not given.")] = None,
    peers: Annotated[
        list[str] | None,
        typer.Option(metavar="PYTHON", help="An interpreter that has other libraries; may be given several times."),
    ] = None,
    alone: Annotated[bool, typer.Option("--alone", help="Without other libraries.")] = False,
    seconds: Annotated[float, typer.Option(min=0.001, max=3600.0, help="The length of a round.")] = 0.3,
    rounds: Annotated[int, typer.Option(min=1, max=1000, help="How many; the best counts.")] = 5,
    memory: Annotated[bool, typer.Option(help="Measure memory, too.")] = True,
    picture: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE", help="Draw the figures as .svg or .png.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Time an environment by every executor, beside Gymnasium, EnvPool and gymnax where they are installed.

    All take turns. Exit code 1 when there is nobody who could be measured.
    """
    lanes, pace = _numbers(sizes), RacePace(seconds, rounds, min(0.2, seconds))
    chosen = None if executors is None else executors.split(",")
    _check(picture)
    with err.status("starting") as status:
        found = [] if alone else peers
        report = measure(target, lanes, executors=chosen, peers=found, pace=pace, memory=int(memory), say=status.update)
    if picture is not None and report.figures:
        plot(report).save(picture)
    if as_json:
        print(report.to_json())
    else:
        _print(report)
    if not report.figures:
        raise typer.Exit(NOTHING)


def _numbers(sizes: str) -> list[int]:
    try:
        return [int(one) for one in sizes.split(",")]
    except ValueError as error:
        raise InvalidArgument(f"--sizes: expected numbers of lanes, as in 1,64,4096, got {sizes!r}") from error


def _check(picture: Path | None) -> None:
    """Before minutes of measuring, not after."""
    if picture is not None and (picture.suffix.lower() not in (".svg", ".png") or not picture.parent.is_dir()):
        raise InvalidArgument(f"--plot: expected a .svg or .png file in a folder that exists, got {str(picture)!r}")


def _print(report: BenchmarkReport) -> None:
    if report.figures:
        out.print(_table(report))
        _print_bars(report)
    for (contestant, reason), sizes in _missing(report).items():
        where = f", {listing(f'{size:,}' for size in sizes)} lanes" if any(sizes) else ""
        say(f"not measured: {contestant}{where}: {reason}", "yellow")


def _missing(report: BenchmarkReport) -> dict[tuple[str, str], list[int]]:
    found: dict[tuple[str, str], list[int]] = {}
    for one in report.skipped:
        found.setdefault((one.contestant, one.reason), []).append(one.lanes)
    return found


def _table(report: BenchmarkReport) -> Table:
    title = f"{report.id}, best of {report.rounds} rounds of {report.seconds:g} s, in turns"
    against = BASELINE if BASELINE in report.contestants else "the slowest"
    caption = f"µs/call: one step of every lane, median and p99; ×: steps/s as a multiple of {against}"
    table = Table(
        title=title,
        title_justify="left",
        title_style="bold",
        caption=caption,
        caption_justify="left",
        box=box.ROUNDED,
    )
    table.add_column("executor", style="cyan", no_wrap=True)
    for name in ("lanes", "steps/s", "µs/call", "p99", "bytes/lane", "×"):
        table.add_column(name, justify="right", no_wrap=True)
    for lanes in report.sizes:
        for one in report.figures:
            if one.lanes == lanes:
                table.add_row(*_cells(report, one))
        table.add_section()
    return table


def _cells(report: BenchmarkReport, one: Figure) -> list[str]:
    last = max(other.lanes for other in report.figures if other.contestant == one.contestant)
    # Once: it is the same at every size.
    size = amount(one.bytes_per_lane) if one.bytes_per_lane is not None and one.lanes == last else ""
    times = [amount(one.microseconds), amount(one.microseconds_p99)]
    return [one.contestant, f"{one.lanes:,}", amount(one.steps_per_second), *times, size, amount(report.compared(one))]


def _print_bars(report: BenchmarkReport) -> None:
    lanes = report.sizes[-1]
    shown = bars(report, lanes, width=max(10, min(60, out.width - 32)))
    grid = Table.grid(padding=(0, 1, 0, 0))
    for name, bar, speed in shown:
        style = "magenta" if name.startswith("ludus") else "blue"
        grid.add_row(Text(name, "cyan"), Text.assemble((bar, style), " ", speed))
    out.print(Text.assemble("\n", ("steps/s", "bold"), f" with {lanes:,} lanes"))
    out.print(grid)
