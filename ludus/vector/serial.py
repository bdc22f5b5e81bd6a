"""The serial executor: lanes stepped one after another in this process."""

from collections.abc import Iterator, Sequence
from copy import deepcopy
from typing import Any

import numpy as np
import numpy.typing as npt

from ludus.core import AutoresetMode, EpisodePlan, Info, Step
from ludus.core.env import ActT, AnyEnv, ObsT_co
from ludus.core.options import Options
from ludus.core.snapshot import Snapshot
from ludus.errors import InvalidSpace
from ludus.seeding import Seed, lane_seeds
from ludus.spaces import Space
from ludus.spaces.array_space import Array
from ludus.vector.lane import Lane, LaneState, LaneStep, Maker, make_envs
from ludus.vector.lanes import LaneVectorEnv

__all__ = ["SerialVectorEnv"]

Flags = npt.NDArray[np.bool_]
Buffers = tuple[list[object], list[LaneState], npt.NDArray[np.float64], Flags, Flags, Flags]
"""The last observations, where lanes are in their episodes, rewards, terminated, truncated and begun."""
SerialState = tuple[list[Snapshot], Buffers, tuple[Space[object], Space[object]]]
"""A snapshot of each lane, the batch's own part, and the spaces."""
ExportedLane = tuple[Snapshot, object, LaneState, list[np.generic]]
"""A lane's snapshot, its last observation, where it is in its episodes, and its part of the arrays."""


