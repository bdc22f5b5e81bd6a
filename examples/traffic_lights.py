"""Four lights that look at their queues, against lights at random: `python examples/traffic_lights.py`."""

import numpy as np

import ludus
from ludus.envs.open.sumo.policies import POLICIES

for name in ("oracle", "random"):
    with ludus.make("open/SumoRL-v0", net_file="grid", num_seconds=300, reward_fn="queue") as env:
        observation, info = env.reset(seed=1)
        rng, total, step = np.random.default_rng(1), 0.0, None
        while step is None or not step.done:
            step = env.step(POLICIES[name](env.unwrapped, observation, rng))
            observation, total = step.observation, total + step.reward
        print(f"{name}: return {total:.0f}, {step.info['system']}")
