"""`sample` and `contains` of every space beside Gymnasium's, interleaved in one run: above 1 means Ludus is faster.

python benchmarks/spaces.py [--json FILE]
"""

import argparse
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from rich.console import Console
from rich.table import Table

from ludus import spaces

gym = gymnasium.spaces
SPACES: dict[str, Callable[[Any], Any]] = {
    "Box (4,) float32": lambda s: s.Box(-1.0, 1.0, (4,)),
    "Box (4,) half bounded": lambda s: s.Box(np.array([-1, -np.inf, 0, -np.inf]), np.array([1, np.inf, np.inf, 0])),
    "Box (84, 84, 4) uint8": lambda s: s.Box(0, 255, (84, 84, 4), np.uint8),
    "Discrete": lambda s: s.Discrete(5),
    "MultiDiscrete": lambda s: s.MultiDiscrete([5, 2, 4]),
    "MultiBinary": lambda s: s.MultiBinary(8),
    "Text": lambda s: s.Text(20),
    "Tuple": lambda s: s.Tuple((s.Discrete(5), s.Box(-1.0, 1.0, (2,)))),
    "Dict": lambda s: s.Dict(a=s.Discrete(5), b=s.Box(-1.0, 1.0, (2,))),
    "Sequence": lambda s: s.Sequence(s.Discrete(5)),
    "Sequence stacked": lambda s: s.Sequence(s.Box(0.0, 1.0, (2,)), stack=True),
    "Graph": lambda s: s.Graph(s.Box(-1.0, 1.0, (3,)), s.Discrete(4)),
    "OneOf": lambda s: s.OneOf((s.Discrete(3), s.Box(0.0, 1.0, (4,)))),
}
ROUNDS = 15
ROUND_SECONDS = 0.01


def calls_for(work: Callable[[], Any]) -> int:
    """How many calls make a round long enough to time."""
    start = time.perf_counter()
    work()
    once = max(time.perf_counter() - start, 1e-7)
    return max(3, int(ROUND_SECONDS / once))


def time_one(work: Callable[[], Any], calls: int) -> float:
    """Seconds a call, over one round."""
    start = time.perf_counter()
    for _ in range(calls):
        work()
    return (time.perf_counter() - start) / calls


def compare(ours: Callable[[], Any], theirs: Callable[[], Any]) -> tuple[float, float]:
    """Best microseconds of both, in rounds that take turns."""
    calls = calls_for(ours)
    best = [float("inf"), float("inf")]
    for _ in range(ROUNDS):
        for place, work in enumerate((ours, theirs)):
            best[place] = min(best[place], time_one(work, calls))
    return best[0] * 1e6, best[1] * 1e6


def measure() -> list[dict[str, Any]]:
    """One row for each space."""
    rows: list[dict[str, Any]] = []
    for name, build in SPACES.items():
        ours, theirs = build(spaces), build(gym)
        ours.seed(0)
        theirs.seed(0)
        value, other = ours.sample(), theirs.sample()
        sample = compare(ours.sample, theirs.sample)
        contains = compare(lambda o=ours, v=value: o.contains(v), lambda t=theirs, v=other: t.contains(v))
        rows.append({"space": name, "sample": sample, "contains": contains})
    return rows


def show(rows: list[dict[str, Any]]) -> None:
    """The table."""
    table = Table(title=f"µs a call, best of {ROUNDS} rounds; ratio = Gymnasium {gymnasium.__version__} / Ludus")
    for column in ("space", "sample", "gymnasium", "ratio", "contains", "gymnasium", "ratio"):
        table.add_column(column, justify="left" if column == "space" else "right")
    for row in rows:
        cells = [f"{one:.2f}" for pair in (row["sample"], row["contains"]) for one in (*pair, pair[1] / pair[0])]
        table.add_row(row["space"], *cells)
    Console().print(table)
    slow = [row["space"] for row in rows for pair in (row["sample"], row["contains"]) if pair[1] < pair[0]]
    print("slower than Gymnasium:", ", ".join(slow) or "none")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write the figures here as well")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore", module="gymnasium")
    rows = measure()
    show(rows)
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
