"""How many times less processor time than the original: results come from the submitted program, times from the kernel.

The two functions take turns on the same lists, so that a machine that slows down slows both; what the program sleeps
buys nothing, and what it has threads or children do is its own time.
"""

import json
import time
from itertools import pairwise
from typing import Any

import numpy as np
import original

from ludus.tasks.inside.case import Case, Rejected

SECONDS, MOST, ROUNDS = 60.0, 100.0, 3


def grade(case: Case) -> dict[str, float]:
    """Count every list of the split in turn: the original here, then the submitted function there."""
    lists: list[dict[str, Any]] = json.loads((case.hidden / "lists.json").read_text())[case.split]
    ratios: list[float] = []
    with case.program("analysis.py", seconds=SECONDS) as program:
        program.call("analyse", [3, 1, 2] * 20, 5)  # what is only loaded at first use is loaded now
        for at, one in enumerate(lists):
            slow, fast = [], [program.cpu_seconds]
            for turn in range(ROUNDS):
                values = fresh(one["values"], np.random.default_rng([case.seed, at, turn]))
                begun = time.process_time()
                right = original.analyse(values, one["width"])
                slow.append(time.process_time() - begun)
                compare(program.call("analyse", values, one["width"]), right)
                fast.append(program.cpu_seconds)
            ratios.append(ratio(slow, fast))
    return {"speedup": float(np.exp(np.mean(np.log(ratios)))), "least": min(ratios)}


def ratio(slow: list[float], counts: list[float]) -> float:
    """The best of the original over the best between two counts: what is done between two calls is not free either."""
    fast = [after - before for before, after in pairwise(counts)]
    least = min(fast) or float(np.mean(fast))  # a kernel that counts in ticks may have counted none
    return min(MOST, min(slow) / max(least, min(slow) / MOST))


def fresh(values: list[int], rng: np.random.Generator) -> list[int]:
    """The list moved and turned around a place: as much work, and nothing that was seen before."""
    cut, shift = int(rng.integers(1, len(values))), int(rng.integers(-1000, 1001))
    return [one + shift for one in values[cut:] + values[:cut]]


def compare(found: Any, right: dict[str, int]) -> None:
    """Rejected where the results are not exactly the same."""
    if not isinstance(found, dict) or set(found) != set(right):
        raise Rejected(f"analysis.py: expected a dictionary of {', '.join(right)}, got something else")
    for name, value in right.items():
        if type(found[name]) is not int or found[name] != value:
            raise Rejected(f"analysis.py: expected the original's result for {name}, got another")
