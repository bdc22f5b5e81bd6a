"""One environment made by `make`, beside Gymnasium's, interleaved in one run: ratios above 1 mean Ludus is faster.

    python benchmarks/single.py [--json FILE] [--rounds N]

Two figures each: `step` alone, with actions drawn beforehand, and the loop of a random agent, which samples each
action. Resets at the end of episodes are in both.
"""

import argparse
import json
import time
import warnings
from pathlib import Path
from typing import Any

import gymnasium
from rich.console import Console
from rich.table import Table

import ludus

CLASSIC = ["CartPole-v1", "MountainCar-v0", "MountainCarContinuous-v0", "Pendulum-v1", "Acrobot-v1"]
TOY_TEXT = [
    "Blackjack-v1",
    "FrozenLake-v1",
    "FrozenLake8x8-v1",
    "CliffWalking-v1",
    "CliffWalkingSlippery-v1",
    "Taxi-v4",
]
STEPS = 300
WANTED = 2.0
"""How many times as fast a classic environment has to step."""


def time_steps(env: Any, actions: list[Any]) -> float:
    """Microseconds a step, over one round of given actions."""
    step, reset = env.step, env.reset
    start = time.perf_counter()
    for action in actions:
        _, _, terminated, truncated, _ = step(action)
        if terminated or truncated:
            reset()
    return (time.perf_counter() - start) / len(actions) * 1e6


def time_agent(env: Any, count: int) -> float:
    """Microseconds for one turn of a random agent: a sample and a step."""
    step, reset, sample = env.step, env.reset, env.action_space.sample
    start = time.perf_counter()
    for _ in range(count):
        _, _, terminated, truncated, _ = step(sample())
        if terminated or truncated:
            reset()
    return (time.perf_counter() - start) / count * 1e6


def compare(name: str, rounds: int) -> dict[str, Any]:
    """Best figures of both, in rounds that take turns and begin with the same seed and actions."""
    envs = ludus.make(name), gymnasium.make(name)
    step, agent = [float("inf")] * 2, [float("inf")] * 2
    for number in range(rounds):
        for place, env in enumerate(envs):
            env.action_space.seed(number)
            actions = [env.action_space.sample() for _ in range(STEPS)]
            env.reset(seed=number)
            step[place] = min(step[place], time_steps(env, actions))
            env.reset(seed=number)
            agent[place] = min(agent[place], time_agent(env, STEPS))
    return {"env": name, "step": step, "agent": agent}


def show(rows: list[dict[str, Any]], rounds: int) -> None:
    """The table, and which classic environments miss their aim."""
    table = Table(title=f"µs a step, best of {rounds} rounds; ratio = Gymnasium {gymnasium.__version__} / Ludus")
    for column in ("environment", "step", "gymnasium", "ratio", "random agent", "gymnasium", "ratio"):
        table.add_column(column, justify="left" if column == "environment" else "right")
    for row in rows:
        cells = [f"{one:.2f}" for pair in (row["step"], row["agent"]) for one in (*pair, pair[1] / pair[0])]
        table.add_row(row["env"], *cells)
    Console().print(table)
    for key, what in (("step", "stepping"), ("agent", "a random agent")):
        slow = [row["env"] for row in rows if row["env"] in CLASSIC and row[key][1] < WANTED * row[key][0]]
        print(f"classic environments less than {WANTED:g} times as fast, {what}:", ", ".join(slow) or "none")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="write the figures here as well")
    parser.add_argument("--rounds", type=int, default=40)
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore", module="gymnasium")
    rows = [compare(name, arguments.rounds) for name in CLASSIC + TOY_TEXT]
    show(rows, arguments.rounds)
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
