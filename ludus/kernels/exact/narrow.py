"""Small integers, such as a board's: of fewer bits than an integer of Python's has in compiled code."""

from __future__ import annotations

from typing import TypeGuard

from numba.core import types

from ludus.kernels.numba_types import NumbaType

__all__ = ["is_narrow", "narrow_of"]


def is_narrow(kind: NumbaType | None) -> TypeGuard[types.Integer]:
    """Whether it is the type of a small integer.

    >>> is_narrow(types.int8), is_narrow(types.int64), is_narrow(types.float32)
    (True, False, False)
    """
    return isinstance(kind, types.Integer) and kind.bitwidth < 64


def narrow_of(*kinds: NumbaType) -> types.Integer | None:
    """The first type of small integers among some; None where there is none."""
    return next((one for one in kinds if is_narrow(one)), None)
