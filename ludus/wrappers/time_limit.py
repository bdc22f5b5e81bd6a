"""Time limits: end an episode after `max_episode_steps`, as truncation, never as termination."""

from typing import Any, TypeVar

from ludus.core import Env, EnvSpec, Info, Step, Wrapper
from ludus.errors import InvalidArgument, InvalidType, ResetNeeded, shorten
from ludus.seeding import Seed

__all__ = ["TimeLimit"]

ObsT = TypeVar("ObsT")
ActT = TypeVar("ActT")


class TimeLimit(Wrapper[ObsT, ActT, ObsT, ActT]):
    """Truncates the episode on step `max_episode_steps`; an episode that terminates on that very step does both.

    >>> from ludus.envs.teaching.grid_world import GridWorld
    >>> env = TimeLimit(GridWorld(), max_episode_steps=2)
    >>> _ = env.reset(seed=0)
    >>> env.step(0).truncated, env.step(0).truncated
    (False, True)
    """

    def __init__(self, env: Env[ObsT, ActT], max_episode_steps: int) -> None:
        super().__init__(env)
        if not isinstance(max_episode_steps, int) or isinstance(max_episode_steps, bool):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidType(f"max_episode_steps: expected a positive integer, got {shorten(max_episode_steps)}")
        if max_episode_steps < 1:
            raise InvalidArgument(f"max_episode_steps: expected a positive integer, got {max_episode_steps}")
        if env.batch_shape:
            raise InvalidType(
                f"TimeLimit: expected one environment, got a batch of {env.batch_shape}; wrap each lane instead"
            )
        self._max_episode_steps = max_episode_steps
        self._elapsed_steps: int | None = None

    def reset(self, *, seed: Seed | None = None, options: dict[str, Any] | None = None) -> tuple[ObsT, Info]:
        """Reset and count from zero."""
        result = self.env.reset(seed=seed, options=options)
        self._elapsed_steps = 0
        return result

    def step(self, action: ActT) -> Step[ObsT]:
        """Step and count."""
        elapsed = self._elapsed_steps
        if elapsed is None or elapsed >= self._max_episode_steps:
            state = "no reset yet" if elapsed is None else "an episode cut by its time limit"
            raise ResetNeeded(f"step: expected reset() first, got {state}")
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._elapsed_steps = elapsed = elapsed + 1
        return Step(observation, reward, terminated, truncated or elapsed >= self._max_episode_steps, info)

    @property
    def spec(self) -> EnvSpec | None:
        """The spec below with this limit: `make` puts the wrapper there by itself."""
        below = self.env.spec
        return None if below is None else below.replace(max_episode_steps=self._max_episode_steps)
