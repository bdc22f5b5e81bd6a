"""Lanes of structured values: choosing between two batches lane by lane, taking them apart and together again."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ludus.spaces import ArraySpace, Dict, Discrete, Space, Tuple

__all__ = ["blend", "expanded", "lane_of", "leaf_spaces", "leaves", "made_of_arrays", "rebuilt"]

Mask = npt.NDArray[np.bool_]


def made_of_arrays(space: Space[object]) -> bool:
    """Whether a batch of `space` consists of arrays, however nested."""
    if isinstance(space, Dict | Tuple):
        return all(made_of_arrays(part) for part in space.subspaces)
    return isinstance(space, ArraySpace)


where: Callable[..., Any] = np.where
"""Of values whose kind is not known."""


def expanded(mask: Mask, dimensions: int) -> Mask:
    """A mask of lanes as it fits arrays of so many dimensions."""
    return mask.reshape(mask.shape + (1,) * (dimensions - 1))


def blend(space: Space[object], mask: Mask, a: Any, b: Any) -> Any:
    """Lanes of `a` where `mask`, of `b` elsewhere; `space` is that of one lane."""
    if isinstance(space, ArraySpace):
        dimensions = np.ndim(b)
        return where(mask if dimensions == 1 else expanded(mask, dimensions), a, b)
    if isinstance(space, Dict):
        return {key: blend(part, mask, a[key], b[key]) for key, part in space.spaces.items()}
    if isinstance(space, Tuple):
        return tuple(blend(part, mask, one, two) for part, one, two in zip(space.spaces, a, b, strict=True))
    # A batch of any other is a tuple of values.
    return tuple(one if chosen else two for chosen, one, two in zip(mask.tolist(), a, b, strict=True))


def lane_of(space: Space[object], batch: Any, lane: int) -> object:
    """One lane of a batch, copied."""
    if isinstance(space, Dict):
        return {key: lane_of(part, batch[key], lane) for key, part in space.spaces.items()}
    if isinstance(space, Tuple):
        return tuple(lane_of(part, one, lane) for part, one in zip(space.spaces, batch, strict=True))
    if not isinstance(space, ArraySpace):
        return batch[lane]
    return batch[lane].item() if isinstance(space, Discrete) else batch[lane].copy()


def leaf_spaces(space: Space[object]) -> list[Space[object]]:
    """The spaces of the arrays that a value consists of, in order."""
    if isinstance(space, Dict | Tuple):
        return [leaf for part in space.subspaces for leaf in leaf_spaces(part)]
    return [space]


def leaves(space: Space[object], value: Any) -> list[Any]:
    """The arrays that a value consists of, in order."""
    if isinstance(space, Dict):
        return [leaf for key, part in space.spaces.items() for leaf in leaves(part, value[key])]
    if isinstance(space, Tuple):
        return [leaf for part, one in zip(space.spaces, value, strict=True) for leaf in leaves(part, one)]
    return [value]


def rebuilt(space: Space[object], arrays: list[object]) -> object:
    """The value that consists of these arrays, which are used up."""
    if isinstance(space, Dict):
        return {key: rebuilt(part, arrays) for key, part in space.spaces.items()}
    if isinstance(space, Tuple):
        return tuple([rebuilt(part, arrays) for part in space.spaces])
    return arrays.pop(0)
