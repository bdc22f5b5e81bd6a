"""Worker processes, beside Gymnasium's AsyncVectorEnv, interleaved in one run: ratios above 1 mean Ludus is faster.

    python benchmarks/process.py [--json FILE] [--rounds N] [--lanes N] [--workers N]

The same class of environment, from one source, on both base classes: a cart-pole in plain Python, and pictures of
84 × 84 × 4 bytes. And each library's own CartPole-v1. Then what an idle batch costs.
"""

import argparse
import json
import math
import time
import warnings
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from rich.console import Console
from rich.table import Table

import ludus
import ludus.spaces
from ludus.vector import ProcessVectorEnv, SerialVectorEnv

OURS, THEIRS = (ludus.Env, ludus.spaces), (gymnasium.Env, gymnasium.spaces)
SECONDS = 0.15
"""How long one round of one batch takes."""
IDLE = 2.0


def cart_pole(library: Any) -> Any:
    """A cart-pole in plain Python: 4 numbers seen, 2 choices, no infos."""
    base, spaces = library

    class Pole(base):
        def __init__(self) -> None:
            self.observation_space = spaces.Box(-np.inf, np.inf, (4,), np.float32)
            self.action_space = spaces.Discrete(2)

        def reset(self, *, seed: Any = None, options: Any = None) -> Any:
            super().reset(seed=seed)
            self.state = self.np_random.uniform(-0.05, 0.05, 4).tolist()
            return np.array(self.state, np.float32), {}

        def step(self, action: Any) -> Any:
            x, v, angle, spin = self.state
            force, cos, sin = (10.0 if action else -10.0), math.cos(angle), math.sin(angle)
            pull = (force + 0.05 * spin * spin * sin) / 1.1
            turn = (9.8 * sin - cos * pull) / (0.5 * (4 / 3 - 0.1 * cos * cos / 1.1))
            push = pull - 0.05 * turn * cos / 1.1
            self.state = [x + 0.02 * v, v + 0.02 * push, angle + 0.02 * spin, spin + 0.02 * turn]
            ended = abs(self.state[0]) > 2.4 or abs(self.state[2]) > 0.2095
            return np.array(self.state, np.float32), 1.0, ended, False, {}

    return Pole


def pictures(library: Any) -> Any:
    """84 × 84 × 4 bytes at every step, new each time."""
    base, spaces = library

    class Pictures(base):
        def __init__(self) -> None:
            self.observation_space = spaces.Box(0, 255, (84, 84, 4), np.uint8)
            self.action_space = spaces.Discrete(4)

        def reset(self, *, seed: Any = None, options: Any = None) -> Any:
            super().reset(seed=seed)
            self.count = 0
            return np.zeros((84, 84, 4), np.uint8), {}

        def step(self, action: Any) -> Any:
            self.count += 1
            return np.full((84, 84, 4), self.count % 256, np.uint8), 1.0, False, self.count % 200 == 0, {}

    return Pictures


CASES = [
    ("cart-pole in Python", cart_pole(OURS), cart_pole(THEIRS), 6.0),
    ("each library's CartPole-v1", lambda: ludus.make("CartPole-v1"), lambda: gymnasium.make("CartPole-v1"), 6.0),
    ("84 × 84 × 4 bytes", pictures(OURS), pictures(THEIRS), 3.0),
]
"""What is run, and how many times as fast Ludus has to be."""


def pace(envs: Any, actions: list[Any]) -> float:
    """Microseconds for one step of the batch."""
    step, count, start = envs.step, 0, time.perf_counter()
    while time.perf_counter() - start < SECONDS:
        step(actions[count % len(actions)])
        count += 1
    return (time.perf_counter() - start) / count * 1e6


def compare(name: str, makers: tuple[Any, Any], lanes: int, workers: int, rounds: int) -> dict[str, Any]:
    """Best and middle figures of our processes, Gymnasium's, and our serial executor, in rounds that take turns."""
    ours, theirs = makers
    batches = {
        "process": ProcessVectorEnv([ours] * lanes, num_workers=workers),
        "gymnasium": gymnasium.vector.AsyncVectorEnv([theirs] * lanes),
        "serial": SerialVectorEnv([ours] * lanes),
    }
    found: dict[str, list[float]] = {one: [] for one in batches}
    for number in range(rounds):
        for one, envs in batches.items():
            envs.reset(seed=number)
            envs.action_space.seed(number)
            found[one].append(pace(envs, [envs.action_space.sample() for _ in range(64)]))
    for envs in batches.values():
        envs.close()
    best = {one: min(times) for one, times in found.items()}
    middle = {one: sorted(times)[len(times) // 2] for one, times in found.items()}
    return {"case": name, "lanes": lanes, "workers": workers, "best": best, "middle": middle}


def show(rows: list[dict[str, Any]], rounds: int) -> None:
    """The table, and which cases miss their aim."""
    table = Table(title=f"µs a step of the batch, {rounds} rounds; ratio = Gymnasium {gymnasium.__version__} / process")
    for column in ("environment", "process", "gymnasium async", "ratio", "wanted", "ratio of medians", "serial"):
        table.add_column(column, justify="left" if column == "environment" else "right")
    missed: list[str] = []
    for row, (*_, wanted) in zip(rows, CASES, strict=True):
        best, middle = row["best"], row["middle"]
        ratio = best["gymnasium"] / best["process"]
        cells = [
            best["process"],
            best["gymnasium"],
            ratio,
            wanted,
            middle["gymnasium"] / middle["process"],
            best["serial"],
        ]
        table.add_row(row["case"], *(f"{cell:.1f}" for cell in cells))
        missed += [row["case"]] if ratio < wanted else []
    Console().print(table)
    print("missed:", ", ".join(missed) or "none")


def idle(lanes: int, workers: int) -> float:
    """Which part of a core the workers of a batch use while nothing is asked of them."""
    with ProcessVectorEnv([cart_pole(OURS)] * lanes, num_workers=workers) as envs:
        envs.reset(seed=0)
        envs.step(np.zeros(lanes, np.int64))
        pids = [link.process.pid for link in envs._crew.links]
        before = sum(map(busy_time, pids))
        time.sleep(IDLE)
        return (sum(map(busy_time, pids)) - before) / IDLE


def busy_time(pid: int) -> float:
    """Seconds that a process has run."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="write the figures here as well")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--lanes", type=int, default=8)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    warnings.filterwarnings("ignore", module="gymnasium")
    rows = [compare(name, (ours, theirs), given.lanes, given.workers, given.rounds) for name, ours, theirs, _ in CASES]
    show(rows, given.rounds)
    part = idle(given.lanes, given.workers)
    print(f"an idle batch uses {part:.2%} of a core")
    if given.json:
        given.json.write_text(json.dumps({"rows": rows, "idle": part}, indent=1))


if __name__ == "__main__":
    main()
