"""What recording costs a compiled batch of 4,096 CartPoles: the time of a step with a Recorder over that without.

    python benchmarks/trajectory.py [--lanes N] [--rounds N] [--json FILE]

Alternating rounds of 2,048 steps in one process, a pair at a time; actions are drawn before, episodes end all the time.
Both times are of all threads together, the one that compresses and writes too: processor time, which a busy machine
disturbs less, and that of the clock. Ratios are medians over the rounds.
"""

import argparse
import json
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import ludus
from ludus.trajectory import Recorder
from ludus.vector import Kernel

STEPS, DRAWN = 2048, 256
BARS = {"seeds": 1.15, "steps": 2.0}


def seconds(envs: Any, actions: list[Any]) -> tuple[float, float]:
    clock, processor = time.perf_counter(), time.process_time()
    for action in actions:
        envs.step(action)
    if isinstance(envs, Recorder):
        envs.flush()
    return time.perf_counter() - clock, time.process_time() - processor


def measure(level: Any, lanes: int, rounds: int, path: Path, threads: int | None) -> dict[str, float]:
    rng = np.random.default_rng(0)
    actions = [rng.integers(0, 2, lanes) for _ in range(DRAWN)] * (STEPS // DRAWN)
    executor = Kernel(threads=threads)
    bare: Any = ludus.make_vec("CartPole-v1", lanes, executor=executor)
    recorded: Any = Recorder(ludus.make_vec("CartPole-v1", lanes, executor=executor), path, level)
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
    parser = argparse.ArgumentParser()
    parser.add_argument("--lanes", type=int, default=4096)
    parser.add_argument("--threads", type=int, help="of the batch; as many as it likes by default")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    found: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for level in ("seeds", "steps", "full"):
            found[level] = measure(level, given.lanes, given.rounds, Path(folder, f"{level}.ludus"), given.threads)
    table = Table("level", "M steps/s", "without", "processor", "clock", "bytes a step", "bar")
    for name, one in found.items():
        rates = [f"{one[key] / 1e6:.1f}" for key in ("steps_per_second", "bare_steps_per_second")]
        ratios = [f"{one[key]:.2f}×" for key in ("processor_ratio", "clock_ratio")]
        table.add_row(
            name, *rates, *ratios, f"{one['bytes_per_step']:.2f}", f"{BARS[name]:.2f}×" if name in BARS else ""
        )
    Console().print(table)
    if given.json:
        given.json.write_text(json.dumps(found, indent=1), encoding="utf8")


if __name__ == "__main__":
    main()
