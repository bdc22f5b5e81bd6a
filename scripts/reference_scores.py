"""Measure what a random agent and a good policy reach, and write `ludus/evaluate/references.toml`.

    .venv/bin/python scripts/reference_scores.py

Good policies are those that anybody can write down: a controller of one line, or value iteration over the table of an
environment that has one.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import ludus
from ludus.evaluate import evaluate, suites

EPISODES = 1000
TARGET = Path(__file__).resolve().parent.parent / "ludus" / "evaluate" / "references.toml"
Policy = Callable[[Any], Any]


def balance(seen: Any) -> int:
    """Push to where the pole falls."""
    return int(seen[2] + 0.2 * seen[3] > 0)


def climb(seen: Any) -> int:
    """Drive as one rolls."""
    return 2 if seen[1] >= 0 else 0


def climb_gently(seen: Any) -> Any:
    """Drive as one rolls, with all that the motor has."""
    return np.array([1.0 if seen[1] >= 0 else -1.0], np.float32)


def swing(seen: Any) -> int:
    """Turn the lower link as the upper one turns."""
    return 2 if seen[4] < 0 else 0


def hold(seen: Any) -> Any:
    """Pump energy, then hold: the motor against what is missing of the energy at the top."""
    cosine, sine, speed = (float(one) for one in seen)
    angle = np.arctan2(sine, cosine)
    if cosine > 0.85:
        torque = -12.0 * angle - 3.0 * speed
    else:
        missing = 10.0 - (speed * speed / 3.0 + 10.0 * cosine)
        torque = np.sign(speed if speed else 1.0) * 4.0 * missing
    return np.array([np.clip(torque, -2.0, 2.0)], np.float32)


def stand(seen: Any) -> int:
    """Basic strategy, without its finer points."""
    mine, dealer, ace = (int(one) for one in seen)
    if ace:
        return int(mine < 18 or (mine == 18 and dealer in (1, 9, 10)))
    return int(mine < 12 or (mine < 17 and dealer in (1, 7, 8, 9, 10)))


def iterated(id: str) -> Policy:
    """Value iteration over an environment's table."""
    table = ludus.make(id).unwrapped.P  # type: ignore[attr-defined]
    values = np.zeros(len(table))
    for _ in range(3000):
        values = np.array([max(_worth(values, table[state][one]) for one in table[state]) for state in table])
    best = [max(table[state], key=lambda one: _worth(values, table[state][one])) for state in table]
    return lambda seen: int(best[int(seen)])


def _worth(values: Any, moves: Any) -> float:
    return sum(share * (reward + 0.999 * values[after] * (not over)) for share, after, reward, over in moves)


POLICIES: dict[str, tuple[Policy, str]] = {
    "CartPole-v1": (balance, "push to where the pole falls"),
    "MountainCar-v0": (climb, "drive as one rolls"),
    "MountainCarContinuous-v0": (climb_gently, "drive as one rolls"),
    "Acrobot-v1": (swing, "turn the lower link against the upper one"),
    "Pendulum-v1": (hold, "pump energy, then hold"),
    "Blackjack-v1": (stand, "basic strategy"),
}


def measured(name: str, agent: Any) -> float:
    """The mean return of an agent."""
    return float(evaluate(name, agent, episodes=EPISODES, num_envs=64).totals().mean())


def main() -> None:
    """Measure all ids of all suites."""
    lines = ["# Written by scripts/reference_scores.py: means over 1,000 episodes of the evaluation with seed 0.", ""]
    for one in dict.fromkeys(name for suite in suites().values() for name in suite.ids):
        policy, name = POLICIES[one] if one in POLICIES else (iterated(one), "value iteration")
        random, good = measured(one, "random"), measured(one, policy)
        lines += [f'["{one}"]', f"random = {random:.6g}", f"reference = {good:.6g}", f'policy = "{name}"', ""]
        print(one, random, good)
    TARGET.write_text("\n".join(lines))


if __name__ == "__main__":
    main()
