"""`Lane`: one environment of a batch, and what it does at reset, step and autoreset, wherever it runs."""

from collections.abc import Callable, Mapping, Sequence

from ludus.core import AutoresetMode, EpisodePlan, Info, Outcome
from ludus.core.env import AnyEnv
from ludus.core.episode import planned
from ludus.core.lane_options import lane_options
from ludus.core.options import Options
from ludus.core.outcome import OUTCOME
from ludus.spaces import Space

__all__ = ["Broken", "Description", "Lane", "LaneState", "LaneStep", "Maker", "make_envs"]

Maker = Callable[[], AnyEnv]
LaneStep = tuple[object, float, bool, bool, Info]
"""Observation, reward, terminated, truncated and info of one lane's step."""
Broken = tuple[object, str, str]
"""The last observation of an episode that cannot go on, why that is, and the outcome that says so."""
LaneState = tuple[bool, int, int | None, Broken | None]
"""Whether the episode has ended, its number, its seed, and why it cannot go on, if it cannot."""
Description = tuple[Mapping[str, object], str | None, list[tuple[int, Space[object], Space[object]]]]
"""What a worker says of its lanes: metadata, render mode, and the spaces of the first and of every one unlike it."""


class Lane:
    """One environment, its place in the batch, and how many episodes it has begun by itself.

    >>> from ludus.envs.teaching.grid_world import GridWorld
    >>> lane = Lane(GridWorld(), 0, AutoresetMode.NEXT_STEP)
    >>> observation, info = lane.reset(0, None)
    >>> lane.step(1)[0]
    array([1, 0])
    """

    __slots__ = ("_same_step", "broken", "ended", "env", "number", "place", "plan", "seed")

    def __init__(self, env: AnyEnv, place: int, mode: AutoresetMode, plan: EpisodePlan | None = None) -> None:
        self.env, self.place, self.plan = env, place, plan
        self._same_step = mode is AutoresetMode.SAME_STEP
        self.ended = True
        self.number = 0
        """Of the episode under way: 0 for one that `reset` began."""
        self.seed: int | None = None
        """Seeds the next episode that has no seed of its own: for an environment made anew, which has no stream yet."""
        self.broken: Broken | None = None
        """Of an episode that cannot go on: the next step reports it as truncated."""

    def reset(self, seed: int | None, options: Options | None) -> tuple[object, Info]:
        """Begin an episode as asked."""
        observation, info = self.env.reset(seed=seed, options=lane_options(options, self.place))
        self.ended, self.number, self.seed, self.broken = False, 0, None, None
        return observation, info

    def step(self, action: object) -> LaneStep:
        """Advance, or begin the next episode where the last step ended one; NEXT_STEP ignores the action then."""
        if self.ended:
            observation, info = self._begin()
            self.ended = False
            return observation, 0.0, False, False, info
        if self.broken is None:
            observation, reward, terminated, truncated, info = self.env.step(action)
        else:
            observation, reward, terminated, truncated, info = self._truncated(*self.broken)
        if terminated or truncated:
            if not self._same_step:
                self.ended = True
                return observation, reward, terminated, truncated, info
            final = {"final_obs": observation, "final_info": info}
            observation, info = self._begin()
            info = {**final, **info}
        return observation, reward, terminated, truncated, info

    def begin(self) -> tuple[object, Info]:
        """Begin the next episode, wherever this one is."""
        observation, info = self._begin()
        self.ended, self.broken = False, None
        return observation, info

    def _truncated(self, observation: object, reason: str, outcome: str) -> LaneStep:
        self.broken = None
        return observation, 0.0, False, True, {"worker_failure": reason, OUTCOME: Outcome.of(outcome)}

    def _begin(self) -> tuple[object, Info]:
        """The next episode, as planned."""
        self.number += 1
        episode = planned(self.plan, self.place, self.number)
        seed, self.seed = self.seed if episode.seed is None else episode.seed, None
        return self.env.reset(seed=seed, options=episode.options)

    # --- state, for snapshots ---

    def state(self) -> LaneState:
        """Where the lane is in its episodes; the environment's own state is its snapshot."""
        return self.ended, self.number, self.seed, self.broken

    def take(self, state: LaneState) -> None:
        """Go to where `state` was taken."""
        self.ended, self.number, self.seed, self.broken = state


def make_envs(makers: Sequence[Maker]) -> list[AnyEnv]:
    """An environment of each; where one cannot be made, those before it are closed, and a note says which it is."""
    envs: list[AnyEnv] = []
    try:
        for make in makers:
            envs.append(make())  # noqa: PERF401  (a list that is cut short has to be known)
    except BaseException as error:
        for env in envs:
            env.close()
        error.add_note(f"lane {len(envs)} could not be made")
        raise
    return envs
