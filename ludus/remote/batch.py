"""`ProxyVectorEnv`: a batch that is somewhere else, in one place or in several, each of which steps its share."""

from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any, Never, TypeVar, cast

import numpy as np
import numpy.typing as npt

from ludus.core import AutoresetMode, EnvSpec, EpisodePlan, Info, Step
from ludus.core.env import ActT, ObsT_co
from ludus.core.info import lane_info
from ludus.core.options import Options
from ludus.core.snapshot import Memo
from ludus.errors import ContractViolation, EnvError, InvalidAction, LudusError, SessionLost, shorten
from ludus.remote.codec import ARRAYS, BatchCodec, travelling
from ludus.remote.columns import Columns, ColumnsState
from ludus.remote.lane_group import LaneGroup
from ludus.remote.link import LinkEnded
from ludus.remote.snapshots import SnapshotHandle
from ludus.seeding import Seed, derived_stream, lane_seeds, np_random
from ludus.spaces import Space
from ludus.spaces.kinds import is_array, is_dict, is_list, is_list_or_tuple
from ludus.vector.actions import check_choices
from ludus.vector.lanes import LaneVectorEnv
from ludus.wire.messages import CallRequest, GetRequest, HostRequest, RenderRequest, SetRequest, StateRequest

__all__ = ["ProxyVectorEnv"]

Mask = npt.NDArray[np.bool_]
ShareT = TypeVar("ShareT", bound=LaneGroup)
NamedStreams = dict[str, tuple[np.random.Generator, ...]]
"""By its name, the stream of each lane."""
ProxyBatchState = tuple[
    list[SnapshotHandle],
    list[object],
    tuple[ColumnsState, Mask, NamedStreams | None],
    tuple[Space[object], Space[object]],
]
"""What a snapshot holds: of each share its handle and its last observations, then what this side knows of the lanes."""


