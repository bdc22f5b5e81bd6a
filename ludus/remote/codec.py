"""Codecs: what an environment somewhere else says of itself, checked, and how its values travel. No I/O.

Nothing that comes from the other side is trusted unseen: what it gives is held to the spaces that it announced.
"""

from collections.abc import Callable, Sequence
from math import isfinite
from typing import Any, Generic, TypedDict, TypeVar, Unpack, overload

import numpy as np
import numpy.typing as npt

from ludus.core import AutoresetMode, Info, Step
from ludus.core.env import ActT, Metadata, ObsT_co
from ludus.core.outcome import OUTCOME, code_column, read_outcome
from ludus.errors import CodecError, ContractViolation, InvalidAction, InvalidArgument, InvalidValue, shorten
from ludus.spaces import Box, MultiBinary, MultiDiscrete, Space, Tuple
from ludus.spaces.array_space import Array
from ludus.spaces.bound_models import bind_models, find_models
from ludus.spaces.kinds import is_array, is_dict, is_list, is_list_or_tuple, is_scalar
from ludus.wire import SpaceCodec, decode_value, encode_value, read_space
from ludus.wire.failures import clean
from ludus.wire.infos import read_infos
from ludus.wire.messages import BatchReply, BatchStepReply, MakeReply, ResetReply, StepReply, ValueReply, WelcomeReply

__all__ = ["BatchCodec", "CodecOptions", "EnvCodec", "travelling"]

T = TypeVar("T")
Mask = npt.NDArray[np.bool_]
PICTURES = (np.ndarray, str, list, tuple, type(None))
ARRAYS = (Box, MultiBinary, MultiDiscrete)
MAX_MODE_CHARS = 100
MAX_NAME_CHARS = 80


@overload
def travelling(value: dict[str, object], name: str) -> dict[str, object]: ...
@overload
def travelling(value: object, name: str) -> object: ...
def travelling(value: object, name: str) -> object:
    """A value as data; InvalidArgument names what cannot travel."""
    try:
        return encode_value(value, name)
    except CodecError as error:
        raise InvalidArgument(str(error)) from error


class CodecOptions(TypedDict, total=False):
    """What codecs take beside what was made: see `EnvCodec`."""

    known: Sequence[type[Space[object]]]
    models: Sequence[type]
    reserved: str


