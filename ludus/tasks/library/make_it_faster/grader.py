"""How often the processor time was halved: results come from the submitted program, times from the kernel.

The two functions take turns on the same lists, so that a machine that slows down slows both; what the program sleeps
buys nothing, and what it has threads or children do is its own time. A time is never the same twice, and a score has to
be: so halvings are whole, and where a measurement is near the middle between two, more are made.
"""

import json
import math
import time
from typing import TypedDict

import numpy as np
import original

from ludus.spaces.kinds import is_dict
from ludus.tasks.inside.case import Case, Program, Rejected

SECONDS, MOST, ROUNDS, MOST_ROUNDS, NEAR = 60.0, 100.0, 3, 9, 0.2
"""`NEAR` the middle between two whole halvings: a sixth more or less of the time."""


class Numbers(TypedDict):
    """A list to be analysed, as the generator wrote it."""

    values: list[int]
    width: int


def grade(case: Case) -> dict[str, float]:
    """Count every list of the split in turn: the original here, then the submitted function there."""
    lists: list[Numbers] = json.loads((case.hidden / "lists.json").read_text())[case.split]
    timed = [Timed(one["values"], one["width"], [case.seed, at]) for at, one in enumerate(lists)]
    with case.program("analysis.py", seconds=SECONDS) as program:
        program.call("analyse", [3, 1, 2] * 20, 5)  # what is only loaded at first use is loaded now
        spent, halvings = program.cpu_seconds, 0.0
        for turn in range(MOST_ROUNDS):
            for one in timed:
                spent = one.measure(program, turn, spent)
            halvings = float(np.mean([math.log2(one.ratio) for one in timed]))
            if turn + 1 >= ROUNDS and abs(halvings % 1 - 0.5) > NEAR:
                break
    return {"halvings": max(0, round(halvings)), "speedup": 2**halvings, "least": min(one.ratio for one in timed)}


class Timed:
    """A list, and what both functions took for it so far."""

    def __init__(self, values: list[int], width: int, seed: list[int]) -> None:
        self.values, self.width, self.seed = values, width, seed
        self.slow: list[float] = []
        self.fast: list[float] = []

    def measure(self, program: Program, turn: int, since: float) -> float:
        """One more turn of each, and what the program has used after it; Rejected where the results are not the same.

        What it does between two calls is not free either: its own time begins at the end of the last one.
        """
        values = fresh(self.values, np.random.default_rng([*self.seed, turn]))
        begun = time.process_time()
        right = original.analyse(values, self.width)
        self.slow.append(time.process_time() - begun)
        compare(program.call("analyse", values, self.width), right)
        spent = program.cpu_seconds
        self.fast.append(spent - since)
        return spent

    @property
    def ratio(self) -> float:
        """The best of the original over the best of the other."""
        least = min(self.fast) or float(np.mean(self.fast))  # a kernel that counts in ticks may have counted none
        return min(MOST, min(self.slow) / max(least, min(self.slow) / MOST))


def fresh(values: list[int], rng: np.random.Generator) -> list[int]:
    """The list moved, turned around a place and shuffled in part: as much work, and nothing that was seen before.

    Moved and turned only, what was found out in one turn could be looked up in the next.
    """
    cut, shift = int(rng.integers(1, len(values))), int(rng.integers(-1000, 1001))
    moved = np.array(values[cut:] + values[:cut]) + shift
    places = rng.choice(len(values), len(values) // 4, replace=False)
    moved[places] = rng.permutation(moved[places])
    return [int(one) for one in moved]


def compare(found: object, right: dict[str, int]) -> None:
    """Rejected where the results are not exactly the same."""
    if not is_dict(found) or set(found) != set(right):
        raise Rejected(f"analysis.py: expected a dictionary of {', '.join(right)}, got something else")
    for name, value in right.items():
        if type(found[name]) is not int or found[name] != value:
            raise Rejected(f"analysis.py: expected the original's result for {name}, got another")
