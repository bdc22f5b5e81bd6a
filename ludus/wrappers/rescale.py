"""The linear map from one box to another."""

import numpy as np

from ludus.errors import InvalidArgument, InvalidSpace, shorten
from ludus.spaces import Box, Space
from ludus.spaces.array_space import Array

__all__ = ["rescaling"]


def rescaling(space: Space[object], low: object, high: object, label: str) -> tuple[Box, Array, Array]:
    """The box from `low` to `high`, and gradient and intercept of `new = gradient * old + intercept`."""
    if not isinstance(space, Box):
        raise InvalidSpace(f"{label}: expected a Box, got {space!r}")
    new_low, new_high = _end(low, space, f"{label} minimum"), _end(high, space, f"{label} maximum")
    for new, old in ((new_low, space.low), (new_high, space.high)):
        infinite = np.isinf(new) | np.isinf(old)
        if not (new == old)[infinite].all():
            raise InvalidArgument(
                f"{label}: expected infinite ends to stay infinite, got {shorten(new)} for {shorten(old)}"
            )
    if not (new_low <= new_high).all():
        raise InvalidArgument(f"{label}: expected minimum <= maximum, got {shorten(low)} and {shorten(high)}")
    wide: type[np.floating] = getattr(np, "float128", np.float64)
    below, above = np.isfinite(new_low), np.isfinite(new_high)
    both = below & above
    gradient, intercept = np.ones(space.shape, dtype=space.dtype), np.zeros(space.shape, dtype=space.dtype)
    spread = space.high[both].astype(wide) - space.low[both].astype(wide)
    if (spread == 0).any():
        raise InvalidSpace(f"{label}: expected low < high where both are finite, got {space!r}")
    gradient[both] = (new_high[both] - new_low[both]) / spread
    intercept[above] = new_high[above] - space.high[above]
    intercept[below] = gradient[below] * -space.low[below] + new_low[below]
    return Box(new_low, new_high, dtype=space.dtype), gradient, intercept


def _end(value: object, space: Box[object], label: str) -> Array:
    end = np.asarray(value)
    if end.dtype.kind not in "iuf" or end.shape not in ((), space.shape):
        raise InvalidArgument(f"{label}: expected a number or an array of shape {space.shape}, got {shorten(value)}")
    return np.broadcast_to(end, space.shape).copy()
