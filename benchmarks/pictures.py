"""What a picture costs: frames of three environments by our own canvas, and the same by pygame in Gymnasium, in turns.

    python benchmarks/pictures.py [--seconds S]

Both render in memory (`rgb_array`), the same state, with nothing between the frames; processor time, the best of many
rounds and their median. Ratios above 1 are quicker than Gymnasium's.
"""

import argparse
import statistics
import time
import warnings
from typing import Any

import gymnasium

import ludus

NAMES = {"CartPole-v1": 0.02, "FrozenLake-v1": 0.05, "Acrobot-v1": 0.05}
"""Environments that both libraries draw, and how many seconds of frames make a round."""


def seconds_a_frame(env: Any, seconds: float) -> float:
    """One round: how long a frame takes."""
    frames, start = 0, time.process_time()
    while (taken := time.process_time() - start) < seconds or not frames:
        env.render()
        frames += 1
    return taken / frames


def rounds_of(name: str, seconds: float) -> tuple[list[float], list[float]]:
    """Our rounds and theirs, in turns."""
    ours: Any = ludus.make(name, render_mode="rgb_array")
    theirs: Any = gymnasium.make(name, render_mode="rgb_array")
    found: tuple[list[float], list[float]] = ([], [])
    for env in (ours, theirs):
        env.reset(seed=0)
        env.render()
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        for env, times in zip((ours, theirs), found, strict=True):
            times.append(seconds_a_frame(env, NAMES[name]))
    ours.close()
    theirs.close()
    return found


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=5.0, help="for each environment")
    seconds = parser.parse_args().seconds
    warnings.simplefilter("ignore")
    print(f"{'environment':<16} {'ours (ms)':>10} {'pygame (ms)':>12} {'best':>7} {'median':>7}")
    for name in NAMES:
        ours, theirs = rounds_of(name, seconds)
        middle = statistics.median(ours), statistics.median(theirs)
        best, typical = min(theirs) / min(ours), middle[1] / middle[0]
        print(f"{name:<16} {1e3 * middle[0]:>10.2f} {1e3 * middle[1]:>12.2f} {best:>6.2f}x {typical:>6.2f}x")


if __name__ == "__main__":
    main()
