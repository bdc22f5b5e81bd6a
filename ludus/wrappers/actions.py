"""Actions in another form, repeated, or sticking."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ludus.core import Env, Info, Step
from ludus.errors import InvalidArgument, InvalidSpace, InvalidType, shorten
from ludus.seeding import Seed
from ludus.spaces import Box, Space
from ludus.wrappers.argument import positive
from ludus.wrappers.rescale import rescaling
from ludus.wrappers.transform import LaneWise, Transform

__all__ = ["ClipAction", "RepeatAction", "RescaleAction", "StickyAction", "TransformAction"]


class TransformAction(Transform):
    """Takes `func(action)`; `action_space` is what one lane may be given, None for no change.

    In a batch the function is called lane by lane; with `vectorized=True` it takes the whole batch at once.

    >>> import ludus
    >>> env = TransformAction(ludus.make("GridWorld-v0"), lambda action: 3 - action)
    >>> _ = env.reset(seed=0)
    >>> env.step(0).observation.tolist()
    [0, 1]
    """

    def __init__(
        self,
        env: Env[Any, Any],
        func: Callable[[Any], Any],
        action_space: Space[Any] | None = None,
        *,
        vectorized: bool = False,
    ) -> None:
        super().__init__(env)
        if not callable(func):
            raise InvalidType(f"TransformAction func: expected a function, got {shorten(func)}")
        self.func, self.vectorized = func, vectorized
        if action_space is not None:
            self.show_action_space(action_space)

    def before_step(self, action: Any) -> Any:
        """Call the function."""
        if not self._lead or self.vectorized:
            return self.func(action)
        return self.lane_action_space.concatenate([self.func(one) for one in self.action_space.iterate(action)])

    action = before_step


class ClipAction(Transform):
    """Takes any number and keeps it within the action space below.

    >>> import ludus
    >>> ClipAction(ludus.make("MountainCarContinuous-v0")).action_space
    Box(-inf, inf, (1,), float32)
    """

    def __init__(self, env: Env[Any, Any]) -> None:
        super().__init__(env)
        space = self.lane_action_space
        if not isinstance(space, Box):
            raise InvalidSpace(f"ClipAction: expected a Box action space, got {space!r}")
        self._low, self._high = space.low, space.high
        self.show_action_space(Box(-np.inf, np.inf, shape=space.shape, dtype=space.dtype))

    def before_step(self, action: Any) -> Any:
        """Clip."""
        return np.minimum(np.maximum(action, self._low), self._high)  # np.clip takes twice as long

    action = before_step


class RescaleAction(Transform):
    """Takes actions from `min_action` to `max_action` and maps them onto the action space below.

    >>> import ludus
    >>> RescaleAction(ludus.make("MountainCarContinuous-v0"), 0.0, 2.0).action_space
    Box(0.0, 2.0, (1,), float32)
    """

    def __init__(self, env: Env[Any, Any], min_action: Any, max_action: Any) -> None:
        super().__init__(env)
        space, self._gradient, self._intercept = rescaling(
            self.lane_action_space, min_action, max_action, "RescaleAction"
        )
        if (space.low == space.high).any():
            raise InvalidArgument(f"RescaleAction: expected min_action < max_action, got {min_action} and {max_action}")
        self.show_action_space(space)

    def before_step(self, action: Any) -> Any:
        """Shift and scale back."""
        return (action - self._intercept) / self._gradient

    action = before_step


class RepeatAction(LaneWise):
    """Takes each action `num_repeats` times, or until the episode ends, and adds up the rewards.

    >>> import ludus
    >>> env = RepeatAction(ludus.make("GridWorld-v0"), 3)
    >>> _ = env.reset(seed=0)
    >>> env.step(1).observation.tolist()
    [3, 0]
    """

    def __init__(self, env: Env[Any, Any], num_repeats: int) -> None:
        self.num_repeats = positive("num_repeats", num_repeats)
        super().__init__(env)

    def step(self, action: Any) -> Step[Any]:
        """Step up to `num_repeats` times."""
        total = 0.0
        step = None
        for _ in range(self.num_repeats):
            step = self.env.step(action)
            total += float(step[1])
            if step[2] or step[3]:
                break
        return Step(step[0], total, step[2], step[3], step[4])  # type: ignore[index]


class StickyAction(LaneWise):
    """Takes the previous action again with some probability, for a number of steps drawn from `repeat_action_duration`.

    The draws are from a stream of its own: the dynamics are the same with and without it.

    >>> import ludus
    >>> env = StickyAction(ludus.make("GridWorld-v0"), 0.9)
    >>> _ = env.reset(seed=0)
    >>> [env.step(action).observation.tolist() for action in (1, 3, 3)]
    [[1, 0], [2, 0], [3, 0]]
    """

    def __init__(
        self,
        env: Env[Any, Any],
        repeat_action_probability: float,
        repeat_action_duration: int | tuple[int, int] = 1,
    ) -> None:
        if not 0 <= repeat_action_probability < 1:
            raise InvalidArgument(
                f"repeat_action_probability: expected at least 0 and less than 1, got {repeat_action_probability}"
            )
        pair: Any = repeat_action_duration
        pair = (pair, pair) if isinstance(pair, int) else pair
        if not isinstance(pair, tuple) or len(pair) != 2 or not 1 <= pair[0] <= pair[1]:
            raise InvalidArgument(
                "repeat_action_duration: expected a positive integer or a pair of them in order, "
                f"got {shorten(repeat_action_duration)}"
            )
        self.repeat_action_probability, self.repeat_action_duration_range = repeat_action_probability, pair
        self.last_action: Any = None
        self._left = 0
        super().__init__(env)

    def reset(self, *, seed: Seed | None = None, options: dict[str, Any] | None = None) -> tuple[Any, Info]:
        """Forget the previous action."""
        self.last_action, self._left = None, 0
        return self.env.reset(seed=seed, options=options)

    def step(self, action: Any) -> Step[Any]:
        """Step with the action, or with the previous one."""
        if self._left == 0 and self.last_action is not None:
            rng = self.stream("StickyAction")
            if rng.random() < self.repeat_action_probability:
                low, high = self.repeat_action_duration_range
                self._left = int(rng.integers(low, high + 1))
        if self._left > 0:
            action, self._left = self.last_action, self._left - 1
        self.last_action = action
        return self.env.step(action)
