"""`Single`: one environment at a server, as talks."""

from math import isfinite
from typing import Any

import numpy as np

from ludus.client.fields import partial_data
from ludus.client.remote import Remote, travelling
from ludus.client.session import WireSession
from ludus.client.talk import Talk
from ludus.core import Info, Step
from ludus.errors import CodecError, ContractViolation, InvalidAction, InvalidValue, shorten
from ludus.seeding import Seed, as_seed
from ludus.wire import SpaceCodec, decode_value, encode_value
from ludus.wire.message import ResetReply, ResetRequest, StepReply, StepRequest

__all__ = ["Single"]


class Single(Remote):
    """The episode of one environment."""

    def __init__(self, session: WireSession) -> None:
        super().__init__(session)
        self.observation_space, self.action_space = self.single_observation_space, self.single_action_space
        self.seed: int | None = None
        self._observe = self._codec(self.observation_space, "observation").read
        self._write = SpaceCodec(self.action_space, "action").write
        self._ask = session.ask

    def reset(self, seed: Seed | None, options: dict[str, Any] | None) -> Talk[tuple[Any, Info]]:
        """Begin an episode."""
        asked = None if seed is None else as_seed(seed)
        request = ResetRequest(encode_value(asked), travelling(options, "options"))
        reply = yield from self._ask(request, ResetReply)
        if asked is not None:
            self.seed = asked
        return self._read(self._observe, reply.observation), self._info(reply.info)

    def step(self, action: Any) -> Talk[Step[Any]]:
        """Advance the episode."""
        reply = yield from self._ask(StepRequest(self._action(action)), StepReply)
        try:
            observation = self._observe(reply.observation)
        except (CodecError, InvalidValue) as error:
            raise ContractViolation(f"{self.name}: {error}") from error
        reward = reply.reward
        if type(reward) is dict or not isfinite(reward):  # type: ignore[arg-type]
            reward = self._scalar(reward)
        return Step(observation, reward, reply.terminated, reply.truncated, self._info(reply.info))

    def _action(self, action: Any) -> Any:
        """An action as data; that of a typed environment may be of any class with its fields."""
        try:
            return self._write(action)
        except InvalidValue as error:
            data = partial_data(self.action_space, action)
            if data is None:
                raise InvalidAction(str(error)) from error
            return data
        except CodecError as error:
            raise InvalidAction(f"{error}; expected {self.action_space!r}") from error

    def _info(self, data: dict[str, Any]) -> Info:
        if not data:
            return {}
        info = self._read(lambda one: decode_value(one, "info"), data)
        if not isinstance(info, dict):
            raise ContractViolation(f"{self.name} info: expected a dictionary, got {shorten(info)}")
        return info

    def _scalar(self, reward: Any) -> Any:
        """A reward that is a NumPy scalar, checked to be a finite number."""
        value = self._read(lambda one: decode_value(one, "reward"), reward)
        if not isinstance(value, np.integer | np.floating) or not bool(np.isfinite(value)):
            raise ContractViolation(f"{self.name} reward: expected a finite number, got {shorten(value)}")
        return value
