"""Run policy.py in the mazes of data/seeds.json."""

import json

from maze import Maze
from policy import Policy

if __name__ == "__main__":
    with open("data/seeds.json") as file:
        seeds = json.load(file)
    goals = 0.0
    for at, seed in enumerate(seeds):
        env, policy, done = Maze(), Policy(at), False
        observation, _ = env.reset(seed=seed)
        while not done:
            observation, reward, done, _, _ = env.step(policy.act(observation.tolist()))
            goals += float(reward)
    print(f"goals {goals / len(seeds):.2f}")  # noqa: T201
