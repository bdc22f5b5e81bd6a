"""CartPole by threads: a compiled batch on one thread, on all cores, and a loop in C on one, interleaved in one run.

    python benchmarks/threads.py [--lanes N …] [--seconds S] [--busy N]

Ratios above 1 are quicker than the loop in C. The best round says what the machine can do, the median what it did: they
part where others use it, and the load printed beside them says how much. `--busy` starts processes that keep cores busy
all the while: then the ratio of all cores to one thread, by the time of all rounds together, is what counts.
"""

import argparse
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import ludus
from ludus.benchmarks.contestants.c_loop import Contestant
from ludus.vector import Kernel

RING = 8
ROUND_SECONDS = 4e-3
"""How long a round takes, about: a thread that has slept through the others' rounds is waked up at its beginning."""
WANTED, LEAST = 1.5, 0.9
"""How many times as quick as C on one core a batch of 4,096 lanes has to be where two cores are free, and of one thread
where they are not."""


def stepper(lanes: int, threads: int | None) -> Callable[[], None]:
    """What steps a compiled batch through all actions once."""
    envs: Any = ludus.make_vec("CartPole-v1", lanes, executor=Kernel(threads=threads))
    envs.reset(seed=0)
    actions = [envs.action_space.sample() for _ in range(RING)]

    def run() -> None:
        for action in actions:
            envs.step(action)

    return run


def c_stepper(lanes: int) -> Callable[[], None]:
    """The same for the loop in C."""
    contestant = Contestant("CartPole-v1", lanes, RING)

    def run() -> None:
        for action in contestant.actions:
            contestant.step(action)

    return run


def measured(lanes: int, seconds: float) -> dict[str, list[float]]:
    """Nanoseconds for each lane's step, of each round, which all take in turn."""
    runs = {"C": c_stepper(lanes), "one thread": stepper(lanes, 1), "all cores": stepper(lanes, None)}
    found: dict[str, list[float]] = {name: [] for name in runs}
    times = max(1, round(ROUND_SECONDS / (RING * lanes * 30e-9)))
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for name, run in runs.items():
            start = time.perf_counter()
            for _ in range(times):
                run()
            found[name].append((time.perf_counter() - start) / (times * RING * lanes) * 1e9)
    return found


def show(lanes: int, found: dict[str, list[float]]) -> None:
    """A line for one thread, and one for all cores."""
    best, middle, all_rounds = (
        {name: kind(one) for name, one in found.items()} for kind in (min, statistics.median, sum)
    )
    for name in ("one thread", "all cores"):
        ratios = f"best {best['C'] / best[name]:.2f}×, median {middle['C'] / middle[name]:.2f}×"
        print(f"{lanes:6} lanes, {name:10}: {ratios} of C ({best[name]:.1f} and {best['C']:.1f} ns a lane)")
    print(f"{lanes:6} lanes, all cores {all_rounds['one thread'] / all_rounds['all cores']:.2f}× of one thread, in all")


def main() -> None:
    """Print the lines of each size of batch."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lanes", type=int, nargs="+", default=[1024, 4096, 16384])
    parser.add_argument("--seconds", type=float, default=8.0, help="for each size")
    parser.add_argument("--busy", type=int, default=0, help="how many processes keep cores busy")
    given = parser.parse_args()
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(given.busy)]
    try:
        print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, {given.busy} busy processes of ours")
        print(f"wanted at 4,096 lanes: {WANTED}× of C where cores are free, {LEAST}× of one thread where they are not")
        for lanes in given.lanes:
            show(lanes, measured(lanes, given.seconds))
    finally:
        for one in busy:
            one.kill()


if __name__ == "__main__":
    main()
