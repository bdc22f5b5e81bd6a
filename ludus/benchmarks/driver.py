"""The program of a contestant's process: JSON lines in, JSON lines out. It needs Python and NumPy, not Ludus.

    python -P driver.py CONTESTANT.py

CONTESTANT.py has a class `TimedBatch(id, lanes, ring, **options)` with `actions` (a list of batches drawn beforehand),
`step(action)`, `turns` (how often one call steps each lane), `held` (bytes that `actions` take), `about` (versions and
settings) and `close()`. Requests, one a line, and what they are answered with, or `{"error": reason}`:

    {"prepare": {"id": …, "lanes": …, "warm": seconds, …}}    {"about": {…}}
    {"run": seconds}              {"steps": n, "seconds": s, "median": s, "p99": s}: the last two of one step call
    {"memory": {"lanes": [few, many], …}}                     {"bytes_per_lane": n, or null}
    {"release": true}                                         {}: the batch is closed
"""

import ctypes
import gc
import json
import os
import sys
from collections.abc import Callable, Iterator
from importlib.util import module_from_spec, spec_from_file_location
from itertools import cycle, islice
from pathlib import Path
from time import perf_counter_ns
from typing import Protocol, TypeGuard

import numpy as np

__all__: list[str] = []

MAX_TURNS, LEAST_TURNS, MAX_ACTIONS = 32, 8, 1 << 18
FIRST_CALLS = 4
"""Step calls before anything is measured, however short the warm-up: compilers and caches want a few."""


class ContestantBatch(Protocol):
    """A batch of a contestant: what the class in its file makes."""

    actions: list[object]
    turns: int
    held: int
    about: dict[str, str]
    step: Callable[[object], object]

    def close(self) -> None:
        """Let go of what it holds."""
        ...


