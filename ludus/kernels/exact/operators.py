"""The functions of `operator`, by which Numba calls operators: of half of them the stubs of Python say no types."""

from __future__ import annotations

import operator as functions
from collections.abc import Callable
from typing import Protocol, TypeAlias

from ludus.kernels.numba_types import Compiled

__all__ = ["Operator", "operator"]

Operator: TypeAlias = Callable[..., Compiled]


class _Operators(Protocol):
    add: Operator
    and_: Operator
    eq: Operator
    floordiv: Operator
    ge: Operator
    gt: Operator
    imatmul: Operator
    invert: Operator
    ipow: Operator
    is_: Operator
    is_not: Operator
    le: Operator
    lshift: Operator
    lt: Operator
    matmul: Operator
    mod: Operator
    mul: Operator
    ne: Operator
    neg: Operator
    or_: Operator
    pos: Operator
    pow: Operator
    rshift: Operator
    sub: Operator
    truediv: Operator
    xor: Operator


operator: _Operators = functions
