"""A batch of environments, from Ludus to Gymnasium and back."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ludus.core import AutoresetMode, Info, Step
from ludus.core.env import AnyEnv
from ludus.core.options import Options
from ludus.core.vector_env import AnyVectorEnv
from ludus.interop.gymnasium_infos import with_known_outcomes
from ludus.interop.gymnasium_library import gymnasium
from ludus.interop.gymnasium_spaces import space_from_gymnasium, space_to_gymnasium
from ludus.interop.gymnasium_specs import spec_from_gymnasium, spec_to_gymnasium
from ludus.interop.gymnasium_values import Map, passage
from ludus.seeding import Seed, as_seed, lane_seeds

__all__ = ["BatchFromGymnasium", "BatchToGymnasium"]

GymnasiumBatch: Any = gymnasium.vector.VectorEnv


class BatchToGymnasium(GymnasiumBatch):
    """A Ludus batch that Gymnasium takes for a vector environment of its own; the original is `ludus_env`.

    >>> import ludus
    >>> envs = BatchToGymnasium(ludus.make_vec("GridWorld-v0", num_envs=2))
    >>> isinstance(envs, gymnasium.vector.VectorEnv), envs.metadata["autoreset_mode"]
    (True, <AutoresetMode.NEXT_STEP: 'NextStep'>)
    """

    def __init__(self, env: AnyEnv) -> None:
        batch: Any = env
        self.ludus_env = batch
        self.num_envs = batch.num_envs
        self.single_observation_space = space_to_gymnasium(batch.single_observation_space)
        self.single_action_space = space_to_gymnasium(batch.single_action_space)
        self.observation_space = space_to_gymnasium(batch.observation_space)
        self.action_space = space_to_gymnasium(batch.action_space)
        self._observations = passage(batch.observation_space, self.observation_space)
        self._lane_observations = passage(batch.single_observation_space, self.single_observation_space)
        self._actions = passage(batch.action_space, self.action_space)
        mode = gymnasium.vector.AutoresetMode(batch.autoreset_mode.value)
        self.metadata, self.render_mode = {**batch.metadata, "autoreset_mode": mode}, batch.render_mode
        self.spec = None if batch.spec is None else spec_to_gymnasium(batch.spec)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: Options | None = None
    ) -> tuple[Any, Info]:
        """Reset every lane, or those of `options["reset_mask"]`."""
        observation, info = self.ludus_env.reset(seed=seed, options=options)
        return self._observations.leave(observation), info

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, Info]:
        """Advance every lane."""
        observation, reward, terminated, truncated, info = self.ludus_env.step(self._actions.enter(actions))
        info = _with_last(info, self._lane_observations.out)
        return self._observations.leave(observation), reward, terminated, truncated, info

    def render(self) -> Any:
        """The picture of each lane."""
        return self.ludus_env.render()

    def close_extras(self, **kwargs: Any) -> None:
        """Close every lane."""
        self.ludus_env.close(**kwargs)

    @property
    def np_random(self) -> Any:
        """The stream of each lane."""
        return self.ludus_env.np_random

    @np_random.setter
    def np_random(self, value: Any) -> None:
        self.ludus_env.np_random = value

    @property
    def np_random_seed(self) -> Any:
        """The seed of each lane."""
        return self.ludus_env.np_random_seed

    def __getattr__(self, name: str) -> Any:
        """What the adapter has not, the batch may have: `call`, `get_attr`, `set_attr`, `envs`."""
        if name.startswith("__") or "ludus_env" not in self.__dict__:
            raise AttributeError(f"BatchToGymnasium has no attribute {name!r}")
        return self.ludus_env.get_wrapper_attr(name)

    def __repr__(self) -> str:
        return f"BatchToGymnasium({self.ludus_env!r})"


class BatchFromGymnasium(AnyVectorEnv):
    """A Gymnasium vector environment that is a Ludus batch; the original is `gymnasium_env`.

    >>> envs = BatchFromGymnasium(gymnasium.make_vec("CartPole-v1", num_envs=2, vectorization_mode="sync"))
    >>> envs.batch_shape, envs.autoreset_mode
    ((2,), <AutoresetMode.NEXT_STEP: 'NextStep'>)
    """

    def __init__(self, env: Any) -> None:
        self.gymnasium_env = env
        self.num_envs = env.num_envs
        self.single_observation_space = space_from_gymnasium(env.single_observation_space)
        self.single_action_space = space_from_gymnasium(env.single_action_space)
        self.observation_space = space_from_gymnasium(env.observation_space)
        self.action_space = space_from_gymnasium(env.action_space)
        self._observations = passage(self.observation_space, env.observation_space)
        self._lane_observations = passage(self.single_observation_space, env.single_observation_space)
        self._actions = passage(self.action_space, env.action_space)
        # A batch that does not say when it resets is one from before there was a choice.
        mode = AutoresetMode.of(getattr(env.metadata.get("autoreset_mode"), "value", "NextStep"))
        self.metadata, self.render_mode = {**env.metadata, "autoreset_mode": mode}, env.render_mode
        self.spec = None if env.spec is None else spec_from_gymnasium(env.spec)

    def reset(
        self, *, seed: Seed | Sequence[Seed | None] | None = None, options: Options | None = None
    ) -> tuple[Any, Info]:
        """Reset every lane, or those of `options["reset_mask"]`; lane `i` is seeded with `seed + i`."""
        self.reset_mask(options)
        if seed is not None:
            self._streams = None
        # Gymnasium takes the mask out of the dictionary it is given: it gets one of its own.
        given = None if options is None else dict(options)
        observation, info = self.gymnasium_env.reset(seed=_seeds(seed, self.num_envs), options=given)
        return self._observations.enter(observation), info

    def step(self, action: Any) -> Step[Any]:
        """Advance every lane."""
        observation, reward, terminated, truncated, info = self.gymnasium_env.step(self._actions.leave(action))
        info = with_known_outcomes(_with_last(info, self._lane_observations.back), self.num_envs)
        return Step(self._observations.enter(observation), reward, terminated, truncated, info)

    def render(self) -> Any:
        """The picture of each lane."""
        return self.gymnasium_env.render()

    def close_extras(self, **kwargs: Any) -> None:
        """Close every lane."""
        self.gymnasium_env.close(**kwargs)

    @property
    def np_random(self) -> Any:
        """The stream of each lane, or the one they share."""
        return self.gymnasium_env.np_random

    @np_random.setter
    def np_random(self, value: Any) -> None:
        self.gymnasium_env.np_random = value

    @property
    def np_random_seed(self) -> Any:
        """The seed of each lane, or of the stream they share."""
        return self.gymnasium_env.np_random_seed

    def __getattr__(self, name: str) -> Any:
        """What the adapter has not, the batch may have: `call`, `get_attr`, `set_attr`, `envs`."""
        if name.startswith("__") or "gymnasium_env" not in self.__dict__:
            raise AttributeError(f"BatchFromGymnasium has no attribute {name!r}")
        return getattr(self.gymnasium_env.unwrapped, name)


def _seeds(seed: Any, count: int) -> Any:
    """One integer as it is: a batch written as such knows no lists."""
    return None if seed is None else lane_seeds(seed, count) if np.ndim(seed) else as_seed(seed)


def _with_last(info: Info, change: Map | None) -> Info:
    """`info` with the last observations of lanes that ended changed as the others are."""
    if change is None or "final_obs" not in info:
        return info
    column = info["final_obs"].copy()
    for lane in np.flatnonzero(info["_final_obs"]):
        column[lane] = change(column[lane])
    return {**info, "final_obs": column}
