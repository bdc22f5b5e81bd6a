"""Environments that do next to nothing: with them, an executor is timed and not the work of its lanes."""

import numpy as np

from ludus.core import Env, Info, Step
from ludus.core.options import Options
from ludus.seeding import Seed
from ludus.spaces import Box, Discrete, Space
from ludus.spaces.array_space import Array

__all__ = ["Cheap", "Pictures"]


class Cheap(Env[Array, int]):
    """Counts its steps, and ends after 200.

    >>> env = Cheap()
    >>> env.reset(seed=0)[0]
    array([0., 0., 0., 0.], dtype=float32)
    >>> env.step(1).observation
    array([1., 1., 1., 1.], dtype=float32)
    """

    observation_space: Space[Array] = Box(0.0, 1000.0, (4,), np.float32)
    action_space: Space[int] = Discrete(2)
    length = 200

    def reset(self, *, seed: Seed | None = None, options: Options | None = None) -> tuple[Array, Info]:
        super().reset(seed=seed)
        self.count = 0
        return np.full(4, 0.0, np.float32), {}

    def step(self, action: int) -> Step[Array]:
        self.count += 1
        return Step(np.full(4, self.count, np.float32), 1.0, self.count >= self.length, False, {})


class Pictures(Cheap):
    """The same with pictures of 84 × 84 × 4 bytes as observations.

    >>> Pictures().reset(seed=0)[0].shape
    (84, 84, 4)
    """

    observation_space: Space[Array] = Box(0, 255, (84, 84, 4), np.uint8)
    frames = np.random.default_rng(0).integers(0, 256, (8, 84, 84, 4), dtype=np.uint8)

    def reset(self, *, seed: Seed | None = None, options: Options | None = None) -> tuple[Array, Info]:
        super().reset(seed=seed)
        return self.frames[0], {}

    def step(self, action: int) -> Step[Array]:
        self.count += 1
        return Step(self.frames[self.count % 8], 1.0, self.count >= self.length, False, {})
