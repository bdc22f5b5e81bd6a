"""Values on their way through a host: actions and options that come in, rewards, flags and infos that go out."""

from collections.abc import Callable

import numpy as np

from ludus.core import Info
from ludus.core.env import AnyEnv
from ludus.core.outcome import OUTCOME, read_outcome
from ludus.errors import CodecError, ContractViolation, InvalidArgument, shorten
from ludus.spaces import Discrete
from ludus.spaces.kinds import is_array, is_dict, is_scalar
from ludus.wire import SpaceCodec, decode_value, encode_value
from ludus.wire.messages import ValueReply

__all__ = [
    "action_reader",
    "flag",
    "read_episode_id",
    "read_options",
    "value_reply",
    "with_outcome",
    "write_info",
    "write_number",
]

MAX_ID_CHARS = 255
REAL_KINDS = "iufm"
"""Of dtypes of rewards: integers, with or without sign, floats, and spans of time."""


def read_options(data: object) -> Info | None:
    """Reset options; InvalidArgument where they are none."""
    options = decode_value(data, "options")
    if options is not None and not is_dict(options):
        raise InvalidArgument(f"options: expected a dictionary or None, got {shorten(options)}")
    return options


def read_episode_id(given: object) -> str | None:
    """The name for an episode, if there is one; InvalidArgument where it is none."""
    if given is None or (isinstance(given, str) and 0 < len(given) <= MAX_ID_CHARS):
        return given
    raise InvalidArgument(f"episode_id: expected text of 1 to {MAX_ID_CHARS} characters, got {shorten(given)}")


def value_reply(value: object, what: str) -> ValueReply:
    """A value as a reply; ContractViolation where it is no data."""
    try:
        return ValueReply(encode_value(value, what))
    except CodecError as error:
        raise ContractViolation(str(error)) from error


def write_info(info: object) -> dict[str, object]:
    """An info as data; ContractViolation names what is none."""
    if not is_dict(info):
        raise ContractViolation(f"info: expected a dictionary, got {shorten(info)}")
    try:
        return encode_value(with_outcome(info) if OUTCOME in info else info, "info")
    except CodecError as error:
        raise ContractViolation(str(error)) from error


def with_outcome(info: Info) -> Info:
    """An info whose outcome is one, or that has none; ContractViolation names what is no outcome."""
    told = read_outcome(info[OUTCOME])
    rest = {key: value for key, value in info.items() if key != OUTCOME}
    return rest if told is None else {**rest, OUTCOME: told}


def write_number(reward: object) -> int | float | dict[str, object]:
    """A reward that is a NumPy scalar, or any other that is as good as one, as data; it is finite."""
    found: object = reward[()] if is_array(reward) and reward.shape == () else reward
    if type(found) is float or type(found) is int or (is_scalar(found) and found.dtype.kind in REAL_KINDS):
        if np.isfinite(found):
            return encode_value(found, "reward")
        raise ContractViolation(f"step reward: expected a finite number, got {shorten(reward)}")
    raise ContractViolation(f"step reward: expected a number, got {shorten(reward)}")


def flag(value: object, name: str) -> bool:
    """`terminated` or `truncated`, which is a bool."""
    if isinstance(value, bool):
        return value
    if type(value) is np.bool_:
        return value.item()
    raise ContractViolation(f"step {name}: expected a bool, got {shorten(value)}")


def action_reader(env: AnyEnv, *, checked: bool) -> Callable[[object], object]:
    """What reads actions: of a choice out of a few, which is most of them, in one comparison."""
    space, codec = env.action_space, SpaceCodec(env.action_space, "action")
    if not checked:
        return codec.take
    if type(space) is not Discrete:
        return codec.read
    least, most, read = int(space.start), int(space.start + space.n) - 1, codec.read

    def read_choice(data: object) -> object:
        return data if type(data) is int and least <= data <= most else read(data)

    return read_choice
