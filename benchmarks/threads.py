"""CartPole by threads: a compiled batch on one thread, on all cores, and a loop in C on one, interleaved in one run.

    python benchmarks/threads.py [--lanes N …] [--rounds N]

Ratios above 1 are quicker than the loop in C. The best round says what the machine can do, the median what it did:
they part where others use it, and the load printed beside them says how much.
"""

import argparse
import os
import statistics
import time
from collections.abc import Callable
from typing import Any

import ludus
from ludus.benchmarks.contestants.c_loop import Contestant
from ludus.vector import Kernel

RING = 8
WANTED = 1.5
"""How many times as quick as C on one core a batch of 4,096 lanes has to be, on a quiet machine of two cores."""


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


def measured(lanes: int, rounds: int) -> dict[str, list[float]]:
    """Nanoseconds for each lane's step, of each round, which all take in turn."""
    runs = {"C": c_stepper(lanes), "one thread": stepper(lanes, 1), "all cores": stepper(lanes, None)}
    found: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            start = time.perf_counter()
            run()
            found[name].append((time.perf_counter() - start) / (RING * lanes) * 1e9)
    return found


def main() -> None:
    """Print a line for each size of batch."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lanes", type=int, nargs="+", default=[1024, 4096, 16384])
    parser.add_argument("--rounds", type=int, default=200)
    given = parser.parse_args()
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; wanted at 4,096 lanes: {WANTED}× of C")
    for lanes in given.lanes:
        found = measured(lanes, given.rounds)
        best, middle = ({name: kind(one) for name, one in found.items()} for kind in (min, statistics.median))
        for name in ("one thread", "all cores"):
            ratios = f"best {best['C'] / best[name]:.2f}×, median {middle['C'] / middle[name]:.2f}×"
            print(f"{lanes:6} lanes, {name:10}: {ratios} of C ({best[name]:.1f} and {best['C']:.1f} ns a lane)")


if __name__ == "__main__":
    main()
