"""Masks and probabilities: what may restrict a sample, and the one place that checks them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ludus.errors import InvalidMask, shorten
from ludus.spaces.kinds import Array, is_array, is_tuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ludus.spaces.space import Space

__all__ = [
    "array_mask",
    "choice",
    "choice_of_possible",
    "distribution",
    "exclusive",
    "field_masks",
    "parts",
    "refuse_mask",
    "sample_legal",
]


def exclusive(mask: object, probability: object) -> str | None:
    """`"mask"`, `"probability"` or None, whichever was given; both is an error."""
    if mask is None:
        return None if probability is None else "probability"
    if probability is None:
        return "mask"
    raise InvalidMask(
        "sample: expected at most one of mask and probability, "
        f"got mask={shorten(mask)} and probability={shorten(probability)}"
    )


def refuse_mask(space: object, mask: object, probability: object) -> None:
    """For spaces that cannot be restricted, when one of both is given."""
    raise InvalidMask(f"sample: {space!r} takes no {exclusive(mask, probability)}; pass None for it")


def sample_legal(space: Space[object], mask: object) -> object:
    """A sample that a mask allows, `info["action_mask"]` for instance; any, where it is of the environment's own kind.

    >>> from ludus.spaces import Discrete
    >>> int(sample_legal(Discrete(3), np.array([0, 1, 0], np.int8)))
    1
    """
    if mask is None:
        return space.sample()
    try:
        return space.sample(mask=mask)
    except (InvalidMask, TypeError):
        return space.sample()


def field_masks(fields: Mapping[str, Space[object]], given: object) -> object:
    """An array restricts the one field that has as many choices; anything else is for each field what it says."""
    if not is_array(given) or given.ndim != 1:
        return given
    meant = [name for name, space in fields.items() if getattr(space, "n", None) == len(given)]
    return {name: given if name in meant else None for name in fields} if len(meant) == 1 else given


def array_mask(value: object, kind: str, shape: tuple[int, ...], top: int = 1) -> Array:
    """`value`, checked to be a mask (int8, 0 to `top`) or probability (float64, 0 to 1) of that shape."""
    dtype = np.int8 if kind == "mask" else np.float64
    if not is_array(value):
        raise InvalidMask(
            f"{kind}: expected an array of dtype {dtype.__name__} and shape {shape}, got {shorten(value)}"
        )
    array: Array = value
    if array.dtype != dtype:
        raise InvalidMask(f"{kind}: expected dtype {dtype.__name__}, got {array.dtype}")
    if array.shape != shape:
        raise InvalidMask(f"{kind}: expected shape {shape}, got {array.shape}")
    limit = top if kind == "mask" else 1
    if not ((array >= 0) & (array <= limit)).all():
        raise InvalidMask(f"{kind}: expected values from 0 to {limit}, got {shorten(array)}")
    return array


def distribution(value: object, n: int) -> Array:
    """A probability for each of `n` choices that sums to 1."""
    array = array_mask(value, "probability", (n,))
    if not np.isclose(array.sum(), 1):
        raise InvalidMask(f"probability: expected a sum of 1, got {array.sum()}")
    return array


def choice(rng: np.random.Generator, value: object, kind: str, n: int) -> int:
    """One of `n` choices under a mask (all zero gives 0) or a probability, by NumPy's `choice`."""
    if kind == "mask":
        allowed = np.flatnonzero(array_mask(value, kind, (n,)))
        return int(rng.choice(allowed)) if allowed.size else 0
    return int(rng.choice(n, p=distribution(value, n)))


def choice_of_possible(rng: np.random.Generator, value: object, n: int) -> int:
    """As `choice` by probability, but choices of probability 0 are left out before drawing: other draws, same law."""
    chance = distribution(value, n)
    possible = np.flatnonzero(chance)
    return int(rng.choice(possible, p=(chance / chance.sum())[possible]))


def parts(value: object, kind: str, n: int) -> tuple[object, ...]:
    """A mask with one entry for each of `n` parts."""
    if not is_tuple(value) or len(value) != n:
        raise InvalidMask(
            f"{kind}: expected a tuple of {n} masks, one for each part (None for no mask), got {shorten(value)}"
        )
    return value
