"""What methods of a subclass give, looked at before it is believed."""

import math
from numbers import Real
from typing import TypeVar

from ludus.errors import ContractViolation, shorten

__all__ = ["finite", "given"]

T = TypeVar("T")


def given(value: object, kind: type[T], expected: str) -> T:
    """The value; ContractViolation where it is of another kind.

    >>> given("text", str, "describe: expected text")
    'text'
    """
    if not isinstance(value, kind):
        raise ContractViolation(f"{expected}, got {shorten(value)}; mend the method of the task's class")
    return value


def finite(reward: object) -> float:
    """The reward; ContractViolation where it is no finite number: one NaN would spoil every sum that it is part of.

    >>> finite(1)
    1.0
    """
    if not isinstance(reward, Real) or not math.isfinite(reward):
        raise ContractViolation(f"get_reward: expected a finite number, got {shorten(reward)}; mend the method")
    return float(reward)
