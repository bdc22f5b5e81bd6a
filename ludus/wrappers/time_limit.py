"""Time limits: end an episode after `max_episode_steps`, as truncation, never as termination."""

import numpy as np

from ludus.core import Env, EnvSpec, Info, Outcome, Step
from ludus.core.env import ActT, ObsT
from ludus.core.info import add_outcome
from ludus.core.outcome import OUTCOME
from ludus.errors import ResetNeeded
from ludus.wrappers.argument import positive
from ludus.wrappers.steered import Cutting
from ludus.wrappers.transform import SAME_STEP, Mask

__all__ = ["TimeLimit"]


class TimeLimit(Cutting[ObsT, ActT, ObsT, ActT]):
    """Truncates the episode on step `max_episode_steps`; an episode that terminates on that very step does both.

    >>> from ludus.envs.teaching.grid_world import GridWorld
    >>> env = TimeLimit(GridWorld(), max_episode_steps=2)
    >>> _ = env.reset(seed=0)
    >>> env.step(0).truncated, env.step(0).truncated
    (False, True)

    Where the task has not ended by itself and there is no other outcome, `info["outcome"]` says that it was the limit.
    """

    lane_fields = ("_begun_at",)

    def __init__(self, env: Env[ObsT, ActT], max_episode_steps: int) -> None:
        super().__init__(env)
        self._max_episode_steps = positive("max_episode_steps", max_episode_steps)
        self._elapsed_steps: int | None = None
        # On a batch, steps are counted once for all lanes, and each lane has the count at which its episode began:
        # looking at every lane in every step would cost as much as a tenth of a compiled step.
        self._clock, self._begun_at = 0, np.zeros(self._lead, dtype=np.int64)
        self._due = self._max_episode_steps
        """Before the clock says so, no lane has reached its limit."""

    def on_reset(self, observation: ObsT, info: Info, begun: Mask | None) -> tuple[ObsT, Info]:
        """Count from zero."""
        if not self._lead:
            self._elapsed_steps = 0
        elif begun is None:
            self._begun_at[:] = self._clock
            self._due = self._clock + self._max_episode_steps
        else:
            self._begun_at[begun] = self._clock
            self._due = min(self._due, self._clock + self._max_episode_steps)
        return observation, info

    def step(self, action: ActT) -> Step[ObsT]:
        """Step and count."""
        return self.advance(action) if self._quick else super().step(action)

    def advance(self, action: ActT) -> Step[ObsT]:
        """Step below and count."""
        if self._lead:
            return self._advance_lanes(action)
        elapsed = self._elapsed_steps
        if elapsed is None or elapsed >= self._max_episode_steps:
            state = "no reset yet" if elapsed is None else "an episode cut by its time limit"
            raise ResetNeeded(f"step: expected reset() first, got {state}")
        result = self.env.step(action)
        self._elapsed_steps = elapsed = elapsed + 1
        if elapsed < self._max_episode_steps:
            return result
        observation, reward, terminated, _, info = result
        if not terminated and info.get(OUTCOME) is None:
            info = {**info, OUTCOME: Outcome.TIME_LIMIT}
        return Step(observation, reward, terminated, True, info)

    def _advance_lanes(self, action: ActT) -> Step[ObsT]:
        step = self.env.step(action) if self._cut is None else self.step_below(action)
        self._clock = clock = self._clock + 1
        stepped = self.stepped
        if stepped is not None:
            self._begun_at += ~stepped
        late = None if clock < self._due else self._late(stepped)
        ended = step[2] | step[3]
        # An ended lane begins now, or with the next step, which does not count.
        np.putmask(self._begun_at, ended if late is None else ended | late, clock + (self._mode is not SAME_STEP))
        if late is None:
            return step
        self._due = int(self._begun_at.min()) + self._max_episode_steps
        cut = late & ~ended
        info = self._with_outcome(step[4], late & ~step[2], cut)
        step = Step(step[0], step[1], step[2], step[3] | late, info)
        return self.cut(step, cut) if cut.any() else step

    def _with_outcome(self, info: Info, late: Mask, cut: Mask) -> Info:
        """The infos with this outcome; of lanes that have begun anew below, in the info of their last episode."""
        if self._mode is not SAME_STEP or "final_info" not in info:
            return add_outcome(info, Outcome.TIME_LIMIT, late)
        final = add_outcome(info["final_info"], Outcome.TIME_LIMIT, late & ~cut)
        return add_outcome({**info, "final_info": final}, Outcome.TIME_LIMIT, cut)

    def _late(self, stepped: Mask | None) -> Mask:
        """The lanes that have made their last step."""
        late: Mask = self._clock - self._begun_at >= self._max_episode_steps
        return late if stepped is None else late & stepped

    @property
    def spec(self) -> EnvSpec | None:
        """The spec below with this limit: `make` puts the wrapper there by itself."""
        below = self.env.spec
        limited = any(isinstance(layer, TimeLimit) for layer in self.env._layers())
        if below is None or limited or (self._lead and below.max_episode_steps is not None):
            return super().spec  # a limit around a limit is a wrapper like any other
        return below.replace(max_episode_steps=self._max_episode_steps)
