"""Pictures as observations."""

from typing import Any

import numpy as np

from ludus.core import Env, Info, Step
from ludus.core.env import ActT
from ludus.errors import InvalidArgument, RenderError
from ludus.spaces import Box, Dict
from ludus.spaces.kinds import is_array, is_tuple
from ludus.wrappers.transform import SAME_STEP, Mask, Transform

__all__ = ["AddRenderObservation"]


class AddRenderObservation(Transform[Any, ActT, object, ActT]):
    """Shows the picture instead of the observation, or beside it as a dictionary of both.

    A batch has to leave ended lanes as they are until the next call: in SAME_STEP nobody sees the last picture.

    >>> import ludus
    >>> env = AddRenderObservation(ludus.make("CartPole-v1", render_mode="rgb_array"))
    >>> env.reset(seed=0)[0].shape == env.observation_space.shape
    True
    """

    lane_fields = ()

    def __init__(
        self, env: Env[object, ActT], render_only: bool = True, render_key: str = "pixels", obs_key: str = "state"
    ) -> None:
        super().__init__(env)
        self.render_only, self.render_key, self.obs_key = render_only, render_key, obs_key
        if env.render_mode in (None, "human"):
            raise RenderError(
                f"AddRenderObservation: expected an environment that renders, got render_mode={env.render_mode!r}; "
                'make it with render_mode="rgb_array"'
            )
        if self._mode is SAME_STEP:
            raise InvalidArgument(
                "AddRenderObservation: expected a batch that shows the last picture of an episode, got autoreset in "
                "the same step, which draws over it; make it with autoreset_mode='NextStep' or 'Disabled', or wrap "
                "each lane, by make_vec(wrappers=[AddRenderObservation])"
            )
        self._show_space()

    def _show_space(self) -> None:
        before = self.env.snapshot()  # looking at a first picture takes a reset: it must leave no trace
        self.env.reset(seed=0)
        pictures = self.env.render()
        self.env.restore(before)
        picture = pictures[0] if self._lead and is_tuple(pictures) else pictures
        if not is_array(picture):
            raise RenderError(f"AddRenderObservation: expected render() to give an array, got {type(picture).__name__}")
        pixels, space = Box(0, 255, shape=picture.shape, dtype=np.uint8), self.lane_observation_space
        if self.render_only:
            self.show_observation_space(pixels)
        elif isinstance(space, Dict):
            if self.render_key in space.spaces:
                raise InvalidArgument(
                    f"render_key: expected a new key, got {self.render_key!r}, which the observation has"
                )
            self.show_observation_space(Dict({self.render_key: pixels, **space.spaces}, sort_keys=space.sort_keys))
        else:
            self.show_observation_space(Dict({self.obs_key: space, self.render_key: pixels}))

    def _with_picture(self, observation: Any) -> object:
        picture = np.stack(self.env.render()) if self._lead else self.env.render()
        if self.render_only:
            return picture
        if isinstance(self.lane_observation_space, Dict):
            return {self.render_key: picture, **observation}
        return {self.obs_key: observation, self.render_key: picture}

    def on_reset(self, observation: object, info: Info, begun: Mask | None) -> tuple[object, Info]:
        """Add the first picture."""
        return self._with_picture(observation), info

    def after_step(self, step: Step[object], begun: Mask | None) -> Step[object]:
        """Add the picture."""
        return Step(self._with_picture(step[0]), *step[1:])
