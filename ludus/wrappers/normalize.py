"""Normalising: observations and rewards on one scale, by running statistics that can be saved, loaded and frozen."""

from math import sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from ludus.core import AutoresetMode, Env, Info, Step
from ludus.core.env import ActT, ObsT
from ludus.core.wrapper import WrapObsT
from ludus.errors import InvalidArgument, InvalidSpace
from ludus.spaces import Box
from ludus.spaces.array_space import Array
from ludus.wrappers.transform import Mask, Transform

__all__ = ["NormalizeObservation", "NormalizeReward", "RunningMeanStd"]


class RunningMeanStd:
    """Mean and variance of all rows seen, without keeping them.

    >>> seen = RunningMeanStd(shape=(1,))
    >>> seen.update(np.array([[1.0], [3.0]]))
    >>> seen.mean.round(3)
    array([2.])
    """

    def __init__(self, epsilon: float = 1e-4, shape: tuple[int, ...] = (), dtype: npt.DTypeLike = np.float64) -> None:
        self.mean: Any = np.zeros(shape, dtype=dtype) if shape else 0.0  # arrays of that shape, floats for ()
        self.var: Any = np.ones(shape, dtype=dtype) if shape else 1.0
        self.count: float = epsilon

    def update(self, x: Array) -> None:
        """Take in rows."""
        count = x.shape[0]
        # Sums as products with ones: a reduction over the first of two axes takes five times as long.
        away = (x - self.mean).reshape(count, -1)
        ones = np.ones(count)
        mean = (ones @ away / count).reshape(x.shape[1:])
        square = (ones @ (away * away) / count).reshape(x.shape[1:])
        self.update_from_moments(self.mean + mean, square - mean * mean, count)

    def update_one(self, x: float | Array) -> None:
        """Take in one row, or one number."""
        away, total = x - self.mean, self.count + 1.0
        self.mean = self.mean + away / total
        self.var = (self.var + away * away / total) * (self.count / total)
        self.count = total

    def update_from_moments(self, batch_mean: float | Array, batch_var: float | Array, batch_count: int) -> None:
        """Take in rows of which only these are known."""
        delta, total = batch_mean - self.mean, self.count + batch_count
        spread = self.var * self.count + batch_var * batch_count + delta * delta * (self.count * batch_count / total)
        self.mean, self.var, self.count = self.mean + delta * (batch_count / total), spread / total, total


class _Running(Transform[WrapObsT, ActT, ObsT, ActT]):
    """What both normalisers share: statistics that go on running unless frozen."""

    lane_fields = ()

    def __init__(self, env: Env[ObsT, ActT], epsilon: float) -> None:
        super().__init__(env)
        if not epsilon > 0:
            raise InvalidArgument(f"epsilon: expected a positive number, got {epsilon}")
        self.epsilon = epsilon
        self._update_running_mean = True

    @property
    def update_running_mean(self) -> bool:
        """Whether the statistics still change."""
        return self._update_running_mean

    @update_running_mean.setter
    def update_running_mean(self, setting: bool) -> None:
        self._update_running_mean = setting

    def freeze(self, frozen: bool = True) -> None:
        """Stop (or go on) changing the statistics: for evaluation."""
        self._update_running_mean = not frozen


class NormalizeObservation(_Running[Array, ActT, Array]):
    """Shows observations shifted and scaled to mean 0 and variance 1; the lanes of a batch share one set of statistics.

    Every observation counts once: first and last ones, and after a partial reset only those of the lanes reset.

    >>> import ludus
    >>> env = NormalizeObservation(ludus.make("GridWorld-v0"))
    >>> env.reset(seed=0)[0]
    array([0., 0.], dtype=float32)
    """

    lane_fields = ()

    calls = frozenset({"observation"})
    state_fields = ("obs_rms",)

    def __init__(self, env: Env[Array, ActT], epsilon: float = 1e-8) -> None:
        super().__init__(env, epsilon)
        shape = self.lane_observation_space.shape
        if shape is None:
            raise InvalidSpace(f"NormalizeObservation: expected a space of arrays, got {self.lane_observation_space!r}")
        self.show_observation_space(Box(-np.inf, np.inf, shape=shape, dtype=np.float32))
        self.obs_rms = RunningMeanStd(shape=shape)

    def on_reset(self, observation: Array, info: Info, begun: Mask | None) -> tuple[Array, Info]:
        """Normalise first observations."""
        self._learn(observation if begun is None else observation[begun])
        return self._shown(observation), info

    def after_step(self, step: Step[Array], begun: Mask | None) -> Step[Array]:
        """Normalise, last observations included."""
        observation, reward, terminated, truncated, info = step
        stepped = self.stepped
        self._learn(observation if stepped is None else observation[stepped])
        final = self.final_observations(info) if self._lead else []
        if final:
            self._learn(np.stack([last for _, last in final]))
            info = self._hooked_finals(info, observation, self.env.observation_space)
        return Step(self._shown(observation), reward, terminated, truncated, info)

    def _shown(self, observation: Array) -> Array:
        if not self._lead:
            return self.observation(observation)
        return self._hooked_observation(observation, self.env.observation_space)

    def _learn(self, rows: Array) -> None:
        if self._update_running_mean and (not self._lead or len(rows)):
            (self.obs_rms.update if self._lead else self.obs_rms.update_one)(rows)

    def observation(self, observation: Array) -> Array:
        """The observation on the scale of what was seen so far; nothing is learnt from it."""
        return self._scaled(observation)

    def observations(self, observations: Array) -> Array:
        """The same for a whole batch."""
        return self._scaled(observations)

    def _scaled(self, observation: Array) -> Array:
        mean, scale = self.obs_rms.mean, 1.0 / np.sqrt(self.obs_rms.var + self.epsilon)
        return ((observation - mean) * scale).astype(np.float32)


