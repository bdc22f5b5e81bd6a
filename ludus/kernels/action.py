"""Actions as rules take them: checked against the space, plain integers and arrays of one dtype."""

from typing import Any

import numpy as np

from ludus.errors import InvalidAction, shorten
from ludus.kernels.forms import action_record
from ludus.kernels.state_arrays import read_only
from ludus.spaces import Box, Dict, Discrete, Space, Tuple
from ludus.spaces.array_space import Array, ArraySpace

__all__ = ["as_rules_take", "finite_row", "read_action"]


def read_action(space: Space[object], action: object) -> object:
    """`action` checked to be in `space`, as rules take it.

    >>> read_action(Discrete(3), np.int8(2))
    2
    """
    space.check(action, "action", InvalidAction)
    return as_rules_take(space, action)


def as_rules_take(space: Space[object], action: Any) -> object:
    """An integer as Python's, an array, to be read, of the space's dtype, a Tuple's as a tuple, a Dict's by name.

    >>> as_rules_take(Dict(move=Discrete(3), force=Box(-1, 1, ())), {"move": np.int8(2), "force": 0.5})
    Action(move=2, force=np.float32(0.5))
    """
    if isinstance(space, Discrete):
        return int(action)
    if isinstance(space, Tuple):
        return tuple(as_rules_take(part, one) for part, one in zip(space.spaces, action, strict=True))
    if isinstance(space, Dict):
        parts = (as_rules_take(part, action[key]) for key, part in space.spaces.items())
        return action_record(tuple(space.spaces))(*parts)
    if isinstance(space, ArraySpace):
        array = np.asarray(action, space.dtype)
        return read_only(array) if array.ndim else array[()]
    return action


def finite_row(space: Box, action: object) -> Array:
    """`action` as an array of the space's shape and dtype, every element finite; rules clip what is beyond the bounds.

    >>> finite_row(Box(-2.0, 2.0, (1,)), [3.5])
    array([3.5], dtype=float32)
    """
    array = _as_numbers(space, action)
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        place = "".join(f"[{i}]" for i in bad[0])
        raise InvalidAction(f"action{place}: expected a finite number, got {array[tuple(bad[0])]}")
    return array


def _as_numbers(space: Box, action: object) -> Array:
    try:
        array = np.asarray(action)
    except ValueError as error:  # rows of different length
        raise InvalidAction(f"action: expected {space!r}, got {shorten(action)}") from error
    if array.dtype.kind not in "iuf":
        raise InvalidAction(f"action: expected {space!r}, got {shorten(action)}")
    if array.shape != space.shape:
        raise InvalidAction(f"action: expected shape {space.shape}, got shape {array.shape}")
    return array.astype(space.dtype, copy=False)
