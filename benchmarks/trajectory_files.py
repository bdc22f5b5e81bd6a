"""How quickly a large file is opened: its table, any of its episodes, its events; and how much memory that takes.

    python benchmarks/trajectory_files.py [--gigabytes 1] [--keep FILE]

A batch of an environment with observations of 128 random floats is recorded at level "full", which nothing compresses,
until the file is as large; then each time is taken in a process of its own, with the file in the page cache.
"""

import argparse
import json
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from ludus.core import Env, Step
from ludus.spaces import Box, Discrete
from ludus.trajectory import Recorder, Run
from ludus.vector import SerialVectorEnv

LANES, SIZE, EPISODES = 16, 128, 50
BARS = {"table": 1.0, "episode": 0.1}


class Noise(Env[Any, Any]):
    """Random observations, which no compression makes smaller; episodes of some hundred steps."""

    observation_space, action_space = Box(0, 1, (SIZE,), np.float32), Discrete(4)

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        """Begin."""
        super().reset(seed=seed)
        return self.np_random.random(SIZE, np.float32), {}

    def step(self, action: Any) -> Any:
        """Go on."""
        drawn = self.np_random.random(SIZE, np.float32)
        return Step(drawn, float(action), bool(drawn[0] < 0.005), False, {})


def write(path: Path, size: int) -> None:
    """Record until the file is so large."""
    envs: Any = SerialVectorEnv([Noise] * LANES)
    with Recorder(envs, path, "full", info=[]) as recorder:
        recorder.reset(seed=0)
        actions = np.arange(LANES) % 4
        while path.stat().st_size < size:
            for _ in range(2000):
                recorder.step(actions)


def read(path: Path) -> dict[str, float]:
    """Times in seconds, of this process."""
    before, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.perf_counter()
    run = Run.open(path)
    count = len(run)
    table = time.perf_counter() - began
    order = random.Random(0).sample(range(count), EPISODES)
    times: list[float] = []
    for number in order:
        began = time.perf_counter()
        episode = run[number]
        _ = episode.observations, episode.actions, episode.rewards
        times.append(time.perf_counter() - began)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    return {
        "bytes": path.stat().st_size,
        "episodes": count,
        "table": table,
        "episode": statistics.median(times),
        "slowest_episode": max(times),
        "megabytes": memory / 1024,
    }


def main() -> None:
    """Write, read and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--gigabytes", type=float, default=1.0)
    parser.add_argument("--keep", type=Path, help="where the file is, or is to stay")
    parser.add_argument("--read", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.read:
        print(json.dumps(read(given.read)))
        return
    with tempfile.TemporaryDirectory() as folder:
        path = given.keep or Path(folder, "large.ludus")
        if not path.exists():
            write(path, int(given.gigabytes * 1e9))
        said = subprocess.run([sys.executable, __file__, "--read", path], capture_output=True, check=True, text=True)
    found = json.loads(said.stdout)
    for name, value in found.items():
        bar = f"   (at most {BARS[name]} s)" if name in BARS else ""
        print(f"{name:16} {value:,.3f}{bar}")


if __name__ == "__main__":
    main()
