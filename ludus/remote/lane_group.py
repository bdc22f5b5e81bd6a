"""`LaneGroup`: the lanes of a batch at the other end of one link, and what they gave last."""

from typing import Generic

import numpy as np
import numpy.typing as npt

from ludus.core import AutoresetMode, Info, Outcome
from ludus.core.env import ActT, ObsT_co
from ludus.core.info import add_outcome
from ludus.core.lane_options import part_options
from ludus.core.options import Options
from ludus.errors import ResetNeeded
from ludus.remote.codec import BatchCodec, travelling
from ludus.remote.columns import Columns
from ludus.remote.link import Link, LinkEnded
from ludus.spaces.kinds import is_dict
from ludus.wire.messages import (
    AutoresetRequest,
    BatchReply,
    BatchResetRequest,
    BatchStepReply,
    BatchStepRequest,
    HostRequest,
    ValueReply,
)

__all__ = ["LaneGroup"]


Mask = npt.NDArray[np.bool_]


class LaneGroup(Generic[ObsT_co, ActT]):
    """Lanes `begin` to `end` of a batch."""

    def __init__(self, link: Link, codec: BatchCodec[ObsT_co, ActT], begin: int) -> None:
        self.link, self._codec, self.begin, self.count = link, codec, begin, codec.num_envs
        self.end = begin + self.count
        self.lanes, self.space, self.write = slice(begin, self.end), codec.observation_space, codec.write_action
        self.last: object = None
        """The observations as they came, of the last reply."""
        self._fresh: ObsT_co | None = None
        self._reviving = False
        self.rewards: npt.NDArray[np.float64] = np.zeros(self.count)
        self.terminated: Mask = np.zeros(self.count, np.bool_)
        self.truncated: Mask = np.zeros(self.count, np.bool_)
        self.infos: Info = {}

    def observations(self) -> ObsT_co:
        """The observations of the lanes, new to the caller."""
        fresh, self._fresh = self._fresh, None
        return self._codec.read_observation(self.last) if fresh is None else fresh

    # --- reset ---

    def check_whole(self, mask: Mask) -> None:
        """Lanes whose other side is gone are reset together, since they begin a new one together."""
        if not self.link.alive and not mask[self.lanes].all():
            raise ResetNeeded(
                f"reset: expected lanes {self.begin} to {self.end - 1} together, since they share a process that is "
                f"gone, got {[int(one) for one in np.flatnonzero(mask)]}"
            )

    def post_reset(self, columns: Columns, mask: Mask, seeds: list[int | None], options: Options | None) -> None:
        """Have the lanes of `mask` reset, on a new other side where there is none."""
        mine, chosen, told = mask[self.lanes], seeds[self.lanes], dict[str, object]()
        if not self.link.alive:
            told = self.link.reopen()
            chosen = [columns.revived(self.begin + lane, seed) for lane, seed in enumerate(chosen)]
        self._told = {name: value for name, value in told.items() if not name.startswith("_")}
        own = part_options(options, self.lanes)
        given = own if mine.all() else {**(own or {}), "reset_mask": mine}
        plans = columns.take_plans(self.begin, self.end)
        self.link.post(BatchResetRequest(travelling(chosen, "seed"), travelling(given, "options"), plans))

    def collect_reset(self) -> None:
        """What a reset gave."""
        try:
            reply = self.link.collect(BatchReply)
        except LinkEnded as ended:
            raise ended.error(f"{self.link.name}.reset") from None
        self._fresh, self.infos = self._codec.read_batch(reply)
        self.last = reply.observations
        self.rewards = np.zeros(self.count)
        self.terminated, self.truncated = np.zeros(self.count, np.bool_), np.zeros(self.count, np.bool_)
        for name, value in getattr(self, "_told", {}).items():
            column = np.full(self.count, None, dtype=object)
            column[:] = value
            self.infos |= {name: column, f"_{name}": np.ones(self.count, np.bool_)}
        self._told: dict[str, object] = {}

    def post_autoreset(self, columns: Columns, mask: Mask) -> None:
        """Have the next episode begun in the lanes of `mask`."""
        mine = mask[self.lanes]
        plans = columns.take_plans(self.begin, self.end)
        columns.began(self.begin + int(lane) for lane in np.flatnonzero(mine))
        self.link.post(AutoresetRequest(mine.tobytes(), plans))

    # --- step ---

    def post_step(self, columns: Columns, actions: object, mask: Mask | None) -> None:
        """Have the lanes stepped; where their other side is gone, they begin anew instead."""
        self._reviving = not self.link.alive
        if self._reviving:
            self._revive(columns)
            return
        part = b"" if mask is None else mask[self.lanes].tobytes()
        self.link.post(BatchStepRequest(actions, columns.take_plans(self.begin, self.end), part))

    def _revive(self, columns: Columns) -> None:
        """Begin a new other side, whose lanes begin as autoreset begins them."""
        self.link.reopen()
        columns.began(range(self.begin, self.end))
        mask = np.ones(self.count, np.bool_).tobytes()
        self.link.post(AutoresetRequest(mask, columns.beginnings(self.begin, self.end)))

    def collect_step(self, columns: Columns, mode: AutoresetMode, mask: Mask | None) -> None:
        """What the step gave, or that it was cut."""
        if self._reviving:
            self.collect_reset()
            return
        try:
            reply = self.link.collect(BatchStepReply)
        except LinkEnded as ended:
            self._cut(columns, mode, ended)
            return
        self._fresh, self.rewards, self.terminated, self.truncated, self.infos = self._codec.read_step_columns(reply)
        self.last = reply.observations
        if columns.episodes is not None:
            self._count_begun(columns, mode, mask)

    def _count_begun(self, columns: Columns, mode: AutoresetMode, mask: Mask | None) -> None:
        """Which lanes have begun an episode by themselves."""
        begun = self.terminated | self.truncated if mode is AutoresetMode.SAME_STEP else columns.ended[self.lanes]
        begun = begun if mask is None else begun & mask[self.lanes]
        columns.began(self.begin + int(lane) for lane in np.flatnonzero(begun))

    def _cut(self, columns: Columns, mode: AutoresetMode, ended: LinkEnded) -> None:
        """The episodes of all lanes end here; where a new one begins in the same step, so does a new other side."""
        last = self.last
        if mode is AutoresetMode.SAME_STEP:
            self._revive(columns)
            self.collect_reset()
            finals = np.full(self.count, None, dtype=object)
            finals[:] = list(self.space.iterate(self._codec.read_observation(last)))
            every = np.ones(self.count, np.bool_)
            self.infos |= {"final_obs": finals, "_final_obs": every, "final_info": self._lost(ended)}
            self.infos["_final_info"] = every.copy()
        else:
            self.infos = self._lost(ended)
        self.rewards, self.truncated = np.zeros(self.count), np.ones(self.count, np.bool_)
        self.terminated = np.zeros(self.count, np.bool_)

    def _lost(self, ended: LinkEnded) -> Info:
        """What all lanes say of episodes whose other side is gone."""
        return add_outcome(self._every(ended.info), Outcome.INFRASTRUCTURE_FAILED, np.ones(self.count, np.bool_))

    def _every(self, info: Info) -> Info:
        """An info that all lanes share, as a batch has it."""
        found: Info = {}
        for name, value in info.items():
            found |= {name: self._column(value), f"_{name}": np.ones(self.count, np.bool_)}
        return found

    def _column(self, value: object) -> Info | npt.NDArray[np.generic]:
        if is_dict(value):
            return self._every(value)
        if isinstance(value, bool | int | float):
            return np.full(self.count, value)
        column = np.full(self.count, None, dtype=object)
        column[:] = [value] * self.count
        return column

    # --- the rest ---

    def value(self, request: HostRequest, name: str) -> object:
        """A picture or an attribute of each lane."""
        try:
            return self._codec.read_value(self.link.ask(request, ValueReply), name)
        except LinkEnded as ended:
            raise ended.error(f"{self.link.name}.{name}") from None
