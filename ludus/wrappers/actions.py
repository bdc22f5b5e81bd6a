"""Actions in another form."""

from collections.abc import Callable
from typing import Any, TypeVar, overload

import numpy as np

from ludus.core import Env, VectorEnv
from ludus.core.env import ActT, ObsT
from ludus.core.wrapper import WrapActT
from ludus.errors import InvalidArgument, InvalidSpace, InvalidType, shorten
from ludus.spaces import Box, Space
from ludus.spaces.array_space import Array
from ludus.wrappers.rescale import rescaling
from ludus.wrappers.transform import ActionTransform

__all__ = ["ClipAction", "RescaleAction", "TransformAction"]


SeenT = TypeVar("SeenT")
DoneT = TypeVar("DoneT")


class TransformAction(ActionTransform[ObsT, WrapActT, ActT]):
    """Takes `func(action)`; `action_space` is what one lane may be given, None for no change.

    In a batch the function is called lane by lane; with `vectorized=True` it takes the whole batch at once.

    >>> import ludus
    >>> env = TransformAction(ludus.make("GridWorld-v0"), lambda action: 3 - action)
    >>> _ = env.reset(seed=0)
    >>> env.step(0).observation.tolist()
    [0, 1]
    """

    lane_fields = ()

    @overload
    def __init__(
        self: "TransformAction[SeenT, Any, DoneT]",
        env: VectorEnv[SeenT, DoneT],
        func: Callable[[Any], object],
        action_space: Space[object] | None = None,
        *,
        vectorized: bool = False,
    ) -> None: ...

    @overload
    def __init__(
        self,
        env: Env[ObsT, ActT],
        func: Callable[[WrapActT], object],
        action_space: Space[object] | None = None,
        *,
        vectorized: bool = False,
    ) -> None: ...

    def __init__(
        self,
        env: Env[ObsT, ActT],
        func: Callable[[Any], Any],
        action_space: Space[object] | None = None,
        *,
        vectorized: bool = False,
    ) -> None:
        super().__init__(env)
        if not callable(func):
            raise InvalidType(f"TransformAction func: expected a function, got {shorten(func)}")
        self.func, self.vectorized = func, vectorized
        if action_space is not None:
            self.show_action_space(action_space)

    def action(self, action: WrapActT) -> ActT:
        """Call the function."""
        return self.func(action)

    def actions(self, actions: WrapActT) -> ActT:
        """Call the function for every lane, or for all at once."""
        return self.func(actions) if self.vectorized else self._actions_by_lane(actions)


class ClipAction(ActionTransform[ObsT, Array, Array]):
    """Takes any number and keeps it within the action space below.

    >>> import ludus
    >>> ClipAction(ludus.make("MountainCarContinuous-v0")).action_space
    Box(-inf, inf, (1,), float32)
    """

    lane_fields = ()

    def __init__(self, env: Env[ObsT, Array]) -> None:
        super().__init__(env)
        space = self.lane_action_space
        if not isinstance(space, Box):
            raise InvalidSpace(f"ClipAction: expected a Box action space, got {space!r}")
        self._low, self._high = space.low, space.high
        self.show_action_space(Box(-np.inf, np.inf, shape=space.shape, dtype=space.dtype))

    def action(self, action: Array) -> Array:
        """Clip."""
        return np.minimum(np.maximum(action, self._low), self._high)  # np.clip takes twice as long

    def actions(self, actions: Array) -> Array:
        """Clip those of a batch."""
        return np.minimum(np.maximum(actions, self._low), self._high)


class RescaleAction(ActionTransform[ObsT, Array, Array]):
    """Takes actions from `min_action` to `max_action` and maps them onto the action space below.

    >>> import ludus
    >>> RescaleAction(ludus.make("MountainCarContinuous-v0"), 0.0, 2.0).action_space
    Box(0.0, 2.0, (1,), float32)
    """

    lane_fields = ()

    def __init__(self, env: Env[ObsT, Array], min_action: object, max_action: object) -> None:
        super().__init__(env)
        space, self._gradient, self._intercept = rescaling(
            self.lane_action_space, min_action, max_action, "RescaleAction"
        )
        if (space.low == space.high).any():
            raise InvalidArgument(f"RescaleAction: expected min_action < max_action, got {min_action} and {max_action}")
        self.show_action_space(space)

    def action(self, action: Array) -> Array:
        """Shift and scale back."""
        return (action - self._intercept) / self._gradient

    def actions(self, actions: Array) -> Array:
        """Shift and scale those of a batch back."""
        return (actions - self._intercept) / self._gradient
