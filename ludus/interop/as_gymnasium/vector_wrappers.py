"""Wrappers whose function takes a whole batch, by Gymnasium's arguments; all others are Ludus's own."""

from collections.abc import Callable
from typing import Any

from ludus import wrappers
from ludus.core.env import AnyEnv
from ludus.spaces import Space

__all__ = ["TransformAction", "TransformObservation", "TransformReward"]


class TransformObservation(wrappers.TransformObservation[Any, Any, Any]):
    """Shows `func(observations)` of the whole batch.

    >>> from ludus import make_vec
    >>> TransformObservation(make_vec("GridWorld-v0", num_envs=2), lambda seen: seen + 10).reset(seed=0)[0].tolist()
    [[10, 10], [10, 10]]
    """

    def __init__(
        self,
        env: AnyEnv,
        func: Callable[[Any], Any],
        observation_space: Space[object] | None = None,
        single_observation_space: Space[object] | None = None,
    ) -> None:
        super().__init__(env, func, single_observation_space, vectorized=True)
        if observation_space is not None:
            self.observation_space = observation_space


class TransformAction(wrappers.TransformAction[Any, Any, Any]):
    """Takes `func(actions)` of the whole batch.

    >>> from ludus import make_vec
    >>> env = TransformAction(make_vec("GridWorld-v0", num_envs=2), lambda actions: 3 - actions)
    >>> _ = env.reset(seed=0)
    >>> env.step(env.action_space.sample() * 0).observation.tolist()
    [[0, 1], [0, 1]]
    """

    def __init__(
        self,
        env: AnyEnv,
        func: Callable[[Any], Any],
        action_space: Space[object] | None = None,
        single_action_space: Space[object] | None = None,
    ) -> None:
        super().__init__(env, func, single_action_space, vectorized=True)
        if action_space is not None:
            self.action_space = action_space


class TransformReward(wrappers.TransformReward[Any, Any]):
    """Gives `func(rewards)` of the whole batch.

    >>> from ludus import make_vec
    >>> env = TransformReward(make_vec("GridWorld-v0", num_envs=2), lambda rewards: rewards - 1)
    >>> _ = env.reset(seed=0)
    >>> env.step(env.action_space.sample() * 0).reward.tolist()
    [-1.0, -1.0]
    """

    def __init__(self, env: AnyEnv, func: Callable[[Any], Any]) -> None:
        super().__init__(env, func, vectorized=True)
