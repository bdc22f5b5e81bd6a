"""`Share`: the lanes of a batch that one confined process steps, and how their results enter those of the batch."""

from typing import Any

import numpy as np

from ludus.core import AutoresetMode
from ludus.errors import ChannelError, CodecError, ContractViolation, InvalidAction, ResetNeeded, shorten
from ludus.sandbox.environment.columns import Columns
from ludus.sandbox.environment.ending import Ending
from ludus.sandbox.environment.resident import RESERVED, Resident, TenantEnded, read_info, read_observation
from ludus.spaces import Space
from ludus.wire import SpaceCodec, decode_value, encode_value
from ludus.wire.message import BatchResetReply, BatchResetRequest, BatchStepReply, BatchStepRequest, ValueReply

__all__ = ["Share"]


class Share:
    """Lanes `begin` to `end` of a batch. What is new for the batch is written into its `Columns`."""

    def __init__(
        self, resident: Resident, begin: int, end: int, observation_space: Space[Any], action_space: Space[Any]
    ) -> None:
        self.resident, self.begin, self.end, self.count = resident, begin, end, end - begin
        self.lanes = slice(begin, end)
        self.space = observation_space.batch(self.count)
        self._read = SpaceCodec(self.space, "observation").read
        self._read_final = SpaceCodec(observation_space, "final_obs").read
        self._write_all = SpaceCodec(action_space.batch(self.count), "action").write
        self._write_one = SpaceCodec(action_space, "action").write
        self.last: Any = None
        """The observations as they came, of the last frame."""
        self._fresh: Any = None
        self._reviving = False

    def observations(self) -> Any:
        """The observations of the lanes, new to the caller."""
        fresh, self._fresh = self._fresh, None
        return self._observed(self.last) if fresh is None else fresh

    def _observed(self, data: Any) -> Any:
        return read_observation(self._read, data, self.resident.name)

    # --- reset ---

    def check_whole(self, mask: Any) -> None:
        """Lanes that lost their process are reset together, since they begin a new one together."""
        if self.resident.tenant is None and not mask[self.lanes].all():
            raise ResetNeeded(
                f"reset: expected lanes {self.begin} to {self.end - 1} together, since they share a process and "
                f"{self._why}, got {[int(one) for one in np.flatnonzero(mask)]}"
            )

    @property
    def _why(self) -> str:
        return "it is gone" if self.resident.ending is None else self.resident.ending.reason

    def post_reset(self, columns: Columns, mask: Any, seeds: list[int | None], options: Any) -> None:
        """Have the lanes of `mask` reset, in a new process where there is none."""
        lanes = [int(one) for one in np.flatnonzero(mask[self.lanes])]
        chosen = [seeds[self.begin + lane] for lane in lanes]
        if self.resident.tenant is None:
            self.resident.open()
            chosen = [columns.revived(self.begin + lane, seed) for lane, seed in zip(lanes, chosen, strict=True)]
        else:
            self.resident.tenant.drain()
        plans = columns.plans(lanes, self.begin)
        columns.unplanned -= {self.begin + lane for lane in lanes}
        request = BatchResetRequest(lanes, list(map(encode_value, chosen)), options, plans)
        self.resident.post(request, self.resident.deadlines.reset)

    def collect_reset(self, columns: Columns) -> None:
        """What the reset gave."""
        try:
            reply = self.resident.collect(BatchResetReply)
        except TenantEnded as ended:
            raise ended.ending.error(f"{self.resident.name}.reset") from None
        self._fresh, self.last = self._observed(reply.observations), reply.observations
        self._enter(columns, reply.infos)

    # --- step ---

    def request(self, actions: Any, columns: Columns) -> BatchStepRequest:
        """The request for a step; InvalidAction before any lane moves."""
        mine = actions[self.lanes]
        listed = type(mine) is not np.ndarray
        try:
            data = [self._write_one(one) for one in mine] if listed else self._write_all(mine)
        except CodecError as error:
            raise InvalidAction(str(error)) from error
        return BatchStepRequest(data, listed, columns.take_plans(self.begin, self.end))

    def post_step(self, request: BatchStepRequest, columns: Columns) -> None:
        """Have every lane stepped; where the process is gone, its lanes begin anew instead."""
        self._reviving = self.resident.tenant is None
        if self._reviving:
            self._revive(columns)
        else:
            self.resident.post(request, self.resident.deadlines.step)

    def _revive(self, columns: Columns) -> None:
        """Start a new process, whose lanes begin as autoreset begins them."""
        self.resident.open()
        columns.began(range(self.begin, self.end))
        request = BatchResetRequest([], [], None, columns.beginnings(self.begin, self.end))
        self.resident.post(request, self.resident.deadlines.reset)

    def collect_step(self, columns: Columns) -> None:
        """What the step gave, or that it was cut."""
        if self._reviving:
            self.collect_reset(columns)
            return
        try:
            reply = self.resident.collect(BatchStepReply)
        except TenantEnded as ended:
            self._cut(columns, ended.ending)
            return
        ended = columns.ended[self.lanes].copy()
        self._fresh, self.last = self._observed(reply.observations), reply.observations
        columns.rewards[self.lanes] = self._rewards(reply.rewards)
        columns.terminated[self.lanes] = self._flags(reply.terminated, "terminated")
        columns.truncated[self.lanes] = self._flags(reply.truncated, "truncated")
        self._enter(columns, reply.infos)
        done = columns.terminated[self.lanes] | columns.truncated[self.lanes]
        fresh = done if columns.mode is AutoresetMode.SAME_STEP else ended
        columns.began([self.begin + int(lane) for lane in np.flatnonzero(fresh)])

    def _rewards(self, data: bytes) -> Any:
        rewards = np.frombuffer(data, "<f8") if len(data) == 8 * self.count else np.empty(0)
        if len(rewards) != self.count or not np.isfinite(rewards).all():
            raise ContractViolation(
                f"{self.resident.name} rewards: expected {self.count} finite numbers, got {shorten(rewards)}"
            )
        return rewards

    def _flags(self, data: bytes, name: str) -> Any:
        if len(data) != self.count or data.strip(b"\0\1"):
            raise ContractViolation(f"{self.resident.name} {name}: expected {self.count} bools, got {shorten(data)}")
        return np.frombuffer(data, np.bool_)

    def _enter(self, columns: Columns, entries: list[tuple[int, dict[str, Any], list[Any]]]) -> None:
        """Add what the lanes say to the infos of the batch, in the order in which they say it."""
        name = self.resident.name
        for lane, data, final in entries:
            if not 0 <= lane < self.count or len(final) > 1:
                self.resident.abandon()
                raise ChannelError(f"channel: expected infos of lanes 0 to {self.count - 1}, got lane {lane}")
            info = read_info(data, name)
            if final:
                info = {"final_obs": read_observation(self._read_final, final[0], name), **info}
            columns.add(info, self.begin + lane)

    def _cut(self, columns: Columns, ending: Ending) -> None:
        """The episodes of all lanes end here; where a new one begins in the same step, so does a new process."""
        columns.rewards[self.lanes], columns.truncated[self.lanes] = 0.0, True
        columns.terminated[self.lanes] = False
        if columns.mode is not AutoresetMode.SAME_STEP:
            for lane in range(self.begin, self.end):
                columns.add({RESERVED: ending.info}, lane)
            return
        for lane, observation in enumerate(self.space.iterate(self._observed(self.last)), start=self.begin):
            columns.add({"final_obs": observation, "final_info": {RESERVED: ending.info}}, lane)
        self._revive(columns)
        self.collect_reset(columns)

    # --- the rest ---

    def value(self, request: Any, name: str) -> Any:
        """A picture or an attribute of each lane."""
        try:
            reply = self.resident.ask(request, ValueReply, self.resident.deadlines.other)
            return decode_value(reply.value, name)
        except TenantEnded as ended:
            raise ended.ending.error(f"{self.resident.name}.{name}") from None
        except CodecError as error:
            raise ContractViolation(f"{self.resident.name}: {error}") from error
