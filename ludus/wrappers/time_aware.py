"""Time in the observation: how many steps the episode has had."""

from typing import Any

import numpy as np

from ludus.core import Env, Info, Step
from ludus.core.env import ActT, AnyEnv
from ludus.errors import InvalidArgument
from ludus.spaces import Box, Dict, Space, Tuple
from ludus.spaces.array_space import Array
from ludus.wrappers.transform import Mask, Transform

__all__ = ["TimeAwareObservation"]


class TimeAwareObservation(Transform[Any, ActT, object, ActT]):
    """Adds the number of steps taken, or the share of the time limit, to each observation.

    A `Dict` gets a key and a `Tuple` a place; anything else becomes a `Dict` of `obs` and `time`. With `flatten`, the
    result is one row. The limit comes from the spec, or from a `TimeLimit` below.

    >>> import ludus
    >>> env = TimeAwareObservation(ludus.make("GridWorld-v0"))
    >>> _ = env.reset(seed=0)
    >>> env.step(1).observation.tolist()
    [1, 0, 1]
    """

    lane_fields = ("timesteps",)

    state_fields = ("timesteps",)

    def __init__(
        self, env: Env[object, ActT], flatten: bool = True, normalize_time: bool = False, *, dict_time_key: str = "time"
    ) -> None:
        super().__init__(env)
        self.flatten, self.normalize_time, self.dict_time_key = flatten, normalize_time, dict_time_key
        self.max_timesteps = self._limit()
        self._below = self.lane_observation_space
        clock = Box(0.0, 1.0) if normalize_time else Box(0, self.max_timesteps, dtype=np.int32)
        if isinstance(self._below, Dict):
            if dict_time_key in self._below.keys():  # noqa: SIM118  (`in` asks a space for values)
                raise InvalidArgument(
                    f"dict_time_key: expected a new key, got {dict_time_key!r}, which the observation has"
                )
            self._joined: Space[object] = Dict(
                {dict_time_key: clock, **self._below.spaces}, sort_keys=self._below.sort_keys
            )
        elif isinstance(self._below, Tuple):
            self._joined = Tuple((*self._below.spaces, clock))
        else:
            self._joined = Dict(obs=self._below, time=clock)
        self.show_observation_space(self._joined.flat_space() if flatten else self._joined)
        self.timesteps: int | Array = 0 if not self._lead else np.zeros(self._lead, dtype=np.int64)

    def _limit(self) -> int:
        spec = self.env.spec
        limit = spec.max_episode_steps if spec is not None else None
        if limit is None and self.env.has_wrapper_attr("_max_episode_steps"):
            limit = self.env.get_wrapper_attr("_max_episode_steps")
        if limit is None and self._lead and hasattr(self.unwrapped, "envs"):
            lane: AnyEnv = self.unwrapped.get_wrapper_attr("envs")[0]
            limit = lane.get_wrapper_attr("_max_episode_steps") if lane.has_wrapper_attr("_max_episode_steps") else None
        if limit is None:
            raise InvalidArgument(
                "TimeAwareObservation: expected a time limit, got none; make the environment with max_episode_steps=…, "
                "or wrap it in TimeLimit first"
            )
        return limit

    def on_reset(self, observation: object, info: Info, begun: Mask | None) -> tuple[object, Info]:
        """Count from zero the lanes that begin."""
        self.timesteps = self.timesteps * 0 if begun is None else np.where(begun, 0, self.timesteps)
        return self._timed(observation, self.timesteps, self._lead), info

    def after_step(self, step: Step[object], begun: Mask | None) -> Step[object]:
        """Count, and add the count."""
        observation, reward, terminated, truncated, info = step
        stepped = self.stepped
        self.timesteps = self.timesteps + (1 if stepped is None else stepped)
        final = self.final_observations(info) if self._lead else []
        if final:
            counts = np.asarray(self.timesteps)
            info = self.with_final(info, [(lane, self._timed(last, counts[lane], ())) for lane, last in final])
        if begun is not None:
            self.timesteps = np.where(begun, 0, self.timesteps)
        return Step(self._timed(observation, self.timesteps, self._lead), reward, terminated, truncated, info)

    def _timed(self, observation: Any, time: int | Array, lead: tuple[int, ...]) -> object:
        shown = time / self.max_timesteps if self.normalize_time else time
        clock = np.asarray(shown, dtype=np.float32 if self.normalize_time else np.int32).reshape((*lead, 1))
        if isinstance(self._below, Dict):
            joined: object = {self.dict_time_key: clock, **observation}
        elif isinstance(self._below, Tuple):
            joined = (*observation, clock)
        else:
            joined = {"obs": observation, "time": clock}
        if not self.flatten:
            return joined
        if not lead:
            return self._joined.flatten(joined)
        rows = [self._joined.flatten(row) for row in self._joined.batch(lead[0]).iterate(joined)]
        return self.single_observation_space.concatenate(rows)
