"""Replies made of what an environment gave; ContractViolation where that is nothing that an environment may give."""

from typing import Any

import numpy as np

from ludus.errors import CodecError, ContractViolation, InvalidValue, shorten
from ludus.wire.message import StepReply
from ludus.wire.space_codec import SpaceCodec
from ludus.wire.value import encode_value

__all__ = ["step_reply", "write_info", "written"]


def step_reply(result: Any, observations: SpaceCodec) -> StepReply:
    """The reply to a step that gave `result`."""
    if not isinstance(result, tuple) or len(result) != 5:  # pyright: ignore[reportUnknownArgumentType]
        raise ContractViolation(f"step: expected a Step of five values, got {shorten(result)}")
    observation, reward, terminated, truncated, info = result
    return StepReply(
        written(observations, observation),
        reward if type(reward) is float or type(reward) is int else _number(reward),
        terminated if type(terminated) is bool else _flag(terminated, "terminated"),
        truncated if type(truncated) is bool else _flag(truncated, "truncated"),
        write_info(info) if info else {},
    )


def write_info(info: Any) -> Any:
    """An info as data; ContractViolation names what is none."""
    if not isinstance(info, dict):
        raise ContractViolation(f"info: expected a dictionary, got {shorten(info)}")
    try:
        return encode_value(info, "info")
    except CodecError as error:
        raise ContractViolation(str(error)) from error


def written(codec: SpaceCodec, value: Any) -> Any:
    """A value as its space's data; ContractViolation where it is not one of it."""
    try:
        return codec.write(value)
    except (CodecError, InvalidValue) as error:
        raise ContractViolation(str(error)) from error


def _number(reward: Any) -> Any:
    """A reward that is a NumPy scalar, or any other that is as good as one."""
    if isinstance(reward, np.integer | np.floating):
        return encode_value(reward, "reward")
    if isinstance(reward, np.ndarray) and reward.shape == () and reward.dtype.kind in "iuf":
        return encode_value(reward[()], "reward")
    raise ContractViolation(f"step reward: expected a number, got {shorten(reward)}")


def _flag(value: Any, name: str) -> bool:
    if isinstance(value, bool | np.bool_):
        return bool(value)
    raise ContractViolation(f"step {name}: expected a bool, got {shorten(value)}")
