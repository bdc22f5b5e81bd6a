"""Lanes of structured values: choosing between two batches lane by lane, wherever the leaves are arrays."""

from typing import Any

import numpy as np

from ludus.spaces import ArraySpace, Dict, Space, Tuple

__all__ = ["blend", "copied", "lane_of", "made_of_arrays", "put_lane", "push"]


def made_of_arrays(space: Space[Any]) -> bool:
    """Whether a batch of `space` consists of arrays, however nested."""
    if isinstance(space, Dict | Tuple):
        return all(made_of_arrays(part) for part in space.subspaces)
    return isinstance(space, ArraySpace)


def blend(space: Space[Any], mask: Any, a: Any, b: Any) -> Any:
    """Lanes of `a` where `mask`, of `b` elsewhere; `space` is that of one lane."""
    if isinstance(space, Dict):
        return {key: blend(part, mask, a[key], b[key]) for key, part in space.spaces.items()}
    if isinstance(space, Tuple):
        return tuple(blend(part, mask, one, two) for part, one, two in zip(space.spaces, a, b, strict=True))
    return np.where(mask.reshape(mask.shape + (1,) * (np.ndim(b) - 1)), a, b)


def push(space: Space[Any], stack: Any, new: Any, axis: int) -> Any:
    """A stack of frames moved on by one: the oldest leaves, `new` comes last, along `axis`."""
    if isinstance(space, Dict):
        return {key: push(part, stack[key], new[key], axis) for key, part in space.spaces.items()}
    if isinstance(space, Tuple):
        return tuple(push(part, one, two, axis) for part, one, two in zip(space.spaces, stack, new, strict=True))
    moved = np.empty_like(stack)
    if axis:
        moved[:, :-1], moved[:, -1] = stack[:, 1:], new
    else:
        moved[:-1], moved[-1] = stack[1:], new
    return moved


def copied(space: Space[Any], value: Any) -> Any:
    """A copy of nested arrays."""
    if isinstance(space, Dict):
        return {key: copied(part, value[key]) for key, part in space.spaces.items()}
    if isinstance(space, Tuple):
        return tuple(copied(part, one) for part, one in zip(space.spaces, value, strict=True))
    return value.copy()


def lane_of(space: Space[Any], batch: Any, lane: int) -> Any:
    """One lane of a batch, copied."""
    if isinstance(space, Dict):
        return {key: lane_of(part, batch[key], lane) for key, part in space.spaces.items()}
    if isinstance(space, Tuple):
        return tuple(lane_of(part, one, lane) for part, one in zip(space.spaces, batch, strict=True))
    return batch[lane].copy()


def put_lane(space: Space[Any], batch: Any, lane: int, value: Any) -> None:
    """Write one lane of a batch in place."""
    if isinstance(space, Dict):
        for key, part in space.spaces.items():
            put_lane(part, batch[key], lane, value[key])
    elif isinstance(space, Tuple):
        for part, one, new in zip(space.spaces, batch, value, strict=True):
            put_lane(part, one, lane, new)
    else:
        batch[lane] = value
