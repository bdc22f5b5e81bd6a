"""Workspaces: 200 MB in many files, one of them changed. Snapshot, restore, fork and difference, in milliseconds.

    python benchmarks/workspace.py [--json FILE] [--rounds N] [--folder FOLDER]

The bar is a snapshot of 200 MB with one changed file in 100 ms. `--folder` says on which file system to measure.
"""

import argparse
import json
import os
import random
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console
from rich.table import Table

from ludus.sandbox.workspace import Workspace

MEGABYTES = 200
COUNTS = (300, 1000, 3000)
WANTED = 100.0
"""Milliseconds for a snapshot with one changed file."""


def fill(folder: Path, count: int, rng: random.Random) -> list[Path]:
    """So many files with 200 MB together, thirty in a folder."""
    size = MEGABYTES * 1_000_000 // count
    paths = [folder / f"part{number // 30:03}" / f"file{number:04}.bin" for number in range(count)]
    for path in paths:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(rng.randbytes(size))
    return paths


def timed(function: Callable[[], Any]) -> tuple[float, Any]:
    """Milliseconds, and what came of it."""
    begun = time.perf_counter()
    result = function()
    return (time.perf_counter() - begun) * 1000, result


def measure(base: Path, count: int, rounds: int) -> dict[str, Any]:
    """All figures for one number of files."""
    rng = random.Random(count)
    folder = base / "work"
    folder.mkdir()
    paths = fill(folder, count, rng)
    workspace = Workspace(folder, store=base / "store")
    first, begin = timed(lambda: workspace.snapshot("first"))
    changed, unchanged, restored, forked, compared = [], [], [], [], []
    for number in range(rounds):
        path = rng.choice(paths)
        path.write_bytes(rng.randbytes(path.stat().st_size))
        elapsed, step = timed(lambda: workspace.snapshot("changed"))
        changed.append(elapsed)
        unchanged.append(timed(lambda: workspace.snapshot("again"))[0])
        elapsed, diff = timed(lambda: workspace.diff(begin, step, text=True))  # noqa: B023
        compared.append(elapsed)
        if [one.path for one in diff.changed] != [str(path.relative_to(folder))]:
            raise SystemExit(f"expected one changed file, got {diff}")
        restored.append(timed(lambda: workspace.restore(begin))[0])
        if number < 5:
            forked.append(timed(lambda: workspace.fork(step, base / f"fork{number}"))[0])  # noqa: B023
            shutil.rmtree(base / f"fork{number}")
    figures = {"changed": changed, "unchanged": unchanged, "restore": restored, "fork": forked, "diff": compared}
    return {"files": count, "first": first, **{name: median(times) for name, times in figures.items()}}


def show(rows: list[dict[str, Any]], rounds: int) -> None:
    """The table, and whether the bar is met."""
    table = Table(title=f"{MEGABYTES} MB, one file changed: ms, median of {rounds} rounds (fork: of 5 at most)")
    names = ("files", "first", "changed", "unchanged", "restore", "fork", "diff")
    for name in names:
        table.add_column(name if name != "first" else "first snapshot", justify="right")
    for row in rows:
        table.add_row(*(f"{row[name]:.1f}" if name != "files" else str(row[name]) for name in names))
    Console().print(table)
    slow = [str(row["files"]) for row in rows if row["changed"] > WANTED]
    print(f"snapshots above {WANTED:g} ms, by number of files:", ", ".join(slow) or "none")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="write the figures here as well")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--folder", type=Path, default=None, help="where to make the files")
    arguments = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for count in COUNTS:
        with tempfile.TemporaryDirectory(dir=arguments.folder) as base:
            rows.append(measure(Path(os.path.realpath(base)), count, arguments.rounds))
    show(rows, arguments.rounds)
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
