"""Bricks that a submitted policy clears: the game is here, moves come from the submitted program."""

import json

import numpy as np
from breakout import Breakout

from ludus.tasks.inside.case import Case, Instance, Rejected

SECONDS = 60.0


def grade(case: Case) -> dict[str, float]:
    """Play every episode of the split."""
    seeds: list[int] = json.loads((case.hidden / "seeds.json").read_text())[case.split]
    with case.program("policy.py", seconds=SECONDS) as program:
        played = [episode(program.make("Policy", at), seed) for at, seed in enumerate(seeds)]
    return {
        "bricks": float(np.mean([bricks for bricks, _ in played])),
        "steps": float(np.mean([steps for _, steps in played])),
    }


def episode(policy: Instance, seed: int) -> tuple[float, int]:
    """The bricks and the steps of one episode."""
    env, total, steps, done = Breakout(), 0.0, 0, False
    picture, _ = env.reset(seed=seed)
    while not done:
        action = policy.call("act", picture.tolist())
        if isinstance(action, bool) or not isinstance(action, int) or not 0 <= action <= 2:
            raise Rejected("policy.py: expected act to return 0, 1 or 2, got something else")
        picture, reward, terminated, truncated, _ = env.step(action)
        total, steps, done = total + float(reward), steps + 1, terminated or truncated
    return total, steps
