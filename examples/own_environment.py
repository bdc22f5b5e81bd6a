"""An environment of your own: spaces, reset, step. Seeds, errors and the usual loop come with it."""

import numpy as np

import ludus
from ludus.spaces import Box, Discrete


class Thermostat(ludus.Env):
    """Keep a room at 20 degrees while the weather changes."""

    def __init__(self, limit: float = 3.0) -> None:
        self.limit = limit
        self.observation_space = Box(-50.0, 90.0, (1,), np.float64)
        self.action_space = Discrete(3, start=-1)  # cool, wait, heat

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)  # the one line that makes seeds work
        self.degrees = 20.0 + self.np_random.normal()
        return np.array([self.degrees]), {}

    def step(self, action):
        self.action_space.check(action, "action", ludus.errors.InvalidAction)
        self.degrees += float(action) + self.np_random.normal(scale=0.7)
        distance = abs(self.degrees - 20.0)
        end = ludus.Step.termination if distance > self.limit else ludus.Step.transition
        return end(np.array([self.degrees]), 1.0 - distance / self.limit)


env = ludus.make(Thermostat, max_episode_steps=50)
for name, strength in {"wait": 0, "steer": 1}.items():
    (degrees,), info = env.reset(seed=4)
    total, steps, over = 0.0, 0, False
    while not over:
        (degrees,), reward, terminated, truncated, info = env.step(strength * int(np.sign(20.0 - degrees)))
        total, steps, over = total + reward, steps + 1, terminated or truncated
    print(f"{name:5} {steps:2} steps, return {total:6.2f}, {'ended' if terminated else 'cut by the time limit'}")