class EnvCodec(Generic[ObsT_co, ActT]):
    """Spaces, metadata and render mode of one environment elsewhere, its requests written and its replies read.

    `made` is a `MakeReply` or a `WelcomeReply`. `known` are custom space classes that may be built in this process,
    `models` the caller's own classes for typed values. `reserved` is a key of `info` that only this side writes.
    """

    def __init__(
        self,
        made: MakeReply | WelcomeReply,
        *,
        known: Sequence[type[Space[object]]] = (),
        models: Sequence[type] = (),
        reserved: str = "",
    ) -> None:
        self.name = clean(made.name, MAX_NAME_CHARS) or "the environment"
        self.reserved = reserved
        self.single_observation_space = self._space(made.observation_space, "observation_space", known, models)
        self.single_action_space = self._space(made.action_space, "action_space", known, models)
        self.metadata = self._metadata(made.metadata)
        self.render_mode = self._render_mode(made.render_mode)
        self._begin()

    def _begin(self) -> None:
        self.observation_space: Space[ObsT_co] = self.single_observation_space
        self.action_space: Space[ActT] = self.single_action_space
        self._read = SpaceCodec(self.observation_space, "observation").read
        self._write = SpaceCodec(self.action_space, "action").write

    # --- what was announced ---

    def _space(
        self, data: object, name: str, known: Sequence[type[Space[object]]], models: Sequence[type]
    ) -> Space[Any]:
        try:
            return find_models(bind_models(read_space(data, name, known=known), models))
        except CodecError as error:
            raise ContractViolation(f"{self.name}: {error}") from error

    def _metadata(self, data: object) -> Metadata:
        found = self.held(lambda one: decode_value(one, "metadata"), data)
        modes = found.get("render_modes", []) if is_dict(found) else None
        if not is_list_or_tuple(modes) or not all(isinstance(mode, str) for mode in modes):
            raise ContractViolation(f"{self.name} metadata: expected a list of render_modes, got {shorten(modes)}")
        return found

    def _render_mode(self, mode: str | None) -> str | None:
        if mode is not None and clean(mode, MAX_MODE_CHARS) != mode:
            raise ContractViolation(f"{self.name} render_mode: expected a word, got {shorten(mode)}")
        return mode

    # --- values ---

    def held(self, read: Callable[[object], T], data: object) -> T:
        """What the other side gave, read; ContractViolation where it is not what it has to be."""
        try:
            return read(data)
        except (CodecError, InvalidValue) as error:
            raise ContractViolation(f"{self.name}: {error}") from error

    def write_action(self, action: object) -> object:
        """An action as data. A typed one may be of any class with its fields, or a dictionary."""
        try:
            return self._write(action)
        except InvalidValue as error:
            raise InvalidAction(str(error)) from error
        except CodecError as error:
            raise InvalidAction(f"{error}; expected {self.action_space!r}") from error

    def read_observation(self, data: object) -> ObsT_co:
        """An observation, which is in its space."""
        try:
            return self._read(data)
        except (CodecError, InvalidValue) as error:
            raise ContractViolation(f"{self.name}: {error}") from error

    def read_step(self, reply: StepReply) -> Step[ObsT_co]:
        """What a step gave."""
        reward = reply.reward
        if type(reward) is dict or not isfinite(reward):  # type: ignore[arg-type]
            reward = self._scalar(reward)
        info = self.read_info(reply.info) if reply.info else {}
        return Step(self.read_observation(reply.observation), reward, reply.terminated, reply.truncated, info)

    def read_reset(self, reply: ResetReply) -> tuple[ObsT_co, Info]:
        """What a reset gave."""
        return self.read_observation(reply.observation), self.read_info(reply.info)

    def read_info(self, data: dict[str, object]) -> Info:
        """An info: plain data and arrays, and nothing under the key that is this side's own."""
        if not data:
            return {}
        info = self.held(lambda one: decode_value(one, "info"), data)
        if not is_dict(info):
            raise ContractViolation(f"{self.name} info: expected a dictionary, got {shorten(info)}")
        self._check_reserved(info)
        if OUTCOME in info:
            outcome = read_outcome(info.pop(OUTCOME), f"{self.name} info['outcome']")
            info |= {} if outcome is None else {OUTCOME: outcome}
        return info

    def _check_reserved(self, info: Info) -> None:
        key = self.reserved
        for one in (info, info.get("final_info")) if key else ():
            if is_dict(one) and key in one:
                raise ContractViolation(
                    f"{self.name} info[{key!r}]: expected another name, since this one tells why an episode was cut, "
                    f"got {shorten(one[key])}"
                )

    def _scalar(self, reward: object) -> np.generic:
        """A reward that is a NumPy scalar, checked to be a finite number."""
        value = self.held(lambda one: decode_value(one, "reward"), reward)
        if not is_scalar(value) or value.dtype.kind not in "iufm" or not np.isfinite(np.asarray(value)):
            raise ContractViolation(f"{self.name} reward: expected a finite number, got {shorten(value)}")
        return value

    # --- the rest ---

    def read_value(self, reply: ValueReply, label: str) -> object:
        """An attribute, or what a method returned."""
        return self.held(lambda one: decode_value(one, label), reply.value)

    def read_picture(self, reply: ValueReply) -> object:
        """The current picture: an array, text, or several of these."""
        picture: object = self.read_value(reply, "render")
        if not _is_picture(picture):
            raise ContractViolation(f"{self.name}.render: expected an array, text or a list, got {shorten(picture)}")
        return picture

    def read_state(self, reply: ValueReply) -> Info:
        """What the environment shows of its episode."""
        found = self.read_value(reply, "state")
        if not is_dict(found):
            raise ContractViolation(f"{self.name}.state: expected a dictionary, got {shorten(found)}")
        return found


def _is_picture(value: object) -> bool:
    return isinstance(value, PICTURES)


