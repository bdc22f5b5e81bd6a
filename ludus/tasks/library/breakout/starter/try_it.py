"""Play the episodes of data/seeds.json with policy.py."""

import json

from breakout import Breakout
from policy import Policy

if __name__ == "__main__":
    with open("data/seeds.json") as file:
        seeds = json.load(file)
    bricks = 0.0
    for at, seed in enumerate(seeds):
        env, policy, done = Breakout(), Policy(at), False
        picture, _ = env.reset(seed=seed)
        while not done:
            picture, reward, done, _, _ = env.step(policy.act(picture.tolist()))
            bricks += float(reward)
    print(f"bricks {bricks / len(seeds):.2f}")  # noqa: T201
