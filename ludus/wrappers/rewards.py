"""Rewards in another form."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ludus.core import Env
from ludus.core.env import ActT, ObsT
from ludus.errors import InvalidArgument, InvalidType, shorten
from ludus.spaces.array_space import Array
from ludus.wrappers.transform import RewardTransform

__all__ = ["ClipReward", "TransformReward"]


class TransformReward(RewardTransform[ObsT, ActT]):
    """Gives `func(reward)`; in a batch lane by lane, or all at once with `vectorized=True`.

    >>> import ludus
    >>> env = TransformReward(ludus.make("GridWorld-v0"), lambda reward: reward - 1)
    >>> _ = env.reset(seed=0)
    >>> env.step(0).reward
    -1.0
    """

    lane_fields = ()

    def __init__(self, env: Env[ObsT, ActT], func: Callable[[Any], Any], *, vectorized: bool = False) -> None:
        super().__init__(env)
        if not callable(func):
            raise InvalidType(f"TransformReward func: expected a function, got {shorten(func)}")
        self.func, self.vectorized = func, vectorized

    def reward(self, reward: Any) -> Any:
        """Call the function."""
        return self.func(reward)

    def rewards(self, rewards: Array) -> Array:
        """Call the function for every lane, or for all at once."""
        return self.func(rewards) if self.vectorized else np.array([self.func(one) for one in rewards], np.float64)


class ClipReward(RewardTransform[ObsT, ActT]):
    """Keeps rewards between `min_reward` and `max_reward`; either may be None.

    >>> import ludus
    >>> env = ClipReward(ludus.make("GridWorld-v0"), 0.5, 1.0)
    >>> _ = env.reset(seed=0)
    >>> env.step(0).reward
    0.5
    """

    lane_fields = ()

    def __init__(
        self, env: Env[ObsT, ActT], min_reward: npt.ArrayLike | None = None, max_reward: npt.ArrayLike | None = None
    ) -> None:
        super().__init__(env)
        if min_reward is None and max_reward is None:
            raise InvalidArgument("ClipReward: expected min_reward or max_reward, got neither")
        if (
            min_reward is not None
            and max_reward is not None
            and np.any(np.asarray(min_reward) > np.asarray(max_reward))
        ):
            raise InvalidArgument(f"ClipReward: expected min_reward <= max_reward, got {min_reward} and {max_reward}")
        self.min_reward, self.max_reward = min_reward, max_reward
        self._plain = isinstance(min_reward, int | float | None) and isinstance(max_reward, int | float | None)

    def rewards(self, rewards: Array) -> Array:
        """Clip those of a batch."""
        low, high = self.min_reward, self.max_reward  # np.clip takes twice as long
        found = rewards if low is None else np.maximum(rewards, low)
        return found if high is None else np.minimum(found, high)

    def reward(self, reward: Any) -> Any:
        """Clip."""
        low, high = self.min_reward, self.max_reward
        if not self._plain:
            return np.clip(reward, low, high)
        if low is not None and reward < low:
            return low
        return high if high is not None and reward > high else reward
