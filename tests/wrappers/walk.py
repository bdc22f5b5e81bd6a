"""A small random environment for wrapper tests: every quantity is drawn, so that any slip in a lane shows."""

import numpy as np

from ludus.core import Env, Step
from ludus.spaces import Box, Dict, Discrete, Tuple


class Walk(Env):
    metadata = {"render_modes": ["rgb_array"], "render_fps": 10}
    observation_space = Box(-10.0, 10.0, (3,), np.float32)

    def __init__(self, actions="discrete", kind="box", render_mode=None):
        self.kind, self.render_mode = kind, render_mode
        self.action_space = Discrete(3) if actions == "discrete" else Box(-1.0, 1.0, (2,), np.float32)
        spaces = {
            "box": Box(-10.0, 10.0, (3,), np.float32),
            "dict": Dict(a=Box(-10.0, 10.0, (3,), np.float32), b=Discrete(5)),
            "tuple": Tuple((Box(-10.0, 10.0, (3,), np.float32), Discrete(5))),
            "image": Box(0, 255, (6, 8, 3), np.uint8),
            "discrete": Discrete(5),
        }
        self.observation_space = spaces[kind]

    def _observe(self):
        box = self.np_random.uniform(-9, 9, 3).astype(np.float32)
        number = int(self.np_random.integers(5))
        image = np.full((6, 8, 3), number * 50, np.uint8) + np.arange(3, dtype=np.uint8)
        shown = {
            "box": box,
            "dict": {"a": box, "b": number},
            "tuple": (box, number),
            "image": image,
            "discrete": number,
        }
        self.number = number
        return shown[self.kind]

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.age = 0
        return self._observe(), {"age": 0}

    def step(self, action):
        self.age += 1
        reward = float(self.np_random.normal() + np.sum(action))
        ends = self.np_random.random() < 0.15
        cut = not ends and self.age >= 9
        return Step(self._observe(), reward, bool(ends), bool(cut), {"age": self.age, "double": self.age * 2.0})

    def render(self):
        return np.full((4, 6, 3), self.number * 50, np.uint8)