class SerialVectorEnv(LaneVectorEnv[ObsT_co, ActT]):
    """A batch of environments of this process, the reference that every other executor agrees with.

    >>> from ludus.envs.teaching.grid_world import GridWorld
    >>> envs = SerialVectorEnv([GridWorld, GridWorld, GridWorld])
    >>> observations, infos = envs.reset(seed=0)
    >>> envs.step([1, 3, 0]).observation
    array([[1, 0],
           [0, 1],
           [0, 0]])
    """

    executor = "serial"

    def __init__(
        self,
        env_fns: Sequence[Maker],
        *,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        copy: bool = True,
        episodes: EpisodePlan | None = None,
    ) -> None:
        self._accept(env_fns, autoreset_mode, copy, episodes)
        self._open(make_envs(self._makers))

    def _open(self, envs: list[AnyEnv]) -> None:
        """Take these lanes, and make spaces and buffers for them."""
        self.envs, self.num_envs, first = envs, len(envs), envs[0]
        self._describe(first.metadata, first.render_mode, (first.observation_space, first.action_space))
        self._require_equal_spaces()
        self._lanes = [Lane(env, place, self._mode, self.episodes) for place, env in enumerate(envs)]
        self._last: list[object] = [None] * self.num_envs
        self._observations = self.single_observation_space.empty(self.num_envs)
        self._rewards = np.zeros(self.num_envs)
        self._terminated = np.zeros(self.num_envs, dtype=np.bool_)
        self._truncated = np.zeros(self.num_envs, dtype=np.bool_)
        self._begun = np.zeros(self.num_envs, dtype=np.bool_)

    def _require_equal_spaces(self) -> None:
        for lane, env in enumerate(self.envs):
            for name in ("observation_space", "action_space"):
                expected, found = getattr(self, f"single_{name}"), getattr(env, name)
                if expected != found:
                    raise InvalidSpace(f"lane {lane}: expected the {name} of lane 0, {expected!r}, got {found!r}")

    @property
    def _ended(self) -> npt.NDArray[np.bool_]:
        return np.array([lane.ended for lane in self._lanes])

    # --- the episode ---

    def reset(
        self, *, seed: Seed | Sequence[Seed | None] | None = None, options: Options | None = None
    ) -> tuple[ObsT_co, Info]:
        """Reset every lane, or those of `options["reset_mask"]`; lane `i` is seeded with `seed + i`."""
        self._check_open("reset")
        mask, rest = self.reset_mask(options)
        seeds = lane_seeds(seed, self.num_envs)
        infos: Info = {}
        for lane, (observation, info) in self._resetting([int(one) for one in np.flatnonzero(mask)], seeds, rest):
            self._last[lane] = observation
            self._add_info(infos, info, lane)
        self._terminated[mask] = self._truncated[mask] = False
        self._begun |= mask
        self._check_all_begun()
        return self._stacked(), infos

    def _resetting(
        self, places: list[int], seeds: list[int | None], options: Options | None
    ) -> Iterator[tuple[int, tuple[object, Info]]]:
        """Reset these lanes, and give what each gave, in order."""
        for place in places:
            yield place, self._lanes[place].reset(seeds[place], options)

    def step(self, action: ActT) -> Step[ObsT_co]:
        """Advance every lane; ended lanes are reset as the autoreset mode says."""
        self._check_open("step")
        self._check_begun("step")
        if self._mode is AutoresetMode.DISABLED:
            self._check_under_way("step", np.flatnonzero(self._ended))
        return self._stepped(dict(enumerate(self._actions(action))))

    def _stepped(self, actions: dict[int, object]) -> Step[ObsT_co]:
        infos: Info = {}
        last, earned, ends, cuts = self._last, list[float](), list[bool](), list[bool]()
        add_reward, add_end, add_cut = earned.append, ends.append, cuts.append
        for lane, outcome in self._stepping(actions):
            last[lane], reward, terminated, truncated, info = outcome
            add_reward(reward)
            add_end(terminated)
            add_cut(truncated)
            if info:
                self._add_info(infos, info, lane)
        buffers = (self._rewards, self._terminated, self._truncated)
        places = slice(None) if len(actions) == self.num_envs else list(actions)
        for buffer, column in zip(buffers, (earned, ends, cuts), strict=True):
            buffer[places] = column  # at once: an item of an array costs more than one of a list
        rewards, terminated, truncated = (one.copy() for one in buffers)
        return Step(self._stacked(), rewards, terminated, truncated, infos)

    def _stepping(self, actions: dict[int, object]) -> Iterator[tuple[int, LaneStep]]:
        """Step these lanes, and give what each gave, in order."""
        for place, action in actions.items():
            yield place, self._lanes[place].step(action)

    def step_masked(self, action: ActT, mask: npt.NDArray[np.bool_]) -> Step[ObsT_co]:
        """Advance the lanes of the mask; the others stay as they are."""
        if self.lane_mask(mask).all():
            return self.step(action)
        self._check_open("step_masked")
        self._check_begun("step_masked")
        if self._mode is AutoresetMode.DISABLED:
            self._check_under_way("step_masked", np.flatnonzero(self._ended & mask))
        actions = self._masked_actions(action, mask)
        self._rewards[~mask] = 0.0
        self._terminated[~mask] = self._truncated[~mask] = False
        return self._stepped(actions)

    def autoreset(self, mask: npt.NDArray[np.bool_]) -> tuple[ObsT_co, Info]:
        """Begin the next episode in the lanes of the mask, as planned."""
        self._check_open("autoreset")
        if not self.lane_mask(mask).all():  # all of them may begin so
            self._check_begun("autoreset")
        infos: Info = {}
        for lane, (observation, info) in self._beginning([int(one) for one in np.flatnonzero(mask)]):
            self._last[lane] = observation
            self._add_info(infos, info, lane)
        self._terminated[mask] = self._truncated[mask] = False
        self._begun |= mask
        return self._stacked(), infos

    def _beginning(self, places: list[int]) -> Iterator[tuple[int, tuple[object, Info]]]:
        """Begin the next episode in these lanes, and give what each gave, in order."""
        for place in places:
            yield place, self._lanes[place].begin()

    def _stacked(self) -> ObsT_co:
        self._observations = self.single_observation_space.concatenate(self._last, self._observations)
        return deepcopy(self._observations) if self.copy else self._observations

    def render(self) -> tuple[Any, ...]:
        """The picture of each lane."""
        self._check_open("render")
        return tuple(env.render() for env in self.envs)

    def close_extras(self, **kwargs: object) -> None:
        """Close every lane."""
        del kwargs
        for env in self.envs:
            env.close()

    # --- lanes from outside ---

    def call(self, name: str, /, *args: object, **kwargs: object) -> tuple[Any, ...]:
        """The attribute `name` of each lane, called with these arguments if it can be."""
        self._check_open(name)
        found = [env.get_wrapper_attr(name) for env in self.envs]
        return tuple(one(*args, **kwargs) if callable(one) else one for one in found)

    def set_attr(self, name: str, values: object) -> None:
        """Set the attribute on each lane: one value for all, or a list or tuple with one for each."""
        self._check_open(name)
        for env, value in zip(self.envs, self._one_for_each(name, values), strict=True):
            env.set_wrapper_attr(name, value)

    # --- snapshots: lane by lane, so that each lane's own rules hold ---

    def _capture(self, memo: dict[int, object]) -> SerialState:
        del memo
        return [env.snapshot() for env in self.envs], deepcopy(self._buffers()), self._space_state()

    def _reinstate(self, state: SerialState, memo: dict[int, object]) -> None:
        del memo
        snapshots, buffers, spaces = state
        for env, snapshot in zip(self.envs, snapshots, strict=True):
            env.restore(snapshot)
        self._take(deepcopy(buffers))
        self._take_spaces(spaces)

    def _buffers(self) -> Buffers:
        columns = (self._rewards, self._terminated, self._truncated, self._begun)
        return self._last, [lane.state() for lane in self._lanes], *columns

    def _take(self, buffers: Buffers) -> None:
        self._last, states, self._rewards, self._terminated, self._truncated, self._begun = buffers
        for lane, state in zip(self._lanes, states, strict=True):
            lane.take(state)

    def fork(self, lanes: Sequence[int] | Array) -> "SerialVectorEnv[ObsT_co, ActT]":
        """A new batch whose lane `j` goes on from where lane `lanes[j]` is; each lane is made anew and restored."""
        self._check_open("fork")
        chosen = [int(lane) for lane in self._forked_lanes(lanes)]
        twin = self._alike([self._makers[lane] for lane in chosen])
        for lane, env in zip(chosen, twin.envs, strict=True):
            env.restore(self.envs[lane].snapshot())
        last, states, rewards, *flags = self._buffers()
        terminated, truncated, begun = (column[chosen] for column in flags)
        twin._take(
            (
                [deepcopy(last[lane]) for lane in chosen],
                [deepcopy(states[lane]) for lane in chosen],
                rewards[chosen],
                terminated,
                truncated,
                begun,
            )
        )
        twin.spec = self.spec
        return twin

    def export_lanes(self, lanes: Sequence[int]) -> list[ExportedLane]:
        """Where some lanes are, each by itself, for `import_lanes` of a batch made alike."""
        last, states, *columns = self._buffers()
        return [
            (self.envs[lane].snapshot(), deepcopy(last[lane]), states[lane], [column[lane] for column in columns])
            for lane in lanes
        ]

    def import_lanes(self, states: Sequence[ExportedLane]) -> None:
        """Go on from where lanes of others were: lane `j` from `states[j]`."""
        for env, (snapshot, *_) in zip(self.envs, states, strict=True):
            env.restore(snapshot)
        columns = (np.array(column) for column in zip(*(one[3] for one in states), strict=True))
        rewards, terminated, truncated, begun = columns
        self._take(([one[1] for one in states], [one[2] for one in states], rewards, terminated, truncated, begun))

    def _alike(self, makers: list[Maker]) -> "SerialVectorEnv[ObsT_co, ActT]":
        """A batch of other lanes that is run as this one is."""
        return SerialVectorEnv(makers, autoreset_mode=self._mode, copy=self.copy, episodes=self.episodes)
