"""Run policy.py on the starts of data/seeds.json."""

import json

import numpy as np
from policy import Policy

import ludus

if __name__ == "__main__":
    with open("data/seeds.json") as file:
        seeds = json.load(file)
    returns: list[float] = []
    for seed in seeds:
        policy, total, done = Policy(), 0.0, False
        with ludus.make("MountainCarContinuous-v0") as env:
            observation, _ = env.reset(seed=seed)
            while not done:
                force = policy.act([observation.tolist()])[0]
                observation, reward, terminated, truncated, _ = env.step(np.array([force], np.float32))
                total, done = total + float(reward), terminated or truncated
        returns.append(total)
    print(f"mean return {np.mean(returns):.2f}")  # noqa: T201
