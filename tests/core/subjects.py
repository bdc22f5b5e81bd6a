"""Environments to test the core with: small, complete, each with one trait that matters."""

import numpy as np

from ludus.core import ActionWrapper, Env, ObservationWrapper, RewardWrapper, Step, Wrapper
from ludus.spaces import Box, Discrete


class Walk(Env):
    """A random walk on a line: noise from `np_random`, history in a list, ends beyond 3."""

    metadata = {"render_modes": ["ansi"], "render_fps": 4}

    def __init__(self, noise=1.0, render_mode=None):
        self.noise, self.render_mode = noise, render_mode
        self.observation_space = Box(-100.0, 100.0, (1,), np.float64)
        self.action_space = Discrete(3, start=-1)
        self.place, self.seen, self.closes = 0.0, [], 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place = float(self.np_random.normal())
        self.seen = [self.place]
        return np.array([self.place]), {"steps": 0}

    def step(self, action):
        self.place += float(action) + self.noise * float(self.np_random.normal())
        self.seen.append(self.place)
        info = {"steps": len(self.seen) - 1}
        ends = Step.termination if abs(self.place) > 3 else Step.transition
        return ends(np.array([self.place]), -abs(self.place), info)

    def render(self):
        return f"at {self.place:.3f}"

    def close(self):
        self.closes += 1


class Counted(Wrapper):
    """Counts steps and shifts rewards by noise from a stream of its own."""

    def __init__(self, env, scale=0.0, *, label="counted"):
        super().__init__(env)
        self.scale, self.label, self.steps = scale, label, 0

    def reset(self, *, seed=None, options=None):
        self.steps = 0
        return self.env.reset(seed=seed, options=options)

    def step(self, action):
        step = self.env.step(action)
        self.steps += 1
        return step._replace(reward=step.reward + self.scale * self.stream("counted").normal())


class Negated(ObservationWrapper):
    def observation(self, observation):
        return -observation


class Mirrored(ActionWrapper):
    def action(self, action):
        return -action


class Halved(RewardWrapper):
    def reward(self, reward):
        return reward / 2


class Keywords(Wrapper):
    def __init__(self, env, **options):
        super().__init__(env)
        self.options = options


def history(env, actions, seed=None):
    """All that a loop sees: the observations, rewards, flags and infos of one episode after another."""
    observation, info = env.reset(seed=seed)
    seen = [(observation.tolist(), info)]
    for action in actions:
        step = env.step(action)
        seen.append((step.observation.tolist(), step.reward, step.terminated, step.truncated, step.info))
        if step.terminated or step.truncated:
            observation, info = env.reset()
            seen.append((observation.tolist(), info))
    return seen
