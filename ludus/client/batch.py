"""`Batch`: many lanes at a server, stepped in one message each way, as talks."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ludus.client.remote import Remote, travelling
from ludus.client.session import WireSession
from ludus.client.talk import Talk
from ludus.core import AutoresetMode, Info, Step
from ludus.errors import CodecError, ContractViolation, InvalidAction, InvalidArgument, InvalidValue, shorten
from ludus.seeding import Seed, lane_seeds
from ludus.spaces import Box, MultiBinary, MultiDiscrete
from ludus.wire import SpaceCodec
from ludus.wire.infos import read_infos
from ludus.wire.network import VectorResetReply, VectorResetRequest, VectorStepReply, VectorStepRequest

__all__ = ["Batch"]

ARRAYS = (Box, MultiBinary, MultiDiscrete)


class Batch(Remote):
    """The episodes of a batch of lanes."""

    def __init__(self, session: WireSession) -> None:
        super().__init__(session)
        welcome: Any = session.welcome
        self.num_envs: int = welcome.lanes
        try:
            self.autoreset_mode = AutoresetMode.of(welcome.autoreset_mode)
        except InvalidArgument as error:
            raise ContractViolation(f"{self.name}: {error}") from error
        self.metadata = {**self.metadata, "autoreset_mode": self.autoreset_mode}
        self.observation_space = self.single_observation_space.batch(self.num_envs)
        self.action_space = self.single_action_space.batch(self.num_envs)
        self.seed: tuple[int | None, ...] = (None,) * self.num_envs
        self._observe = self._codec(self.observation_space, "observation", self.single_observation_space).read
        self._finals = self._codec(self.single_observation_space, "final_obs")
        self._write = SpaceCodec(self.action_space, "action").write

    def reset(
        self, seed: Seed | Sequence[Seed | None] | None, options: dict[str, Any] | None
    ) -> Talk[tuple[Any, Info]]:
        """Begin episodes in all lanes, or in those of `options["reset_mask"]`."""
        seeds = lane_seeds(seed, self.num_envs)
        asked: Any = None if seed is None else int(seed) if isinstance(seed, int | np.integer) else seeds
        request = VectorResetRequest(travelling(asked, "seed"), travelling(options, "options"))
        reply = yield from self.session.ask(request, VectorResetReply)
        mask: Any = (options or {}).get("reset_mask", np.ones(self.num_envs, np.bool_))
        self.seed = tuple(
            new if new is not None and touched else old
            for new, old, touched in zip(seeds, self.seed, mask, strict=True)
        )
        return self._read(self._observe, reply.observations), self._infos(reply.infos)

    def step(self, action: Any) -> Talk[Step[Any]]:
        """Advance every lane."""
        reply = yield from self.session.ask(VectorStepRequest(self._actions(action)), VectorStepReply)
        return Step(
            self._read(self._observe, reply.observations),
            self._column(reply.rewards, "<f8", "rewards"),
            self._flags(reply.terminated, "terminated"),
            self._flags(reply.truncated, "truncated"),
            self._infos(reply.infos) if reply.infos else {},
        )

    def _actions(self, action: Any) -> Any:
        """Actions as data; a list of them will do where the space is one of arrays."""
        space = self.action_space
        if isinstance(space, ARRAYS) and (type(action) is not np.ndarray or action.dtype != space.dtype):
            action = self._array(action, space)
        try:
            return self._write(action)
        except (CodecError, InvalidValue) as error:
            raise InvalidAction(f"{error}; expected {space!r}") from error

    def _array(self, action: Any, space: Any) -> Any:
        try:
            found = np.asarray(action)
        except (TypeError, ValueError) as error:
            raise InvalidArgument(f"action: expected a batch of {space!r}, got {shorten(action)}") from error
        if found.shape[:1] != (self.num_envs,):
            raise InvalidArgument(f"action: expected one for each of {self.num_envs} lanes, got {shorten(action)}")
        if not np.can_cast(found.dtype, space.dtype, "same_kind"):
            raise InvalidAction(f"action: expected {space!r}, got {shorten(action)}")
        return found.astype(space.dtype)

    def _column(self, data: bytes, dtype: str, name: str) -> Any:
        found = np.dtype(dtype)
        if len(data) != self.num_envs * found.itemsize:
            raise ContractViolation(f"{self.name} {name}: expected {self.num_envs} of them, got {len(data)} bytes")
        return np.frombuffer(data, found).astype(found.newbyteorder("="))

    def _flags(self, data: bytes, name: str) -> Any:
        if data.strip(b"\0\1"):
            raise ContractViolation(f"{self.name} {name}: expected bytes of 0 and 1, got {shorten(data)}")
        return self._column(data, "bool", name)

    def _infos(self, data: Any) -> Info:
        return self._read(lambda one: read_infos(one, self._finals, self.num_envs), data)