def ring_length(lanes: int) -> int:
    """How many batches of actions are drawn beforehand: fewer of large ones, the same for every contestant."""
    return max(LEAST_TURNS, min(MAX_TURNS, MAX_ACTIONS // lanes))


class Driver:
    """Answers requests about one kind of contestant."""

    def __init__(self, make: Callable[..., ContestantBatch]) -> None:
        self._make, self._batch, self._lanes = make, None, 0
        self._actions: Iterator[object] = iter(())

    def answer(self, request: dict[str, object]) -> dict[str, object]:
        """What a request is answered with."""
        [(verb, argument)] = request.items()
        verbs: dict[str, Callable[[object], dict[str, object]]] = {
            "prepare": self.prepare,
            "run": self.run,
            "memory": self.memory,
            "release": self.release,
        }
        return verbs[verb](argument)

    def prepare(self, argument: object) -> dict[str, object]:
        """Make the batch, and step it until it is warm."""
        self.release(True)
        options = _options(argument)
        warm = options.pop("warm")
        self._lanes = int(_number(options["lanes"]))
        self._batch = self._make(ring=ring_length(self._lanes), **options)
        self._actions = cycle(self._batch.actions)
        for action in islice(self._actions, FIRST_CALLS):
            self._batch.step(action)
        if warm:
            self.run(warm)
        return {"about": self._batch.about}

    def run(self, seconds: object) -> dict[str, object]:
        """Step for so long, at least once, with one look at the clock for each call."""
        if self._batch is None:
            raise RuntimeError("run: expected a prepared batch, got none")
        step, actions, marks = self._batch.step, self._actions, [perf_counter_ns()]
        end = marks[0] + int(_number(seconds) * 1e9)
        now = 0
        while now < end:
            step(next(actions))
            now = perf_counter_ns()
            marks.append(now)
        each = np.diff(marks) / 1e9 / self._batch.turns
        median, p99 = np.percentile(each, (50, 99))
        steps = len(each) * self._batch.turns * self._lanes
        return {"steps": steps, "seconds": (now - marks[0]) / 1e9, "median": float(median), "p99": float(p99)}

    def memory(self, argument: object) -> dict[str, object]:
        """What each lane adds: a large batch beside a small one, after another that has loaded and compiled all."""
        options = _options(argument)
        few, many = _numbers(options.pop("lanes"))
        kept: list[ContestantBatch] = []
        readings: list[int] = []
        for lanes in (few, few, many):
            kept.append(self._make(lanes=lanes, ring=1, **options))
            for action in islice(cycle(kept[-1].actions), 2 * FIRST_CALLS):
                kept[-1].step(action)
            reading = resident()
            if reading is None:
                return {"bytes_per_lane": None}
            readings.append(reading - sum(one.held for one in kept))
        for one in kept:
            one.close()
        first, second, third = readings
        return {"bytes_per_lane": ((third - second) - (second - first)) / (many - few)}

    def release(self, _: object) -> dict[str, object]:
        """Close the batch, if there is one."""
        if self._batch is not None:
            self._batch.close()
        self._batch, self._actions = None, iter(())
        gc.collect()
        return {}


def _is_options(argument: object) -> TypeGuard[dict[str, object]]:
    return isinstance(argument, dict)


def _options(argument: object) -> dict[str, object]:
    if not _is_options(argument):
        raise TypeError(f"request: expected options by their names, got {argument!r}")
    return argument


def _is_list(argument: object) -> TypeGuard[list[object]]:
    return isinstance(argument, list)


def _numbers(argument: object) -> list[float]:
    if not _is_list(argument):
        raise TypeError(f"request: expected a list of numbers, got {argument!r}")
    return [_number(one) for one in argument]


def _number(argument: object) -> float:
    if not isinstance(argument, int | float):
        raise TypeError(f"request: expected a number, got {argument!r}")
    return argument


def resident() -> int | None:
    """Bytes of memory of this process and its children, shared pages once; None where the system does not tell."""
    gc.collect()
    try:
        ctypes.CDLL(None).malloc_trim(0)  # what was freed goes back to the system before it is looked at
        return sum(_own_memory(pid) for pid in _family(os.getpid()))
    except (OSError, AttributeError, KeyError):
        return None


def _family(pid: int) -> list[int]:
    found = [pid]
    for task in Path(f"/proc/{pid}/task").iterdir():
        found += [one for child in (task / "children").read_text().split() for one in _family(int(child))]
    return found


def _own_memory(pid: int) -> int:
    """Anonymous and shared memory: pages of files, such as libraries, come and go with other processes."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
    sizes = {name: int(rest.split()[0]) for name, _, rest in (line.partition(":") for line in lines)}
    return (sizes["Pss_Anon"] + sizes["Pss_Shmem"]) * 1024


def reason(error: Exception) -> str:
    """An error in one line; Ludus's own, and what a contestant does not have, say all there is to say."""
    text, kind = " ".join(str(error).split()), type(error)
    if text and (kind is LookupError or kind.__module__.startswith("ludus")):
        return text
    return f"{kind.__name__}: {text}".removesuffix(": ")


def load(path: str) -> Callable[..., ContestantBatch]:
    """The class of a contestant, from its file."""
    found = spec_from_file_location("contestant", path)
    if found is None or found.loader is None:
        raise FileNotFoundError(path)
    module = module_from_spec(found)
    found.loader.exec_module(module)
    return module.TimedBatch


def main() -> None:
    """Answer until there are no more requests. What the contestant prints goes to standard error."""
    with os.fdopen(os.dup(1), "w", encoding="utf8") as answers:
        os.dup2(2, 1)
        driver = Driver(load(sys.argv[1]))
        for line in sys.stdin:
            try:
                answer = driver.answer(json.loads(line))
            except Exception as error:
                answer = {"error": reason(error)}
            answers.write(json.dumps(answer) + "\n")
            answers.flush()
        driver.release(True)


if __name__ == "__main__":
    main()