class ProxyVectorEnv(LaneVectorEnv[ObsT_co, ActT]):
    """Lanes at the other end of links, each with its share of them. Histories are those of one process.

    The other side of a link that ends cuts the episodes of its lanes; they begin anew where autoreset, or `reset`,
    begins them.
    """

    executor = "remote"
    _lane_streams: NamedStreams | None = None

    def __init__(
        self,
        shares: Sequence[LaneGroup[ObsT_co, ActT]],
        codec: BatchCodec[ObsT_co, ActT],
        *,
        episodes: EpisodePlan | None = None,
        spec: EnvSpec | None = None,
    ) -> None:
        self._shares, self._codec, self.spec, self.episodes = list(shares), codec, spec, episodes
        self.num_envs, self._mode = codec.num_envs, codec.autoreset_mode
        self._begun = np.zeros(self.num_envs, dtype=np.bool_)
        self._columns = Columns(self.num_envs, episodes)
        self._describe(codec.metadata, codec.render_mode, (codec.single_observation_space, codec.single_action_space))
        self.observation_space, self.action_space = codec.observation_space, codec.action_space
        self._arrays = isinstance(self.action_space, ARRAYS)

    # --- the episodes ---

    def reset(
        self, *, seed: Seed | Sequence[Seed | None] | None = None, options: Options | None = None
    ) -> tuple[ObsT_co, Info]:
        """Reset every lane, or those of `options["reset_mask"]`; lane `i` is seeded with `seed + i`."""
        self._check_open("reset")
        mask, rest = self.reset_mask(options)
        seeds, columns = lane_seeds(seed, self.num_envs), self._columns
        travelling(rest, "options")
        concerned = [share for share in self._shares if mask[share.lanes].any()]
        for share in concerned:
            share.check_whole(mask)
        self._check_each_begun(self._begun | mask)
        columns.seeded(mask, seeds)
        if seed is not None:
            self._lane_streams = None
        try:
            self._reset(concerned, mask, seeds, rest)
        except SessionLost:  # it is gone, and this is how one hears of it
            if not mask.all() or any(share.link.alive for share in concerned):
                raise
            self._reset(concerned, mask, seeds, rest)
        columns.ended[mask], self._begun[mask] = False, True
        self._interrupted = False
        return self._joined(), self._infos(concerned)

    def _reset(
        self, shares: Sequence[LaneGroup[ObsT_co, ActT]], mask: Mask, seeds: list[int | None], options: Options | None
    ) -> None:
        self._round(
            shares,
            lambda share: share.post_reset(self._columns, mask, seeds, options),
            lambda share: share.collect_reset(),
        )

    def step(self, action: ActT) -> Step[ObsT_co]:
        """Advance every lane; ended lanes are reset as the autoreset mode says."""
        self._check_open("step")
        self._check_begun("step")
        self._check_under_way("step", np.flatnonzero(self._columns.ended))
        return self._stepped(self._written(action), None)

    def step_masked(self, action: ActT, mask: Mask) -> Step[ObsT_co]:
        """Advance the lanes of `mask`; the others stay exactly as they are."""
        self._check_open("step_masked")
        self._check_begun("step_masked")
        self._check_under_way("step_masked", np.flatnonzero(self._columns.ended & mask))
        return self._stepped(self._written(action, mask), mask)

    def _written(self, action: object, mask: Mask | None = None) -> list[object]:
        """The actions of each share as data; InvalidAction before any lane moves."""
        if not self._arrays:
            lanes = self._split(action, self.action_space, self.num_envs)
            if mask is not None:  # what stays where it is may be given anything
                valid = next(one for one, moves in zip(lanes, mask, strict=True) if moves)
                lanes = [one if moves else valid for one, moves in zip(lanes, mask, strict=True)]
            if self._typed:
                if len(self._shares) > 1:  # else they are looked at as they are written
                    lanes = list(self._coerced(dict(enumerate(lanes))).values())
            elif self._chooses:
                one = self.single_action_space
                for lane, given in enumerate(lanes):
                    check_choices(one, one, given, f"action[{lane}]")
            return [share.write(self._stacked(lanes[share.lanes])) for share in self._shares]
        found = self._codec.as_array(action)
        if mask is not None and not mask.all():
            found = np.array(found)
            found[~mask] = found[mask][:1]
        self._check_choices(found, self.action_space)
        return [share.write(found[share.lanes]) for share in self._shares]

    def _stacked(self, lanes: list[object]) -> object:
        """The actions of some lanes as a batch of them."""
        single = self.single_action_space
        try:
            return single.concatenate(lanes, single.empty(len(lanes)))
        except (TypeError, ValueError, KeyError) as error:
            raise InvalidAction(f"action: expected {single!r} for each lane, got {shorten(lanes)}: {error}") from error

    def _stepped(self, data: list[object], mask: Mask | None) -> Step[ObsT_co]:
        columns, moved = self._columns, [one for one in self._shares if mask is None or mask[one.lanes].any()]
        actions = {id(share): one for share, one in zip(self._shares, data, strict=True)}
        self._round(
            moved,
            lambda share: share.post_step(columns, actions[id(share)], mask),
            lambda share: share.collect_step(columns, self._mode, mask),
        )
        observations = self._joined()
        rewards, terminated, truncated = self._flags(moved)
        done = terminated | truncated
        if self._mode is AutoresetMode.SAME_STEP:
            columns.ended[:] = False
        elif mask is None:
            columns.ended = done
        else:
            columns.ended = np.where(mask, done, columns.ended)
        return Step(observations, rewards, terminated, truncated, self._infos(moved))

    def autoreset(self, mask: Mask) -> tuple[ObsT_co, Info]:
        """Begin the next episode in these lanes, as autoreset begins it."""
        self._check_open("autoreset")
        self._check_begun("autoreset")
        columns, concerned = self._columns, [share for share in self._shares if mask[share.lanes].any()]
        self._round(concerned, lambda share: share.post_autoreset(columns, mask), lambda share: share.collect_reset())
        columns.ended[mask] = False
        return self._joined(), self._infos(concerned)

    def _round(
        self,
        shares: Sequence[LaneGroup[ObsT_co, ActT]],
        post: Callable[[LaneGroup[ObsT_co, ActT]], None],
        collect: Callable[[LaneGroup[ObsT_co, ActT]], None],
    ) -> None:
        """Post to every share, then collect from each, whatever happens in others: no reply is left waiting."""
        failures: list[LudusError] = []
        try:
            posted = [share for share in shares if _succeeds(post, share, failures)]
            for share in posted:
                _succeeds(collect, share, failures)
        except BaseException:  # an interrupt: replies that are under way would be taken for others
            for share in shares:
                share.link.abandon()
            self._interrupted = True
            raise
        if failures:
            raise failures[0]

    def _joined(self) -> ObsT_co:
        """The observations of all lanes, new to the caller."""
        parts = [share.observations() for share in self._shares]
        if len(parts) == 1:
            return parts[0]
        arrays = [part for part in parts if is_array(part)]
        if len(arrays) == len(parts):
            return cast("ObsT_co", np.concatenate(arrays))  # lanes of arrays are arrays, together
        single = self.single_observation_space
        lanes = [lane for share, part in zip(self._shares, parts, strict=True) for lane in share.space.iterate(part)]
        return single.concatenate(lanes, single.empty(len(lanes)))

    def _flags(self, moved: Sequence[LaneGroup[ObsT_co, ActT]]) -> tuple[npt.NDArray[np.float64], Mask, Mask]:
        if len(self._shares) == 1:
            return moved[0].rewards, moved[0].terminated, moved[0].truncated
        rewards = np.zeros(self.num_envs)
        terminated, truncated = np.zeros(self.num_envs, np.bool_), np.zeros(self.num_envs, np.bool_)
        for share in moved:
            rewards[share.lanes] = share.rewards
            terminated[share.lanes], truncated[share.lanes] = share.terminated, share.truncated
        return rewards, terminated, truncated

    def _infos(self, shares: Sequence[LaneGroup[ObsT_co, ActT]]) -> Info:
        """What the lanes say, joined as one process would join it."""
        if len(self._shares) == 1:
            return shares[0].infos
        joined: Info = {}
        for share in shares:
            for lane in range(share.count) if share.infos else ():
                self._add_info(joined, lane_info(share.infos, lane), share.begin + lane)
        return joined

    # --- the rest ---

    def render(self) -> tuple[Any, ...]:
        """The picture of each lane."""
        return self._each_lane(RenderRequest(), "render")

    def close_extras(self, **kwargs: object) -> None:
        """Close every lane, and end the other sides."""
        del kwargs
        failures: list[LudusError] = []
        for share in self._shares:
            _succeeds(lambda one: one.link.close(), share, failures)
        if failures:
            raise failures[0]

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """The attribute of each lane, where it is data."""
        return self._each_lane(GetRequest(name), name)

    def set_attr(self, name: str, values: object) -> None:
        """Set the attribute on each lane: one value for all, or a list or tuple with one for each."""
        each = self._one_for_each(name, values)
        for share in self._shares:
            share.value(SetRequest(name, travelling(each[share.lanes], name), True), name)

    def call(self, name: str, /, *args: object, **kwargs: object) -> tuple[Any, ...]:
        """What the method `name` of each lane returns for these arguments, all of which is data; or the attribute."""
        given = [travelling(one, f"{name} argument {place}") for place, one in enumerate(args)]
        named = {key: travelling(one, f"{name} argument {key}") for key, one in kwargs.items()}
        return self._each_lane(CallRequest(name, given, named), name)

    def state_data(self, *, private: bool = False) -> Info:
        """What each lane shows of its episode."""
        found: list[object] = []
        for share in self._shares:
            state = share.value(StateRequest(private), "state")
            if not is_dict(state) or not is_list(lanes := state.get("lanes", [])):
                raise ContractViolation(f"{share.link.name}.state: expected one for each lane, got {shorten(state)}")
            if len(self._shares) == 1:
                return state
            found += lanes
        return {"lanes": found}

    def _each_lane(self, request: HostRequest, name: str) -> tuple[object, ...]:
        found: list[object] = []
        for share in self._shares:
            values = share.value(request, name)
            if not is_list_or_tuple(values) or len(values) != share.count:
                raise ContractViolation(f"{name}: expected {share.count} values, got {shorten(values)}")
            found += values
        return tuple(found)

    # --- randomness: streams live with the lanes ---

    @property
    def np_random(self) -> Never:
        """Refused: the generators are on the other side."""
        raise EnvError(
            "np_random: expected np_random_seed or stream(name), got the generators, which live with the lanes, in "
            "another process"
        )

    @np_random.setter
    def np_random(self, value: object) -> None:
        raise EnvError(f"np_random: expected reset(seed=…), got {shorten(value)}, which cannot travel")

    def stream(self, name: str) -> tuple[np.random.Generator, ...]:
        """The stream `name` of each lane, derived from its seed; it is this side's."""
        if self._lane_streams is None:
            self._lane_streams = {}
        if name not in self._lane_streams:
            seeds: tuple[int, ...] = self.np_random_seed
            self._lane_streams[name] = tuple(
                derived_stream(np_random(None if one == -1 else one)[0], name) for one in seeds
            )
        return self._lane_streams[name]

    # --- snapshots ---

    def _capture(self, memo: Memo) -> "ProxyBatchState":
        del memo
        for space in (self.observation_space, self.action_space):
            space.ensure_seeded()
        handles, last = [SnapshotHandle(share.link) for share in self._shares], [share.last for share in self._shares]
        return handles, last, deepcopy((self._columns.state(), self._begun, self._lane_streams)), self._space_state()

    def _reinstate(self, state: "ProxyBatchState", memo: Memo) -> None:
        del memo
        handles, last, mine, spaces = state
        for handle, share in zip(handles, self._shares, strict=True):
            handle.restore(share.link)
        columns, self._begun, self._lane_streams = deepcopy(mine)
        self._columns.take_state(columns)
        for share, data in zip(self._shares, last, strict=True):
            share.last = data
        self._take_spaces(spaces)

    def _known(self, lanes: Sequence[int]) -> tuple[ColumnsState, Mask]:
        """What this side knows of some lanes, for a batch that goes on from them."""
        ended, numbers, seeds, restarts = self._columns.state()
        chosen = list(lanes)
        mine = (
            ended[chosen].copy(),
            numbers[chosen].copy(),
            [seeds[one] for one in chosen],
            [restarts[one] for one in chosen],
        )
        return mine, self._begun[chosen].copy()

    def _take_known(self, known: tuple[ColumnsState, Mask]) -> None:
        """Go on from lanes of another batch."""
        columns, self._begun = known
        self._columns.take_state(columns)


def _succeeds(do: Callable[[ShareT], None], share: ShareT, failures: list[LudusError]) -> bool:
    try:
        do(share)
    except LinkEnded as ended:
        failures.append(ended.error(share.link.name))
        return False
    except LudusError as error:
        failures.append(error)
        return False
    return True
