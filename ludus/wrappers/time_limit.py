"""Time limits: end an episode after `max_episode_steps`, as truncation, never as termination."""

from typing import Any

from ludus.core import Env, EnvSpec, Info, Step
from ludus.errors import ResetNeeded
from ludus.seeding import Seed
from ludus.wrappers.argument import positive
from ludus.wrappers.transform import LaneWise

__all__ = ["TimeLimit"]


class TimeLimit(LaneWise):
    """Truncates the episode on step `max_episode_steps`; an episode that terminates on that very step does both.

    >>> from ludus.envs.teaching.grid_world import GridWorld
    >>> env = TimeLimit(GridWorld(), max_episode_steps=2)
    >>> _ = env.reset(seed=0)
    >>> env.step(0).truncated, env.step(0).truncated
    (False, True)
    """

    def __init__(self, env: Env[Any, Any], max_episode_steps: int) -> None:
        self._max_episode_steps = positive("max_episode_steps", max_episode_steps)
        self._elapsed_steps: int | None = None
        super().__init__(env)

    def reset(self, *, seed: Seed | None = None, options: dict[str, Any] | None = None) -> tuple[Any, Info]:
        """Reset and count from zero."""
        result = self.env.reset(seed=seed, options=options)
        self._elapsed_steps = 0
        return result

    def step(self, action: Any) -> Step[Any]:
        """Step and count."""
        elapsed = self._elapsed_steps
        if elapsed is None or elapsed >= self._max_episode_steps:
            state = "no reset yet" if elapsed is None else "an episode cut by its time limit"
            raise ResetNeeded(f"step: expected reset() first, got {state}")
        result = self.env.step(action)
        self._elapsed_steps = elapsed = elapsed + 1
        if elapsed < self._max_episode_steps:
            return result
        observation, reward, terminated, _, info = result
        return Step(observation, reward, terminated, True, info)

    @property
    def spec(self) -> EnvSpec | None:
        """The spec below with this limit: `make` puts the wrapper there by itself."""
        below = self.env.spec
        if below is None or any(isinstance(layer, TimeLimit) for layer in self.env._layers()):
            return super().spec  # a limit around a limit is a wrapper like any other
        return below.replace(max_episode_steps=self._max_episode_steps)
