"""What was measured, as tables for a terminal and as a page of the docs."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeAlias

from held import P99, SESSIONS_BAR, Held
from parts import REVIEWED, WISH
from race import LANES, Row
from rich.console import Console
from rich.table import Table
from servers import IS_WHOLE

from ludus.benchmarks.report import describe_machine

ISOLATION_BAR_US = 60.0
"""Microseconds that a typed step behind bubblewrap may cost more than in process."""

PAGE = Path(__file__).with_name("page.md")
NOT_MEASURED = "Not measured in this run."
WHOLE = "OpenEnv is installed as `pip install openenv` has it."
WITHOUT_PAGES = (
    "OpenEnv is installed without the web pages (gradio) that it asks for, and imports with its client where they are: "
    "its import is without a bar here."
)
Grid: TypeAlias = list[tuple[str, ...]]


@dataclass
class Results:
    """All that was measured; what was left out is empty."""

    rounds: int
    rows: list[Row]
    quick: bool = False
    held: Held | None = None
    records: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    isolation: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    calls: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    lines: dict[str, int] = field(default_factory=dict[str, int])
    machine: dict[str, str] = field(default_factory=describe_machine)
    day: str = field(default_factory=lambda: datetime.now(UTC).strftime("%Y-%m-%d"))

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        plain = {**vars(self), "rows": [row.to_json() for row in self.rows]}
        return {**plain, "held": self.held.to_json() if self.held else None}


def verdict(met: bool | None) -> str:
    """A word for a table."""
    return "" if met is None else "yes" if met else "**no**"


def race_grid(found: Results) -> Grid:
    """Us beside OpenEnv."""
    grid: Grid = [("work", "unit", "OpenEnv 0.10.0", "Ludus", "ratio", "bar", "met")]
    for row in found.rows:
        theirs, ours = (f"{one:,.0f}" if one >= 1000 else f"{one:,.1f}" for one in row.medians)
        bar = "" if row.bar is None else f"{row.bar:g}×"
        grid.append((row.work, row.unit, theirs, ours, f"{row.ratio:.1f}×", bar, verdict(row.met)))
    return grid


def records_grid(found: Results) -> Grid:
    """Records beside msgspec."""
    grid: Grid = [("model", "work", "msgspec, µs", "Ludus, µs", "ratio", "bar", "met", "Pydantic, µs")]
    for row in found.records:
        bar, own = row["bar"], row["pydantic"]
        met = verdict(None if bar is None else row["ratio"] <= bar)
        times = (f"{row['msgspec']:.2f}", f"{row['ludus']:.2f}", f"{row['ratio']:.2f}×")
        last = (f"{bar:g}×" if bar else "", met, f"{own:.2f}" if own else "")
        grid.append((row["model"], row["work"], *times, *last))
    return grid


def isolation_grid(found: Results) -> Grid:
    """Typed steps behind isolation."""
    grid: Grid = [("isolation", "in process, µs", "sandboxed, µs", "over, µs", "bar, µs", "met")]
    for row in found.isolation:
        barred = row["backend"] == "bubblewrap"
        times = (f"{row[key]:.1f}" for key in ("typed bare", "typed sandboxed", "typed"))
        bar, met = (f"{ISOLATION_BAR_US:g}", verdict(row["typed"] <= ISOLATION_BAR_US)) if barred else ("", "")
        grid.append((row["backend"], *times, bar, met))
    return grid


def calls_grid(found: Results) -> Grid:
    """The way of a typed remote step."""
    grid: Grid = [("step", "calls", "files", "changes of package", "bar", "met")]
    for row in found.calls:
        bar = f"{row['bar']['calls']} and {row['bar']['changes']}"
        counts = (str(row[key]) for key in ("calls", "files", "changes"))
        grid.append((f"`{row['work']}`", *counts, bar, verdict(row["met"])))
    return grid


def held_text(held: Held | None) -> str:
    """Many sessions in a sentence."""
    if held is None:
        return NOT_MEASURED
    met = "not asked of so few" if held.sessions < SESSIONS_BAR else "met" if held.met else "**not met**"
    return (
        f"{held.sessions:,} sessions of the typed environment in one server process, each of which steps once a "
        f"second, over {held.steps:,} steps: {held.lost} lost, median {held.p50:.1f} ms, 95 % within {held.p95:.1f} "
        f"ms, 99 % within {held.p99:.1f} ms (bar: {SESSIONS_BAR:,}, none lost, {P99:g} ms: {met}). They were opened in "
        f"{held.opened_seconds:.1f} s; whoever asks shares the machine's cores with the server."
    )


def lines_text(lines: dict[str, int]) -> str:
    """How much code it takes, in a sentence."""
    if not lines:
        return NOT_MEASURED
    total, wish = sum(lines.values()), int(REVIEWED * WISH)
    each = ", ".join(f"`{room}` {count:,}" for room, count in lines.items())
    met = "met" if total <= wish else "**not met**"
    return f"{each}: {total:,} lines together ({REVIEWED:,} when first counted; the wish is {wish:,}: {met})."


def machine_text(found: Results) -> str:
    """What it was measured on."""
    about = ", ".join(f"{name} {found.machine[name]}" for name in ("cores", "python", "numpy", "ludus"))
    busy = f"load average at the start {found.machine['load']}, at the end {describe_machine()['load']}"
    quick = " Rounds were short: figures to try the code by, not to quote." if found.quick else ""
    return f"Measured on {found.day}, {found.machine['processor']}, {found.machine['system']}: {about}; {busy}.{quick}"


def write_page(found: Results) -> str:
    """The page."""
    return PAGE.read_text(encoding="utf8").format(
        rounds=found.rounds,
        lanes=LANES,
        install=WHOLE if IS_WHOLE else WITHOUT_PAGES,
        race=markdown(race_grid(found)),
        held=held_text(found.held),
        records=markdown(records_grid(found)),
        isolation=markdown(isolation_grid(found)),
        calls=markdown(calls_grid(found)),
        lines=lines_text(found.lines),
        machine=machine_text(found),
    )


def markdown(grid: Grid) -> str:
    """A table; columns of numbers to the right."""
    head, *rows = grid
    if not rows:
        return NOT_MEASURED
    rules = ("--:" if numbers(row[place] for row in rows) else "---" for place in range(len(head)))
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, tuple(rules), *rows))


def numbers(cells: Iterable[str]) -> bool:
    """Whether there are no words in a column."""
    return all(not cell or cell[0].isdigit() or cell[0] == "-" for cell in cells)


def show(found: Results) -> None:
    """For a terminal."""
    console = Console(width=140)
    grids = {"beside OpenEnv 0.10.0": race_grid, "typed values": records_grid, "isolation": isolation_grid}
    for title, grid in {**grids, "the way of a step": calls_grid}.items():
        head, *rows = grid(found)
        if rows:
            console.print(terminal(title, head, rows))
    for text in (held_text(found.held), lines_text(found.lines), machine_text(found)):
        if text != NOT_MEASURED:
            console.print(text.replace("**", "").replace("`", ""), markup=False)


def terminal(title: str, head: tuple[str, ...], rows: Grid) -> Table:
    """One of them."""
    table = Table(title=title, title_justify="left")
    for place, name in enumerate(head):
        table.add_column(name, justify="right" if numbers(row[place] for row in rows) else "left")
    for row in rows:
        style = "red" if verdict(False) in row else "green" if verdict(True) in row else None
        table.add_row(*(cell.strip("*`") for cell in row), style=style)
    return table
