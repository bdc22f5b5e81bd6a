"""What recording costs a compiled batch: the time of a step with a Recorder over that without.

    python benchmarks/trajectory.py [--lanes N] [--rounds N] [--env NAME] [--json FILE]

Three batches: CartPole, whose episodes end all the time; Pendulum, whose actions are floats; and a board of 256 cells,
whose observations are 16 times as large. Alternating rounds in one process, a pair at a time; actions are drawn before.
Both times are of all threads together, the one that compresses and writes too: processor time, which a busy machine
disturbs less, and that of the clock. Ratios are medians over the rounds.
"""

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

import ludus
from ludus.kernels import RuleEnv, Rules
from ludus.spaces import Box, Discrete
from ludus.trajectory import Recorder
from ludus.vector import Kernel

STEPS, DRAWN = 1024, 128
BARS = {"seeds": 1.15, "steps": 2.0}
CELLS = 256


class Field(NamedTuple):
    """Cells that were painted, and where the painter stands."""

    cells: Any
    at: int


class Nothing(NamedTuple):
    """No parameters."""


def begin(rng: Any, params: Any) -> Field:
    """An empty field."""
    del params
    return Field(np.zeros(CELLS, np.float32), rng.integers(0, CELLS))


def paint(state: Field, action: Any, rng: Any, params: Any) -> tuple[Field, float, bool]:
    """Go one of four ways and paint; it is over when there is paint already, half of the time."""
    del params
    at = (state.at + (1, 16, CELLS - 1, CELLS - 16)[action]) % CELLS
    painted = float(state.cells[at]) > 0.0
    state.cells[at] = 1.0
    return Field(state.cells, at), 0.25 if painted else 1.0, painted and rng.random() < 0.5


def look(state: Field, params: Any) -> Any:
    """All cells."""
    del params
    return state.cells


class Painter(RuleEnv):
    """A board that is seen as a whole."""

    rules = Rules(Field, Nothing, begin, paint, look)
    observation_space, action_space = Box(0, 1, (CELLS,), np.float32), Discrete(4)


ENVS: dict[str, Any] = {"CartPole-v1": "CartPole-v1", "Pendulum-v1": "Pendulum-v1", "board of 256": Painter}


def seconds(envs: Any, actions: list[Any]) -> tuple[float, float]:
    """The time of these steps, of the clock and of all processors."""
    clock, processor = time.perf_counter(), time.process_time()
    for action in actions:
        envs.step(action)
    if isinstance(envs, Recorder):
        envs.flush()
    return time.perf_counter() - clock, time.process_time() - processor


def measure(make: Callable[[], Any], level: Any, rounds: int, path: Path) -> dict[str, float]:
    """Alternating rounds of one batch without and one with a recorder."""
    bare = make()
    lanes = bare.num_envs
    bare.action_space.seed(0)
    actions = [bare.action_space.sample() for _ in range(DRAWN)] * (STEPS // DRAWN)
    recorded: Any = Recorder(make(), path, level)
    for envs in (bare, recorded):
        envs.reset(seed=0)
        seconds(envs, actions)
    pairs = [(seconds(bare, actions), seconds(recorded, actions)) for _ in range(rounds)]
    bare.close()
    recorded.close()
    return {
        "steps_per_second": STEPS * lanes / min(one for _, (one, _) in pairs),
        "bare_steps_per_second": STEPS * lanes / min(one for (one, _), _ in pairs),
        "processor_ratio": statistics.median(after[1] / before[1] for before, after in pairs),
        "clock_ratio": statistics.median(after[0] / before[0] for before, after in pairs),
        "bytes_per_step": path.stat().st_size / (lanes * STEPS * (rounds + 1)),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--lanes", type=int, default=4096)
    parser.add_argument("--threads", type=int, help="of the batch; as many as it likes by default")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--env", choices=list(ENVS), action="append", help="one alone; may be given several times")
    parser.add_argument("--level", choices=["seeds", "steps", "full"], action="append")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    found: dict[str, dict[str, float]] = {}
    table = Table("environment", "level", "M steps/s", "without", "processor", "clock", "bytes a step", "bar")
    with tempfile.TemporaryDirectory() as folder:
        for name in given.env or ENVS:
            for level in given.level or ("seeds", "steps", "full"):
                path = Path(folder, f"{len(found)}.ludus")
                made = partial(ludus.make_vec, ENVS[name], given.lanes, executor=Kernel(threads=given.threads))
                one = measure(made, level, given.rounds, path)
                path.unlink()
                found[f"{name} {level}"] = one
                rates = [f"{one[key] / 1e6:.1f}" for key in ("steps_per_second", "bare_steps_per_second")]
                ratios = [f"{one[key]:.2f}×" for key in ("processor_ratio", "clock_ratio")]
                bar = f"{BARS[level]:.2f}×" if level in BARS else ""
                table.add_row(name, level, *rates, *ratios, f"{one['bytes_per_step']:.2f}", bar)
    Console().print(table)
    if given.json:
        given.json.write_text(json.dumps(found, indent=1), encoding="utf8")


if __name__ == "__main__":
    main()
