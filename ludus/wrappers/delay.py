"""Delays: what happened some steps ago, now."""

from collections import deque
from typing import Any

import numpy as np

from ludus.core import Env, Info, Step
from ludus.core.env import ActT, ObsT
from ludus.errors import InvalidType
from ludus.spaces.array_space import Array
from ludus.wrappers.argument import positive
from ludus.wrappers.lanes import blend, lane_of, made_of_arrays
from ludus.wrappers.transform import Mask, Transform

__all__ = ["DelayObservation"]


class DelayObservation(Transform[ObsT, ActT, ObsT, ActT]):
    """Shows the observation of `delay` steps ago; zeros until there is one.

    >>> import ludus
    >>> env = DelayObservation(ludus.make("GridWorld-v0"), delay=1)
    >>> env.reset(seed=0)[0].tolist(), env.step(1).observation.tolist(), env.step(1).observation.tolist()
    ([0, 0], [0, 0], [1, 0])
    """

    lane_fields = ("_past", "_age", "_zero")

    state_fields = ("_past", "_age")

    def __init__(self, env: Env[ObsT, ActT], delay: int) -> None:
        super().__init__(env)
        self.delay = positive("delay", delay, 0)
        self._space = self.lane_observation_space
        if self._lead and not made_of_arrays(self._space):
            raise InvalidType(
                f"DelayObservation: expected observations made of arrays, got {self._space!r}; "
                "wrap each lane instead, by make_vec(wrappers=[…])"
            )
        zero = self._space.default()
        self._zero: object = zero if not self._lead else self._space.concatenate([zero] * self._lead[0])
        self._past: deque[object] = deque(maxlen=self.delay + 1)
        self._age: int | Array = 0 if not self._lead else np.zeros(self._lead, dtype=np.int64)

    def on_reset(self, observation: ObsT, info: Info, begun: Mask | None) -> tuple[ObsT, Info]:
        """Start counting the lanes that begin; the others go on waiting."""
        if begun is None:
            self._past.clear()
            self._past.append(observation)
            self._age = self._age * 0
        else:
            self._past[-1] = blend(self._space, begun, observation, self._past[-1])
            self._age = np.where(begun, 0, self._age)
        return self._delayed(), info

    def after_step(self, step: Step[ObsT], begun: Mask | None) -> Step[ObsT]:
        """Remember the observation and show an old one."""
        observation, reward, terminated, truncated, info = step
        final = self.final_observations(info) if self._lead else []
        if final:
            info = self.with_final(info, [(lane, self._delayed_last(lane, last)) for lane, last in final])
        self._push(observation)
        age = self._age + (1 if self.stepped is None else self.stepped)
        self._age = age if begun is None else np.where(begun, 0, age)
        return Step(self._delayed(), reward, terminated, truncated, info)

    def _push(self, observation: object) -> None:
        stepped = self.stepped
        before = () if stepped is None else tuple(self._past)
        self._past.append(observation)
        if stepped is not None:  # what the others have seen stays where it is, counted from the end
            for place in range(-1, -1 - min(len(before), len(self._past)), -1):
                self._past[place] = blend(self._space, stepped, self._past[place], before[place])

    def _delayed(self) -> Any:
        old = self._past[0] if len(self._past) > self.delay else self._zero
        if isinstance(self._age, int):
            return old
        old_enough: Mask = self._age >= self.delay
        if len(self._past) > self.delay and old_enough.all():
            return old
        return blend(self._space, old_enough, old, self._zero)

    def _delayed_last(self, lane: int, last: object) -> object:
        """What an episode's last observation looks like: `last` has not been pushed yet."""
        if self.delay == 0:
            return last
        if np.asarray(self._age)[lane] + 1 < self.delay:
            return self._space.default()
        return lane_of(self._space, self._past[-self.delay], lane)