class BatchCodec(EnvCodec[ObsT_co, ActT]):
    """The same for `num_envs` lanes, whose values travel together."""

    def __init__(
        self,
        made: MakeReply | WelcomeReply,
        num_envs: int,
        autoreset_mode: AutoresetMode,
        **options: Unpack[CodecOptions],
    ) -> None:
        self.num_envs, self.autoreset_mode = num_envs, autoreset_mode
        super().__init__(made, **options)

    def _begin(self) -> None:
        self.metadata = {**self.metadata, "autoreset_mode": self.autoreset_mode}
        self.observation_space = self.single_observation_space.batch(self.num_envs)
        self.action_space = self.single_action_space.batch(self.num_envs)
        self._read = SpaceCodec(self.observation_space, "observation").read
        self._write = SpaceCodec(self.action_space, "action").write
        self._finals = SpaceCodec(self.single_observation_space, "final_obs")

    def write_action(self, action: object) -> object:
        """Actions as data; a list of them will do where the space is one of arrays."""
        array = isinstance(self.action_space, ARRAYS)
        return super().write_action(self.as_array(action) if array else self._lanes(action))

    def as_array(self, action: object) -> Array:
        """The actions of all lanes as one array in the dtype of the space."""
        space = self.action_space
        if type(action) is np.ndarray and action.dtype == space.dtype and action.shape[:1] == (self.num_envs,):
            return action
        try:
            found = np.asarray(action)
        except (TypeError, ValueError) as error:
            raise InvalidArgument(f"action: expected a batch of {space!r}, got {shorten(action)}") from error
        if found.shape[:1] != (self.num_envs,):
            raise InvalidArgument(f"action: expected one for each of {self.num_envs} lanes, got {shorten(action)}")
        if not np.can_cast(found.dtype, space.dtype, "same_kind"):
            raise InvalidAction(f"action: expected {space!r}, got {shorten(action)}")
        return found.astype(space.dtype)

    def _lanes(self, action: object) -> object:
        """A list of one action for each lane is as good as the tuple that batches of such spaces are."""
        space = self.action_space
        if not is_list(action) or not isinstance(space, Tuple):
            return action
        if len(action) != len(space.subspaces):
            raise InvalidArgument(f"action: expected one for each of {self.num_envs} lanes, got {len(action)}")
        return tuple(action)

    def read_step_columns(self, reply: BatchStepReply) -> tuple[ObsT_co, npt.NDArray[np.float64], Mask, Mask, Info]:
        """Observations, rewards, flags and infos of a step of all lanes."""
        rewards = self._column(reply.rewards, "<f8", "rewards")
        if not np.isfinite(rewards).all():
            raise ContractViolation(f"{self.name} rewards: expected finite numbers, got {shorten(rewards)}")
        return (
            self.read_observation(reply.observations),
            rewards,
            self._flags(reply.terminated, "terminated"),
            self._flags(reply.truncated, "truncated"),
            self.read_infos(reply.infos) if reply.infos else {},
        )

    def read_batch(self, reply: BatchReply) -> tuple[ObsT_co, Info]:
        """What a reset of a batch gave."""
        return self.read_observation(reply.observations), self.read_infos(reply.infos)

    def read_infos(self, data: object) -> Info:
        """The infos of a batch, column by column."""
        infos = self.held(lambda one: read_infos(one, self._finals, self.num_envs), data)
        self._check_reserved(infos)
        for one in (infos, infos.get("final_info")):
            if is_dict(one) and OUTCOME in one:
                self._check_outcomes(one)
        return infos

    def _check_outcomes(self, infos: Info) -> None:
        """Outcomes of a batch are a column of codes and the lanes that have one."""
        codes, mask = infos[OUTCOME], infos.get(f"_{OUTCOME}")
        kinds = [one.dtype for one in (codes, mask) if is_array(one) and one.ndim == 1]
        if kinds != [np.int8, np.bool_]:
            raise ContractViolation(
                f"{self.name} info['outcome']: expected codes of int8 with their mask, got {shorten(codes)}"
            )
        code_column(codes, f"{self.name} info['outcome']")

    def _column(self, data: bytes, dtype: str, name: str) -> Array:
        found = np.dtype(dtype)
        if len(data) != self.num_envs * found.itemsize:
            raise ContractViolation(f"{self.name} {name}: expected {self.num_envs} of them, got {len(data)} bytes")
        return np.frombuffer(data, found).astype(found.newbyteorder("="))

    def _flags(self, data: bytes, name: str) -> Mask:
        if data.strip(b"\0\1"):
            raise ContractViolation(f"{self.name} {name}: expected bytes of 0 and 1, got {shorten(data)}")
        return self._column(data, "bool", name)
