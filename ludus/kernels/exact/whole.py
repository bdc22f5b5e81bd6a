"""Whole numbers that are floats in compiled code: `x = 0` in one branch and `x = 0.5` in the other.

The interpreter has an integer there. Most operations cannot tell; `-x` can, since -0 is 0 and -0.0 is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from numba.core import types

from ludus.kernels.numba_types import IRLocation, NumbaType

__all__ = ["Finding", "Whole", "joined", "promoted", "spread"]

MAX_VALUES = 8


@dataclass(frozen=True)
class Whole:
    """What integers a float may be when it is interpreted."""

    values: frozenset[int] | None
    """None for any."""
    place: IRLocation
    """Where the first of them became a float."""

    @property
    def may_be_zero(self) -> bool:
        """Whether one of them may be 0."""
        return self.values is None or 0 in self.values


Finding: TypeAlias = "Whole | tuple[Finding, ...] | None"
"""What is known of a value: of a number, of each part of a tuple, or nothing."""


def joined(a: Finding, b: Finding) -> Finding:
    """What a value may be that is one of two; of tuples, part by part.

    >>> one, two = Whole(frozenset([1]), "here"), Whole(frozenset([2]), "there")
    >>> joined((None, one), (None, two))
    (None, Whole(values=frozenset({1, 2}), place='here'))
    """
    if a is None or b is None or a == b:
        return b if a is None else a
    if isinstance(a, Whole) and isinstance(b, Whole):
        values = None if a.values is None or b.values is None else a.values | b.values
        return Whole(None if values is None or len(values) > MAX_VALUES else values, a.place)
    if isinstance(a, Whole) or isinstance(b, Whole):
        raise TypeError(f"joined: expected two numbers or two tuples, got {a} and {b}")
    return tuple(joined(one, other) for one, other in zip(a, b, strict=True))


def promoted(
    found: Finding, given: NumbaType, expected: NumbaType, place: IRLocation, value: int | None = None
) -> Finding:
    """What is known of a value of one type once it is one of another; `value` is the integer, where it is written.

    >>> promoted(None, types.int64, types.float64, "here", 0)
    Whole(values=frozenset({0}), place='here')
    """
    given, expected = types.unliteral(given), types.unliteral(expected)
    if isinstance(expected, types.BaseTuple) and isinstance(given, types.BaseTuple):
        kinds = list(zip(parts(given), parts(expected), strict=False))
        known = found if isinstance(found, tuple) else (found,) * len(kinds)
        return shortened(tuple(promoted(one, *pair, place) for one, pair in zip(known, kinds, strict=False)))
    if isinstance(expected, types.List) and isinstance(given, types.List):
        return promoted(found, given.dtype, expected.dtype, place)
    if expected == types.float64 and isinstance(given, types.Integer | types.Boolean):
        return Whole(None if value is None else frozenset([value]), place)
    return found


def spread(kind: NumbaType, whole: Whole) -> Finding:
    """Every float of a type as one that may be whole: where it is not followed which of them are."""
    if isinstance(kind, types.BaseTuple):
        return shortened(tuple(spread(one, whole) for one in parts(kind)))
    element = getattr(kind, "dtype", kind) if isinstance(kind, types.List) else kind
    return Whole(None, whole.place) if element == types.float64 else None


def shortened(found: tuple[Finding, ...]) -> Finding:
    """A tuple of which nothing is known, as None."""
    return found if any(one is not None for one in found) else None


def parts(kind: NumbaType) -> Sequence[NumbaType]:
    """The types of a tuple's parts; of any other type none."""
    return kind.types if isinstance(kind, types.BaseTuple) else ()
