"""Episode statistics: return, length and time, reported when an episode ends."""

import time
from collections import deque

import numpy as np

from ludus.core import AutoresetMode, Env, Info, Step
from ludus.core.env import ActT, ObsT
from ludus.errors import InvalidArgument
from ludus.spaces.array_space import Array
from ludus.wrappers.transform import Mask, Transform

__all__ = ["RecordEpisodeStatistics"]


class RecordEpisodeStatistics(Transform[ObsT, ActT, ObsT, ActT]):
    """Puts `{"r": return, "l": length, "t": seconds}` into the info of an episode's last step, and keeps the latest.

    In a batch the three are arrays and `info["_episode"]` says which lanes ended.

    >>> import ludus
    >>> env = RecordEpisodeStatistics(ludus.make("GridWorld-v0", max_episode_steps=2))
    >>> _ = env.reset(seed=0), env.step(0)
    >>> info = env.step(0).info
    >>> info["episode"]["r"], info["episode"]["l"]
    (0.0, 2)
    """

    lane_fields = ("episode_returns", "episode_lengths", "episode_start_time")

    state_fields = ("episode_count", "return_queue", "length_queue", "time_queue")

    def __init__(self, env: Env[ObsT, ActT], buffer_length: int = 100, stats_key: str = "episode") -> None:
        super().__init__(env)
        self._stats_key = stats_key
        self.episode_count = 0
        self.episode_returns: float | Array = 0.0 if not self._lead else np.zeros(self._lead)
        self.episode_lengths: int | Array = 0 if not self._lead else np.zeros(self._lead, dtype=np.int64)
        self.episode_start_time: float | Array = (
            time.perf_counter() if not self._lead else np.full(self._lead, time.perf_counter())
        )
        self.time_queue: deque[float] = deque(maxlen=buffer_length)
        self.return_queue: deque[float] = deque(maxlen=buffer_length)
        self.length_queue: deque[int] = deque(maxlen=buffer_length)

    def on_reset(self, observation: ObsT, info: Info, begun: Mask | None) -> tuple[ObsT, Info]:
        """Start the lanes that begin."""
        self._start(begun)
        return observation, info

    def _start(self, begun: Mask | None) -> None:
        now = time.perf_counter()
        if begun is None:
            self.episode_returns, self.episode_lengths = self.episode_returns * 0.0, self.episode_lengths * 0
            self.episode_start_time = now if not self._lead else np.full(self._lead, now)
        else:
            self.episode_returns = np.where(begun, 0.0, self.episode_returns)
            self.episode_lengths = np.where(begun, 0, self.episode_lengths)
            self.episode_start_time = np.where(begun, now, self.episode_start_time)

    def after_step(self, step: Step[ObsT], begun: Mask | None) -> Step[ObsT]:
        """Count, and tell of what ended."""
        idle = self.idle(begun) if self._lead else None
        if idle is not None:
            if begun is not None and self._mode is AutoresetMode.NEXT_STEP:
                self._start(begun)
            self.episode_returns = self.episode_returns + step.reward * ~idle
            self.episode_lengths = self.episode_lengths + ~idle
        else:
            self.episode_returns = self.episode_returns + step.reward
            self.episode_lengths = self.episode_lengths + 1
        over = step[2] | step[3]
        if not (over.any() if self._lead else over):
            return step
        step = step._replace(info=self._with_statistics(step.info, over))
        if self._mode is AutoresetMode.SAME_STEP:
            self._start(over)
        return step

    def _with_statistics(self, info: Info, over: Mask) -> Info:
        if self._stats_key in info:
            raise InvalidArgument(
                f"stats_key: expected a key that info has not, got {self._stats_key!r}; choose another"
            )
        now = time.perf_counter()
        if not self._lead:
            seconds = round(float(now - self.episode_start_time), 6)
            self._keep(self.episode_returns, self.episode_lengths, seconds)
            return {**info, self._stats_key: {"r": self.episode_returns, "l": self.episode_lengths, "t": seconds}}
        took: Array = np.asarray(now - self.episode_start_time).round(6)
        returns, lengths = np.asarray(self.episode_returns), np.asarray(self.episode_lengths)
        for lane in np.flatnonzero(over):
            self._keep(returns[lane], lengths[lane], took[lane])
        columns = {"r": returns, "l": lengths, "t": took}
        statistics: dict[str, Array] = {
            name: np.where(over, column, np.zeros_like(column)) for name, column in columns.items()
        }
        statistics |= {f"_{name}": over.copy() for name in columns}
        return {**info, self._stats_key: statistics, f"_{self._stats_key}": over.copy()}

    def _keep(self, total: float | Array, length: float | Array, seconds: float | Array) -> None:
        self.episode_count += 1
        self.return_queue.append(float(total))
        self.length_queue.append(int(length))
        self.time_queue.append(float(seconds))
