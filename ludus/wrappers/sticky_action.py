"""Actions that stick: the previous one is taken again now and then."""

from copy import deepcopy
from typing import Any

import numpy as np

from ludus.core import AutoresetMode, Env, Info, Step
from ludus.core.env import ActT, ObsT
from ludus.core.options import Options
from ludus.errors import InvalidArgument, shorten
from ludus.seeding import Seed
from ludus.spaces.kinds import is_integer, is_tuple
from ludus.wrappers.lanes import blend
from ludus.wrappers.streams import LaneStreams
from ludus.wrappers.transform import SAME_STEP, Mask, Transform

__all__ = ["StickyAction"]

STREAM = "StickyAction"


def _range_of(duration: object) -> tuple[int, int]:
    """The least and the greatest number of steps."""
    pair = duration if is_tuple(duration) else (duration, duration)
    least, most = pair if len(pair) == 2 else (None, None)
    if not is_integer(least) or not is_integer(most) or not 1 <= least <= most:
        raise InvalidArgument(
            f"repeat_action_duration: expected a positive integer or a pair of them in order, got {shorten(duration)}"
        )
    return int(least), int(most)


class StickyAction(Transform[ObsT, ActT, ObsT, ActT]):
    """Takes the previous action again with some probability, for a number of steps drawn from `repeat_action_duration`.

    The draws are from a stream of its own: the dynamics are the same with and without it.

    >>> import ludus
    >>> env = StickyAction(ludus.make("GridWorld-v0"), 0.9)
    >>> _ = env.reset(seed=0)
    >>> [env.step(action).observation.tolist() for action in (1, 3, 3)]
    [[1, 0], [2, 0], [3, 0]]
    """

    lane_fields = ("last_action", "_has", "_left", "_lane_streams")

    def __init__(
        self,
        env: Env[ObsT, ActT],
        repeat_action_probability: float,
        repeat_action_duration: int | tuple[int, int] = 1,
    ) -> None:
        super().__init__(env)
        if not 0 <= repeat_action_probability < 1:
            raise InvalidArgument(
                f"repeat_action_probability: expected at least 0 and less than 1, got {repeat_action_probability}"
            )
        pair = _range_of(repeat_action_duration)
        self.repeat_action_probability, self.repeat_action_duration_range = repeat_action_probability, pair
        self._lasting = pair != (1, 1)
        """Whether an action may stick for more than a step: then there is more to draw, and to count."""
        self.last_action: ActT | None = None
        self._left: Any = np.zeros(self._lead, dtype=np.int64) if self._lead else 0
        if self._lead:
            self._has: Mask = np.zeros(self._lead, dtype=np.bool_)
            """The lanes that have a previous action."""
            plan = getattr(self.unwrapped, "episodes", None)
            self._lane_streams = LaneStreams(STREAM, self._lead[0], plan)

    def reset(self, *, seed: Seed | None = None, options: Options | None = None) -> tuple[ObsT, Info]:
        """Forget the previous action."""
        result = super().reset(seed=seed, options=options)
        if self._lead:
            self.note_streams(self._lane_streams, seed, options)
        return result

    def on_reset(self, observation: ObsT, info: Info, begun: Mask | None) -> tuple[ObsT, Info]:
        """Forget the previous action."""
        if not self._lead:
            self.last_action, self._left = None, 0
        elif begun is None:
            self._has, self._left = np.zeros_like(self._has), np.zeros_like(self._left)
        else:
            self._has, self._left = self._has & ~begun, np.where(begun, 0, self._left)
        return observation, info

    def before_step(self, action: ActT) -> ActT:
        """The action, or the previous one."""
        if self._lead:
            return self._lanes_before_step(action)
        if self._left == 0 and self.last_action is not None:
            rng = self.stream(STREAM)
            if rng.random() < self.repeat_action_probability:
                self._left = self._duration(rng)
        if self._left > 0 and self.last_action is not None:  # there is one, since it sticks
            action, self._left = self.last_action, self._left - 1
        self.last_action = action
        return action

    def after_step(self, step: Step[ObsT], begun: Mask | None) -> Step[ObsT]:
        """Forget the previous action of lanes that begin."""
        if begun is not None:
            if self._mode is SAME_STEP:
                self._has = self._has & ~begun
            if self._lasting:
                self._left[begun] = 0
            self._lane_streams.begin(begun)
        return step

    def _duration(self, rng: np.random.Generator) -> int:
        low, high = self.repeat_action_duration_range
        return int(rng.integers(int(low), int(high) + 1))

    def _lanes_before_step(self, action: ActT) -> ActT:
        stepped, has = self.stepped, self._has
        # A lane that begins with this step takes no action.
        moving = ~self._ended if self._mode is AutoresetMode.NEXT_STEP else None
        if stepped is not None:
            moving = stepped if moving is None else moving & stepped
        sticks = self._sticking(has if moving is None else has & moving)
        first = self.last_action is None
        taken = deepcopy(action) if first else blend(self.lane_action_space, sticks, self.last_action, action)
        if moving is None:
            self.last_action, self._has = taken, np.ones_like(has)
            return taken
        self._has = moving if stepped is None else np.where(stepped, moving, has)
        kept = self.last_action is None or stepped is None
        self.last_action = taken if kept else blend(self.lane_action_space, moving, taken, self.last_action)
        return taken

    def _sticking(self, free: Mask) -> Mask:
        """The lanes that take the previous action; `free` ones have one and take an action."""
        if not self._lasting:
            return self._lane_streams.chances(free, self.repeat_action_probability)
        for lane in np.flatnonzero(free & (self._left == 0)).tolist():
            rng = self._lane_streams[lane]
            if rng.random() < self.repeat_action_probability:
                self._left[lane] = self._duration(rng)
        sticks = free & (self._left > 0)
        self._left -= sticks
        return sticks
