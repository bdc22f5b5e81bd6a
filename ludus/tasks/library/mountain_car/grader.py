"""Returns of a submitted policy: the cars drive here, forces come from the submitted program."""

import json
import math

import numpy as np

import ludus
from ludus.spaces.kinds import is_list
from ludus.tasks.inside.case import Case, Rejected

SECONDS, MOST = 60.0, 999


def grade(case: Case) -> dict[str, float]:
    """Drive all episodes of the split side by side."""
    seeds: list[int] = json.loads((case.hidden / "seeds.json").read_text())[case.split]
    envs = [ludus.make("MountainCarContinuous-v0") for _ in seeds]
    seen = [env.reset(seed=seed)[0] for env, seed in zip(envs, seeds, strict=True)]
    returns, driving, arrived = np.zeros(len(envs)), list(range(len(envs))), 0
    with case.program("policy.py", seconds=SECONDS) as program:
        policy = program.make("Policy")
        for _ in range(MOST):
            forces = checked(policy.call("act", [seen[at].tolist() for at in driving]), len(driving))
            going: list[int] = []
            for at, force in zip(driving, forces, strict=True):
                seen[at], reward, terminated, truncated, _ = envs[at].step(np.array([force], np.float32))
                returns[at] += float(reward)
                arrived += terminated
                going += [] if terminated or truncated else [at]
            driving = going
            if not driving:
                break
    return {"mean_return": float(returns.mean()), "arrived": arrived / len(envs)}


def checked(forces: object, count: int) -> list[float]:
    """The forces; Rejected where they are none."""
    if not is_list(forces) or len(forces) != count:
        raise Rejected(f"policy.py: expected act to return {count} forces, got something else")
    numbers = [one for one in forces if isinstance(one, int | float) and not isinstance(one, bool)]
    if len(numbers) != count:
        raise Rejected("policy.py: expected forces that are numbers, got something else")
    if any(not -1.0 <= one <= 1.0 or math.isnan(one) for one in numbers):
        raise Rejected("policy.py: expected forces from -1 to 1, got one beyond")
    return [float(one) for one in numbers]
