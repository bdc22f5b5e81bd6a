"""Pictures as observations."""

from typing import Any

import numpy as np

from ludus.core import Env, Info, Step
from ludus.errors import InvalidArgument, RenderError
from ludus.seeding import Seed
from ludus.spaces import Box, Dict
from ludus.wrappers.transform import LaneWise

__all__ = ["AddRenderObservation"]


class AddRenderObservation(LaneWise):
    """Shows the picture instead of the observation, or beside it as a dictionary of both.

    >>> import ludus
    >>> env = AddRenderObservation(ludus.make("CartPole-v1", render_mode="rgb_array"))
    >>> env.reset(seed=0)[0].shape == env.observation_space.shape
    True
    """

    def __init__(
        self, env: Env[Any, Any], render_only: bool = True, render_key: str = "pixels", obs_key: str = "state"
    ) -> None:
        self.render_only, self.render_key, self.obs_key = render_only, render_key, obs_key
        if env.render_mode in (None, "human"):
            raise RenderError(
                f"AddRenderObservation: expected an environment that renders, got render_mode={env.render_mode!r}; "
                'make it with render_mode="rgb_array"'
            )
        super().__init__(env)
        if not self.inside:
            self._show_space()

    def _show_space(self) -> None:
        before = self.env.snapshot()  # looking at a first picture takes a reset: it must leave no trace
        self.env.reset(seed=0)
        picture = self.env.render()
        self.env.restore(before)
        if not isinstance(picture, np.ndarray):
            raise RenderError(f"AddRenderObservation: expected render() to give an array, got {type(picture).__name__}")
        pixels, space = Box(0, 255, shape=picture.shape, dtype=np.uint8), self.env.observation_space
        if self.render_only:
            self.observation_space = pixels
        elif isinstance(space, Dict):
            if self.render_key in space.spaces:
                raise InvalidArgument(
                    f"render_key: expected a new key, got {self.render_key!r}, which the observation has"
                )
            self.observation_space = Dict({self.render_key: pixels, **space.spaces}, sort_keys=space.sort_keys)
        else:
            self.observation_space = Dict({self.obs_key: space, self.render_key: pixels})

    def _with_picture(self, observation: Any) -> Any:
        picture = self.env.render()
        if self.render_only:
            return picture
        if isinstance(self.env.observation_space, Dict):
            return {self.render_key: picture, **observation}
        return {self.obs_key: observation, self.render_key: picture}

    def reset(self, *, seed: Seed | None = None, options: dict[str, Any] | None = None) -> tuple[Any, Info]:
        """Reset, with the first picture."""
        observation, info = self.env.reset(seed=seed, options=options)
        return self._with_picture(observation), info

    def step(self, action: Any) -> Step[Any]:
        """Step, with the picture."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        return Step(self._with_picture(observation), reward, terminated, truncated, info)
