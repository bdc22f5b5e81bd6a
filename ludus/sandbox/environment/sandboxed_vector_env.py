"""`SandboxedVectorEnv`: a batch whose lanes live in confined processes, each of which steps its share in one frame."""

from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any

import numpy as np

from ludus.core import AutoresetMode, EnvSpec, EpisodePlan, Info, Step
from ludus.errors import (
    ContractViolation,
    EnvError,
    InvalidSpace,
    LudusError,
    shorten,
)
from ludus.sandbox.backend import Guarantees, Usage
from ludus.sandbox.environment.columns import Columns
from ludus.sandbox.environment.handle import Handle
from ludus.sandbox.environment.resident import Resident, travelling
from ludus.sandbox.environment.share import Share
from ludus.seeding import Seed, derived_stream, lane_seeds, np_random
from ludus.vector.lanes import LaneVectorEnv
from ludus.wire.message import GetRequest, RenderRequest, SetRequest, StateRequest

__all__ = ["SandboxedVectorEnv"]


class SandboxedVectorEnv(LaneVectorEnv):
    """Lanes behind walls: `workers` processes, each with its share of the lanes. Histories are those of one process.

    A process that ends, or takes too long, cuts the episodes of its lanes, as in `SandboxedEnv`; a new one takes its
    place when they are reset.

    >>> from ludus.sandbox.environment import confine_vec
    >>> envs = confine_vec("GridWorld-v0", {"size": 3}, "process", num_envs=3, workers=2)
    >>> envs.reset(seed=0)[1]["goal"]
    array([[2, 1],
           [1, 1],
           [2, 1]])
    >>> envs.step([1, 1, 0]).observation
    array([[1, 0],
           [1, 0],
           [0, 0]])
    >>> envs.close()
    """

    executor = "sandbox"

    def __init__(
        self,
        residents: Sequence[Resident],
        sizes: Sequence[int],
        *,
        autoreset_mode: AutoresetMode,
        episodes: EpisodePlan | None = None,
        spec: EnvSpec | None = None,
    ) -> None:
        self._residents, self._mode, self.episodes, self.spec = list(residents), autoreset_mode, episodes, spec
        self.num_envs = sum(sizes)
        self._begun = np.zeros(self.num_envs, dtype=np.bool_)
        self._columns = Columns(self.num_envs, autoreset_mode, episodes, self._add_info)
        try:
            self._open(sizes)
        except BaseException:
            for resident in self._residents:
                resident.abandon()
            raise

    def _open(self, sizes: Sequence[int]) -> None:
        """Start every process, then wait for each: they import at the same time."""
        for resident in self._residents:
            resident.start()
        made = [resident.greet() for resident in self._residents]
        for number, one in enumerate(made):
            if (one.observation_space, one.action_space) != (made[0].observation_space, made[0].action_space):
                raise InvalidSpace(f"process {number}: expected the spaces of process 0, got others")
        first = self._residents[0]
        observed, acted = first.space("observation_space"), first.space("action_space")
        self._describe(first.metadata(), first.render_mode(), (observed, acted))
        self._shares = [
            Share(resident, int(end - size), int(end), observed, acted)
            for resident, size, end in zip(self._residents, sizes, np.cumsum(sizes), strict=True)
        ]

    # --- the episode ---

    def reset(
        self, *, seed: Seed | Sequence[Seed | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, Info]:
        """Reset every lane, or those of `options["reset_mask"]`; lane `i` is seeded with `seed + i`."""
        self._check_open("reset")
        mask, rest = self.reset_mask(options)
        seeds, given, columns = lane_seeds(seed, self.num_envs), travelling(rest, "options"), self._columns
        concerned = [share for share in self._shares if mask[share.lanes].any()]
        for share in concerned:
            share.check_whole(mask)
        columns.clear()
        columns.seeded(mask, seeds)
        if seed is not None:
            self._streams = None
        self._round(
            concerned,
            lambda share: share.post_reset(columns, mask, seeds, given),
            lambda share: share.collect_reset(columns),
        )
        columns.ended[mask], self._begun[mask] = False, True
        self._check_all_begun()
        return self._joined(), columns.infos

    def step(self, action: Any) -> Step[Any]:
        """Advance every lane; ended lanes are reset as the autoreset mode says."""
        self._check_open("step")
        columns = self._columns
        self._check_begun("step")
        self._check_under_way("step", np.flatnonzero(columns.ended))
        lanes = self._actions(action)
        actions = action if type(action) is np.ndarray else lanes
        requests = {share.begin: share.request(actions, columns) for share in self._shares}
        columns.clear()
        self._round(
            self._shares,
            lambda share: share.post_step(requests[share.begin], columns),
            lambda share: share.collect_step(columns),
        )
        done = columns.terminated | columns.truncated
        columns.ended = np.zeros_like(done) if self._mode is AutoresetMode.SAME_STEP else done
        return Step(self._joined(), columns.rewards, columns.terminated, columns.truncated, columns.infos)

    def _round(self, shares: Sequence[Share], post: Callable[[Share], None], collect: Callable[[Share], None]) -> None:
        """Post to every share, then collect from each, whatever happens in others: no reply is left waiting."""
        failures: list[LudusError] = []
        try:
            posted = [share for share in shares if _succeeds(post, share, failures)]
            for share in posted:
                _succeeds(collect, share, failures)
        except BaseException:  # an interrupt: replies that are under way would be taken for others
            for share in shares:
                share.resident.abandon()
            self._interrupted = True
            raise
        if failures:
            raise failures[0]

    def _joined(self) -> Any:
        """The observations of all lanes, new to the caller."""
        parts = [share.observations() for share in self._shares]
        if len(parts) == 1:
            return parts[0]
        if all(type(part) is np.ndarray for part in parts):
            return np.concatenate(parts)
        single = self.single_observation_space
        lanes = [lane for share, part in zip(self._shares, parts, strict=True) for lane in share.space.iterate(part)]
        return single.concatenate(lanes, single.empty(len(lanes)))

    # --- the rest ---

    def render(self) -> tuple[Any, ...]:
        """The picture of each lane."""
        return self._each_lane(RenderRequest(), "render")

    def close_extras(self, **kwargs: Any) -> None:
        """Close every lane, and end every process."""
        del kwargs
        failures: list[LudusError] = []
        for resident in self._residents:
            try:
                resident.close()
            except LudusError as error:
                failures.append(error)
        if failures:
            raise failures[0]

    @property
    def guarantees(self) -> Guarantees:
        """What is in force for its processes, which are confined alike."""
        found: Any = self._residents[0].tenant or self._residents[0].last
        return found.guarantees

    def usage(self) -> tuple[Usage, ...]:
        """What each process has used so far, or did use."""
        return tuple(tenant.usage() for one in self._residents if (tenant := one.tenant or one.last) is not None)

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """The attribute of each lane, where it is data."""
        return self._each_lane(GetRequest(name), name)

    def set_attr(self, name: str, values: Any) -> None:
        """Set the attribute on each lane: one value for all, or a list or tuple with one for each."""
        each = self._one_for_each(name, values)
        for share in self._shares:
            share.value(SetRequest(name, travelling(each[share.lanes], name), True), name)

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """The attribute of each lane; calls do not cross the wall."""
        if args or kwargs:
            raise EnvError(
                f"call {name}: expected an attribute that is data, got arguments; calls do not cross the wall"
            )
        return self.get_attr(name)

    def state_data(self, *, private: bool = False) -> dict[str, Any]:
        """What each lane shows of its episode."""
        return {"lanes": list(self._each_lane(StateRequest(private), "state"))}

    def interrupt(self) -> None:
        """Kill its processes, from whichever thread: the step that is under way in another ends as truncated."""
        for resident in list(self._residents):
            resident.interrupt()

    def _each_lane(self, request: Any, name: str) -> tuple[Any, ...]:
        found: list[Any] = []
        for share in self._shares:
            values = share.value(request, name)
            if not isinstance(values, list | tuple) or len(values) != share.count:
                raise ContractViolation(f"{name}: expected {share.count} values, got {shorten(values)}")
            found += values
        return tuple(found)

    # --- randomness: streams live with the lanes ---

    @property
    def np_random(self) -> Any:
        """Refused: the generators are behind the wall."""
        raise EnvError(
            "np_random: expected np_random_seed or stream(name), got the generators, which live behind the wall"
        )

    @np_random.setter
    def np_random(self, value: Any) -> None:
        raise EnvError(f"np_random: expected reset(seed=…), got {shorten(value)}, which cannot travel")

    @property
    def np_random_seed(self) -> Any:
        """The seed of each lane, as it says."""
        return self.get_attr("np_random_seed")

    def stream(self, name: str) -> Any:
        """The stream `name` of each lane, derived from its seed; it is this side's."""
        if self._streams is None:
            self._streams = {}
        if name not in self._streams:
            seeds: Any = self.np_random_seed
            streams: Any = tuple(derived_stream(np_random(None if one == -1 else one)[0], name) for one in seeds)
            self._streams[name] = streams
        return self._streams[name]

    # --- snapshots ---

    def _capture(self, memo: dict[int, Any]) -> Any:
        del memo
        for space in (self.observation_space, self.action_space):
            space.settle()
        handles, last = [Handle(one) for one in self._residents], [share.last for share in self._shares]
        return handles, last, deepcopy((self._columns.state(), self._begun, self._streams)), self._space_state()

    def _reinstate(self, state: Any, memo: dict[int, Any]) -> None:
        del memo
        handles, last, mine, spaces = state
        for handle, resident in zip(handles, self._residents, strict=True):
            handle.restore(resident)
        columns, self._begun, self._streams = deepcopy(mine)
        self._columns.take_state(columns)
        for share, data in zip(self._shares, last, strict=True):
            share.last = data
        self._take_spaces(spaces)


def _succeeds(do: Callable[[Share], None], share: Share, failures: list[LudusError]) -> bool:
    try:
        do(share)
    except LudusError as error:
        failures.append(error)
        return False
    return True