class NormalizeReward(_Running[ObsT, ActT, ObsT]):
    """Scales rewards so that the discounted return has variance 1; the lanes of a batch share one set of statistics.

    The return of an episode starts at 0 with it, whether the last one terminated or was cut.

    >>> import ludus
    >>> env = NormalizeReward(ludus.make("GridWorld-v0"), gamma=0.9)
    >>> _ = env.reset(seed=0)
    >>> float(env.step(1).reward)
    0.0
    """

    lane_fields = ("discounted_reward",)

    calls = frozenset({"reward"})
    state_fields = ("return_rms", "discounted_reward")

    def __init__(self, env: Env[ObsT, ActT], gamma: float = 0.99, epsilon: float = 1e-8) -> None:
        super().__init__(env, epsilon)
        if not 0 <= gamma <= 1:
            raise InvalidArgument(f"gamma: expected a number from 0 to 1, got {gamma}")
        self.gamma = gamma
        self.return_rms = RunningMeanStd(shape=())
        self.discounted_reward: float | Array = np.zeros(self._lead) if self._lead else 0.0

    def on_reset(self, observation: ObsT, info: Info, begun: Mask | None) -> tuple[ObsT, Info]:
        """Start the returns of lanes that begin."""
        self.discounted_reward = self.discounted_reward * (0.0 if begun is None else ~begun)
        return observation, info

    def after_step(self, step: Step[ObsT], begun: Mask | None) -> Step[ObsT]:
        """Add to the returns and scale the reward."""
        observation, reward, terminated, truncated, info = step
        total = self.discounted_reward * self.gamma + reward
        if self._lead:
            idle = self.idle(begun)
            if self._update_running_mean:
                self._learn(total if idle is None else total[~idle])
            self._go_on(total, begun, terminated | truncated)
            reward = self._hooked_reward(reward, idle)
            return Step(observation, reward, terminated, truncated, info)
        if self._update_running_mean:
            self.return_rms.update_one(total)
        self.discounted_reward = 0.0 if terminated or truncated else total
        return Step(observation, self.reward(reward), terminated, truncated, info)

    def reward(self, reward: Any) -> Any:
        """The reward on the scale of the returns so far; nothing is learnt from it."""
        return reward / sqrt(self.return_rms.var + self.epsilon)

    def rewards(self, rewards: Array) -> Array:
        """The same for a whole batch."""
        return rewards / sqrt(self.return_rms.var + self.epsilon)

    def _go_on(self, total: Array, begun: Mask | None, ended: Mask) -> None:
        """The returns so far: 0 for lanes that begin, and what they were for those left alone."""
        if begun is not None and self._mode is AutoresetMode.NEXT_STEP:
            total = np.where(begun, 0.0, total)
        stepped = self.stepped
        going = total * ~ended
        self.discounted_reward = going if stepped is None else np.where(stepped, going, self.discounted_reward)

    def _learn(self, rows: Array) -> None:
        """Learn from the lanes that made a step; a lane that was reset instead has no return yet."""
        if rows.size:
            away = rows - self.return_rms.mean
            mean = float(away.sum()) / rows.size
            square = float(away @ away) / rows.size
            self.return_rms.update_from_moments(self.return_rms.mean + mean, square - mean * mean, rows.size)
