"""CartPole by threads: a compiled batch on one thread, on all cores, and a loop in C on one, interleaved in one run.

    python benchmarks/threads.py [--lanes N …] [--seconds S] [--round S …] [--busy N]

Contestants take turns of four milliseconds and of fifty: a training loop steps one batch and nobody else; in short
turns threads have slept through the others' and are waked up at the beginning of each. Ratios above 1 are quicker than
the loop in C. The best round says what the machine can do, the median what it did: they part where others use it, and
the load printed beside them says how much. `--busy` starts processes that keep cores busy all the while: then the ratio
of all cores to one thread, by the time of all rounds together, is what counts. For 4,096 lanes in long turns a verdict
is printed: by the median round against C, or with `--busy` by all rounds against one thread.

Two halves of the loop in C, on a thread each that meets nobody between steps, say what the second core is worth here:
of two cores that are one core's two threads it is little, and no batch can be quicker than that.
"""

import argparse
import os
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import ludus
from ludus.benchmarks.contestants.c_loop import TimedBatch
from ludus.vector import Kernel

RING = 8
ROUND_SECONDS = (4e-3, 50e-3)
"""How long a turn takes, about."""
WANTED, LEAST = 1.5, 0.9
"""How many times as quick as C on one core a batch of 4,096 lanes has to be where two cores are free, and of one thread
where they are not."""
BAR_LANES, BAR_TURN = 4096, 50e-3
"""The size of batch that the bar is for, and the turns: of a training loop, which steps one batch and nobody else."""
QUIET = 0.5
"""Below this load other programs leave both cores free."""


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
    contestant = TimedBatch("CartPole-v1", lanes, RING)

    def run() -> None:
        for action in contestant.actions:
            contestant.step(action)

    return run


def repeated(run: Callable[[], None], times: int) -> None:
    """A turn."""
    for _ in range(times):
        run()


def apart(halves: list[Callable[[], None]], times: int) -> None:
    """A turn of each half on a thread of its own, begun together."""
    threads = [threading.Thread(target=repeated, args=(one, times)) for one in halves]
    for one in threads:
        one.start()
    for one in threads:
        one.join()


def measured(lanes: int, seconds: float, turn: float) -> dict[str, list[float]]:
    """Nanoseconds for each lane's step, of each round, in which all have one turn."""
    runs: dict[str, Callable[[int], None]] = {
        "C": partial(repeated, c_stepper(lanes)),
        "one thread": partial(repeated, stepper(lanes, 1)),
        "all cores": partial(repeated, stepper(lanes, None)),
        "C twice": partial(apart, [c_stepper(lanes // 2), c_stepper(lanes - lanes // 2)]),
    }
    found: dict[str, list[float]] = {name: [] for name in runs}
    times = max(1, round(turn / (RING * lanes * 30e-9)))
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for name, run in runs.items():
            start = time.perf_counter()
            run(times)
            found[name].append((time.perf_counter() - start) / (times * RING * lanes) * 1e9)
    return found


def show(what: str, found: dict[str, list[float]]) -> None:
    """A line for one thread, and one for all cores."""
    best, middle, all_rounds = (
        {name: kind(one) for name, one in found.items()} for kind in (min, statistics.median, sum)
    )
    for name in ("one thread", "all cores", "C twice"):
        ratios = f"best {best['C'] / best[name]:.2f}×, median {middle['C'] / middle[name]:.2f}×"
        print(f"{what}, {name:10}: {ratios} of C ({best[name]:.1f} and {best['C']:.1f} ns a lane)")
    print(f"{what}, all cores {all_rounds['one thread'] / all_rounds['all cores']:.2f}× of one thread, in all")


def verdict(found: dict[str, list[float]], busy: bool, load: float) -> str:
    """What the bar for batches of 4,096 lanes says of the rounds: which of its halves holds, and by how much."""
    if busy:
        share = sum(found["one thread"]) / sum(found["all cores"])
        return f"busy: {share:.2f}× of one thread, wanted {LEAST}×: {'met' if share >= LEAST else 'NOT MET'}"
    speed = statistics.median(found["C"]) / statistics.median(found["all cores"])
    said = f"median {speed:.2f}× of C on one core, wanted {WANTED}×: {'met' if speed >= WANTED else 'NOT MET'}"
    return (
        said if load < QUIET else f"{said} (load {load:.1f} at the start: not a quiet machine, so this decides nothing)"
    )


def main() -> None:
    """Print the lines of each size of batch."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lanes", type=int, nargs="+", default=[1024, 4096, 16384])
    parser.add_argument("--seconds", type=float, default=6.0, help="for each size and length of turns")
    parser.add_argument("--round", type=float, nargs="+", default=list(ROUND_SECONDS), help="seconds of a turn")
    parser.add_argument("--busy", type=int, default=0, help="how many processes keep cores busy")
    given = parser.parse_args()
    load = os.getloadavg()[0]
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(given.busy)]
    try:
        print(f"{os.cpu_count()} cores, load {load:.1f}, {given.busy} busy processes of ours")
        print(f"wanted at 4,096 lanes: {WANTED}× of C where cores are free, {LEAST}× of one thread where they are not")
        for lanes in given.lanes:
            for turn in given.round:
                found = measured(lanes, given.seconds, turn)
                show(f"{lanes:6} lanes by {turn * 1e3:2.0f} ms", found)
                if lanes == BAR_LANES and turn == BAR_TURN:
                    print(f"{lanes:6} lanes, verdict: {verdict(found, given.busy > 0, load)}")
    finally:
        for one in busy:
            one.kill()


if __name__ == "__main__":
    main()
