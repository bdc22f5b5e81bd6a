"""Frame skipping: one action for several steps, and the brightest of the last two frames."""

from typing import Any

import numpy as np

from ludus.core import Env, Info, Step
from ludus.core.env import ActT, ObsT
from ludus.core.info import info_of, joined
from ludus.errors import InvalidSpace
from ludus.spaces.array_space import Array
from ludus.wrappers.argument import positive
from ludus.wrappers.lanes import expanded, where
from ludus.wrappers.steered import Steered
from ludus.wrappers.transform import SAME_STEP, Mask

__all__ = ["MaxAndSkipObservation"]


class MaxAndSkipObservation(Steered[ObsT, ActT, ObsT, ActT]):
    """Takes each action `skip` times, adds up the rewards and shows the maximum of the last two observations.

    An episode that ends early shows what its own last two steps gave.

    >>> import ludus
    >>> env = MaxAndSkipObservation(ludus.make("GridWorld-v0"), skip=2)
    >>> _ = env.reset(seed=0)
    >>> env.step(1).observation.tolist()
    [2, 0]
    """

    lane_fields = ()

    def __init__(self, env: Env[ObsT, ActT], skip: int = 4) -> None:
        super().__init__(env)
        self._skip = positive("skip", skip, 2)
        if self.lane_observation_space.shape is None:
            raise InvalidSpace(
                f"MaxAndSkipObservation: expected a space of arrays, got {self.lane_observation_space!r}"
            )

    def advance(self, action: ActT) -> Step[ObsT]:
        """Step up to `skip` times."""
        if self._lead:
            return self._advance_lanes(action)
        step = self.env.step(action)
        total = float(step[1])
        seen: list[Any] = [step[0]]
        for _ in range(self._skip - 1):
            if step[2] or step[3]:
                break
            step = self.env.step(action)
            total += float(step[1])
            seen.append(step[0])
        return Step(np.max(np.stack(seen[-2:]), axis=0), total, step[2], step[3], step[4])

    def _advance_lanes(self, action: ActT) -> Step[ObsT]:
        below = self._batch_below
        step: Step[Any] = Step.of(below.step(action))  # of arrays, as the constructor has seen to
        going, before = self.moving(step), step.observation
        for _ in range(self._skip - 1):
            if not going.any():
                break
            before = before if self._copied else before.copy()
            again: Step[Any] = Step.of(below.step_masked(action, going))
            flags = step.terminated | again.terminated, step.truncated | again.truncated
            ended = again.terminated | again.truncated
            info = joined(info_of(step.info, ~going), self._brightest_last(again.info, before, ended))
            pooled = going & ~ended if self._mode is SAME_STEP else going  # a lane that began shows what it began with
            shown = where(expanded(pooled, before.ndim), np.maximum(before, again.observation), again.observation)
            kept = where(expanded(going, before.ndim), shown, step.observation)
            step, before = Step(kept, step.reward + again.reward, *flags, info), again.observation
            going = going & ~ended
        return step

    @property
    def _copied(self) -> bool:
        """Whether an observation of the batch stays what it is when the next one comes."""
        return bool(getattr(self.unwrapped, "copy", True))

    def _brightest_last(self, info: Info, before: Array, ended: Mask) -> Info:
        if self._mode is not SAME_STEP or not ended.any():
            return info
        return self.with_final(
            info, [(lane, np.maximum(before[lane], last)) for lane, last in self.final_observations(info)]
        )
