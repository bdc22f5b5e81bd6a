"""Actions as rules take them: checked against the space, plain integers and arrays of one dtype."""

from typing import Any

import numpy as np

from ludus.errors import InvalidAction, shorten
from ludus.spaces import Box, Discrete, Space, Tuple

__all__ = ["finite_row", "plain_action", "read_action"]


def read_action(space: Space[Any], action: Any) -> Any:
    """`action` checked to be in `space`, an integer as Python's and an array as the space's dtype.

    >>> read_action(Discrete(3), np.int8(2))
    2
    """
    space.check(action, "action", InvalidAction)
    if isinstance(space, Discrete):
        return int(action)
    return np.asarray(action, space.dtype) if isinstance(space, Box) else action


def plain_action(space: Space[Any]) -> Any:
    """An action of a space as rules take it: integers as Python's own.

    >>> plain_action(Discrete(3, start=4))
    4
    """
    action: Any = space.zero()
    if isinstance(space, Tuple):
        return tuple(map(int, action))
    return int(action) if isinstance(space, Discrete) else action


def finite_row(space: Box, action: Any) -> Any:
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


def _as_numbers(space: Box, action: Any) -> Any:
    try:
        array = np.asarray(action)
    except ValueError as error:  # rows of different length
        raise InvalidAction(f"action: expected {space!r}, got {shorten(action)}") from error
    if array.dtype.kind not in "iuf":
        raise InvalidAction(f"action: expected {space!r}, got {shorten(action)}")
    if array.shape != space.shape:
        raise InvalidAction(f"action: expected shape {space.shape}, got shape {array.shape}")
    return array.astype(space.dtype, copy=False)
