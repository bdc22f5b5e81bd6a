"""Frame skipping: one action for several steps, and the brightest of the last two frames."""

from typing import Any

import numpy as np

from ludus.core import Env, Step
from ludus.errors import InvalidSpace
from ludus.wrappers.argument import positive
from ludus.wrappers.transform import LaneWise

__all__ = ["MaxAndSkipObservation"]


class MaxAndSkipObservation(LaneWise):
    """Takes each action `skip` times, adds up the rewards and shows the maximum of the last two observations.

    An episode that ends early shows what its own last two steps gave.

    >>> import ludus
    >>> env = MaxAndSkipObservation(ludus.make("GridWorld-v0"), skip=2)
    >>> _ = env.reset(seed=0)
    >>> env.step(1).observation.tolist()
    [2, 0]
    """

    def __init__(self, env: Env[Any, Any], skip: int = 4) -> None:
        self._skip = positive("skip", skip, 2)
        super().__init__(env)
        if env.observation_space.shape is None:
            raise InvalidSpace(f"MaxAndSkipObservation: expected a space of arrays, got {env.observation_space!r}")

    def step(self, action: Any) -> Step[Any]:
        """Step up to `skip` times."""
        total, seen = 0.0, []
        step: Any = None
        for _ in range(self._skip):
            step = self.env.step(action)
            total += float(step[1])
            seen = [*seen[-1:], step[0]]
            if step[2] or step[3]:
                break
        return Step(np.max(np.stack(seen), axis=0), total, step[2], step[3], step[4])
