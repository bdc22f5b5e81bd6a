"""`HostedBatch`: the lanes of one process, stepped one after another as every executor steps a lane.

Infos are not joined here: what each lane says is sent in order, and the other side joins the lanes of all processes by
the same method, so that they come out as they would in one process.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ludus.core import AutoresetMode, Env, Episode, Snapshot
from ludus.errors import InvalidSpace
from ludus.vector.lane import Lane, make_envs
from ludus.wire import decode_value
from ludus.wire.message import MakeRequest, Plan

__all__ = ["Entry", "HostedBatch"]

Entry = tuple[int, dict[str, Any], list[Any]]
"""A lane, its info, and the last observation of its episode where another one began in the same step."""


class HostedBatch:
    """Lanes made alike; observations of all of them are stacked, infos are kept as entries."""

    def __init__(self, make: Callable[[], Env[Any, Any]], request: MakeRequest) -> None:
        mode = AutoresetMode.of(request.autoreset_mode)
        self.envs = make_envs([make] * request.lanes)
        self.first = self.envs[0]
        self._planned: dict[int, Episode] = {}
        plan: Any = lambda lane, _: self._planned.pop(lane, Episode())  # noqa: E731
        self._lanes = [Lane(env, place, mode, plan) for place, env in enumerate(self.envs)]
        self._same_step = mode is AutoresetMode.SAME_STEP
        for place, env in enumerate(self.envs):
            if (env.observation_space, env.action_space) != (self.first.observation_space, self.first.action_space):
                raise InvalidSpace(f"lane {place}: expected the spaces of lane 0, got others")
        self.observation_space = self.first.observation_space.batch(request.lanes)
        self.action_space = self.first.action_space.batch(request.lanes)
        self.entries: list[Entry] = []
        """What the lanes said in the last call."""
        self._last: list[Any] = [None] * request.lanes
        count = request.lanes
        self.rewards, (self.terminated, self.truncated) = np.zeros(count), np.zeros((2, count), dtype=np.bool_)

    def plan(self, plans: list[Plan]) -> None:
        """Remember how the next episode of some lanes is to begin."""
        for lane, seed, options in plans:
            self._planned[lane] = Episode(decode_value(seed, "seed"), decode_value(options, "options"))

    def reset(self, places: list[int], seeds: list[int | None], options: dict[str, Any] | None) -> Any:
        """Reset these lanes; the observations of all."""
        self.entries = []
        for place, seed in zip(places, seeds, strict=True):
            self._last[place], info = self._lanes[place].reset(seed, options)
            self._enter(place, info, False)
        return self._stacked()

    def begin(self) -> Any:
        """Begin an episode in every lane as autoreset does, as planned; the observations of all."""
        self.entries = []
        for place, lane in enumerate(self._lanes):
            lane.ended = True
            self._last[place], _, _, _, info = lane.step(None)
            self._enter(place, info, False)
        return self._stacked()

    def step(self, actions: list[Any]) -> Any:
        """Step every lane; the observations."""
        self.entries = []
        for place, (lane, action) in enumerate(zip(self._lanes, actions, strict=True)):
            outcome = lane.step(action)
            self._last[place], self.rewards[place], self.terminated[place], self.truncated[place], info = outcome
            self._enter(place, info, self._same_step and bool(self.terminated[place] or self.truncated[place]))
        return self._stacked()

    def _enter(self, place: int, info: dict[str, Any], final: bool) -> None:
        if final:
            rest = {name: value for name, value in info.items() if name != "final_obs"}
            self.entries.append((place, rest, [info["final_obs"]]))
        elif info:
            self.entries.append((place, info, []))

    def _stacked(self) -> Any:
        """The observations of all lanes; of those that were never reset, whatever: nobody is shown it."""
        space, any_one = self.first.observation_space, next(one for one in self._last if one is not None)
        lanes = [any_one if one is None else one for one in self._last]
        return space.concatenate(lanes, space.empty(len(lanes)))

    def render(self) -> list[Any]:
        """The picture of each lane."""
        return [env.render() for env in self.envs]

    def close(self) -> None:
        """Close every lane."""
        for env in self.envs:
            env.close()

    def snapshot(self) -> tuple[list[Snapshot], list[Any], list[Any]]:
        """The state of each lane, to `restore` any number of times."""
        return [env.snapshot() for env in self.envs], [lane.state() for lane in self._lanes], list(self._last)

    def restore(self, snapshot: tuple[list[Snapshot], list[Any], list[Any]]) -> None:
        """Go back to a snapshot; what was planned since is planned again by the other side."""
        snapshots, states, last = snapshot
        for env, lane, one, state in zip(self.envs, self._lanes, snapshots, states, strict=True):
            env.restore(one)
            lane.take(state)
        self._last = list(last)
        self._planned.clear()
