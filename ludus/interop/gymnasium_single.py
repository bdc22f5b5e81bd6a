"""One environment, from Ludus to Gymnasium and back: seeds, options, attributes and histories stay the same."""

from typing import Any

import numpy as np

from ludus.core import Info, Step
from ludus.core.env import AnyEnv
from ludus.core.options import Options
from ludus.core.outcome import OUTCOME
from ludus.interop.gymnasium_infos import with_known_outcome
from ludus.interop.gymnasium_library import gymnasium
from ludus.interop.gymnasium_spaces import space_from_gymnasium, space_to_gymnasium
from ludus.interop.gymnasium_specs import spec_from_gymnasium, spec_to_gymnasium
from ludus.interop.gymnasium_values import passage
from ludus.seeding import Seed, as_seed

__all__ = ["FromGymnasium", "ToGymnasium"]

GymnasiumEnv: Any = gymnasium.Env


class ToGymnasium(GymnasiumEnv):
    """A Ludus environment that Gymnasium takes for one of its own; the original is `ludus_env`.

    >>> from ludus.envs.teaching.grid_world import GridWorld
    >>> env = ToGymnasium(GridWorld())
    >>> isinstance(env, gymnasium.Env), env.action_space
    (True, Discrete(4))
    """

    def __init__(self, env: AnyEnv) -> None:
        self.ludus_env = env
        self.observation_space = space_to_gymnasium(env.observation_space)
        self.action_space = space_to_gymnasium(env.action_space)
        self._observations = passage(env.observation_space, self.observation_space)
        self._actions = passage(env.action_space, self.action_space)
        self.metadata, self.render_mode = dict(env.metadata), env.render_mode
        self.spec = None if env.spec is None else spec_to_gymnasium(env.spec)

    def reset(self, *, seed: int | None = None, options: Options | None = None) -> tuple[Any, Info]:
        """Start an episode."""
        observation, info = self.ludus_env.reset(seed=seed, options=options)
        return self._observations.leave(observation), info

    def step(self, action: Any) -> tuple[Any, Any, Any, Any, Info]:
        """Advance the episode by one action."""
        observation, reward, terminated, truncated, info = self.ludus_env.step(self._actions.enter(action))
        return self._observations.leave(observation), reward, terminated, truncated, info

    def render(self) -> Any:
        """The picture."""
        return self.ludus_env.render()

    def close(self) -> None:
        """Close the environment."""
        self.ludus_env.close()

    # --- randomness: Gymnasium's checks read the names with the underscore ---

    @property
    def np_random(self) -> np.random.Generator:
        """The stream of the environment."""
        return self.ludus_env.np_random

    @np_random.setter
    def np_random(self, value: np.random.Generator) -> None:
        self.ludus_env.np_random = value

    _np_random = np_random

    @property
    def np_random_seed(self) -> int:
        """The seed of the stream."""
        return self.ludus_env.np_random_seed

    _np_random_seed = np_random_seed

    # --- attributes ---

    def __getattr__(self, name: str) -> Any:
        """What the adapter has not, the environment may have: `env.unwrapped.x` reads the same on both sides."""
        if name.startswith("__") or "ludus_env" not in self.__dict__:
            raise AttributeError(f"ToGymnasium has no attribute {name!r}")
        return self.ludus_env.get_wrapper_attr(name)

    def set_wrapper_attr(self, name: str, value: object, *, force: bool = True) -> bool:
        """Set the attribute where it is, else on the environment when `force`."""
        if name in self.__dict__ or hasattr(type(self), name):
            setattr(self, name, value)
            return True
        return self.ludus_env.set_wrapper_attr(name, value, force=force)

    def __str__(self) -> str:
        return f"<ToGymnasium{self.ludus_env}>"

    __repr__ = __str__


class FromGymnasium(AnyEnv):
    """A Gymnasium environment that is a Ludus one; the original is `gymnasium_env`.

    >>> env = FromGymnasium(gymnasium.make("CartPole-v1"))
    >>> env.reset(seed=42)[0]
    array([ 0.0273956 , -0.00611216,  0.03585979,  0.0197368 ], dtype=float32)
    """

    def __init__(self, env: Any) -> None:
        self.gymnasium_env = env
        self.observation_space = space_from_gymnasium(env.observation_space)
        self.action_space = space_from_gymnasium(env.action_space)
        self._observations = passage(self.observation_space, env.observation_space)
        self._actions = passage(self.action_space, env.action_space)
        self.metadata, self.render_mode = dict(env.metadata), env.render_mode
        self.spec = None if env.spec is None else spec_from_gymnasium(env.spec)

    def reset(self, *, seed: Seed | None = None, options: Options | None = None) -> tuple[Any, Info]:
        """Start an episode."""
        if seed is not None:
            seed, self._streams = as_seed(seed), None
        observation, info = self.gymnasium_env.reset(seed=seed, options=options)
        return self._observations.enter(observation), info

    def step(self, action: Any) -> Step[Any]:
        """Advance the episode by one action."""
        observation, reward, terminated, truncated, info = self.gymnasium_env.step(self._actions.leave(action))
        if OUTCOME in info:
            info = with_known_outcome(info)
        return Step(self._observations.enter(observation), reward, terminated, truncated, info)

    def render(self) -> Any:
        """The picture."""
        return self.gymnasium_env.render()

    def close(self) -> None:
        """Close the environment."""
        self.gymnasium_env.close()

    @property
    def np_random(self) -> np.random.Generator:
        """The stream of the environment."""
        return self.gymnasium_env.unwrapped.np_random

    @np_random.setter
    def np_random(self, value: np.random.Generator) -> None:
        self.gymnasium_env.unwrapped.np_random, self._streams = value, None

    @property
    def np_random_seed(self) -> int:
        """The seed of the stream."""
        return self.gymnasium_env.unwrapped.np_random_seed

    # --- attributes ---

    def __getattr__(self, name: str) -> Any:
        """What the adapter has not, the environment may have: `env.unwrapped.x` reads the same on both sides."""
        if name.startswith("__") or "gymnasium_env" not in self.__dict__:
            raise AttributeError(f"FromGymnasium has no attribute {name!r}")
        return self.gymnasium_env.get_wrapper_attr(name)

    def set_wrapper_attr(self, name: str, value: object, *, force: bool = True) -> bool:
        """Set the attribute where it is, else on the environment when `force`."""
        if name in self.__dict__ or hasattr(type(self), name):
            setattr(self, name, value)
            return True
        return self.gymnasium_env.set_wrapper_attr(name, value, force=force)

    def __str__(self) -> str:
        return f"<FromGymnasium{self.gymnasium_env}>"
