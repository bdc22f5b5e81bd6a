"""What single steps of the open environments cost, on a quiet machine: `python benchmarks/open_parts.py`.

Git: a reset with the action that starts its sandboxes (bar: 300 ms), and commands after it. Coding: `print(2 + 2)` in
an interpreter that runs (bar: 5 ms). FinRL: steps a second of 1,024 markets in a compiled batch (bar: 10⁶). With
FIRST=1, as root, this process goes before all others, as if it had the machine for itself; what it starts does as well.
"""

import os
import time
from collections.abc import Callable
from statistics import median, quantiles
from typing import Any

import numpy as np
from browser import go_first

import ludus
from ludus.envs.open.coding import CodeAction
from ludus.envs.open.git import execute_git_command, list_files

LANES, ROUNDS, STEPS = 1024, 10, 200


def print_timing(label: str, work: Callable[[int], Any], count: int) -> None:
    """One line: how long a piece of work takes."""
    work(0)
    found: list[float] = []
    for number in range(count):
        begun = time.perf_counter()
        work(number)
        found.append((time.perf_counter() - begun) * 1e3)
    print(f"| {label} | {min(found):.2f} | {median(found):.2f} | {quantiles(found, n=20)[18]:.2f} |", flush=True)


def git() -> None:
    """Resets with their first action, and commands."""
    with ludus.make("open/Git-v0") as env:

        def begin(seed: int) -> None:
            env.reset(seed=seed)
            env.step(list_files())

        print_timing("Git: reset and first action", begin, 20)
        print_timing("Git: `git --version`", lambda _: env.step(execute_git_command("git --version")), 20)


def coding() -> None:
    """Cells of one interpreter."""
    with ludus.make("open/Coding-v0", max_episode_steps=10_000) as env:
        env.reset(seed=0)
        print_timing("Coding: `print(2 + 2)`", lambda _: env.step(CodeAction("print(2 + 2)")), 200)


def market() -> None:
    """Compiled markets."""
    envs = ludus.make_vec("open/FinRLMarket-v0", LANES)
    envs.reset(seed=0)
    actions = np.random.default_rng(0).uniform(-1, 1, (LANES, 5)).astype(np.float32)
    envs.step(actions)  # here its threads begin
    if "FIRST" in os.environ:
        go_first(os.getpid())
    found: list[float] = []
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        for _ in range(STEPS):
            envs.step(actions)
        found.append(LANES * STEPS / (time.perf_counter() - begun))
    print(f"\nFinRL, {LANES} lanes: {max(found):,.0f} steps/s at best of {ROUNDS}, {min(found):,.0f} at worst")


if __name__ == "__main__":
    if "FIRST" in os.environ:
        go_first(os.getpid())
    load = " ".join(f"{one:.1f}" for one in os.getloadavg())
    print(f"{os.cpu_count()} cores, load {load}\n\n| work | best ms | median ms | p95 ms |\n|---|---|---|---|")
    git()
    coding()
    market()
