"""Probabilities given by users, checked."""

from typing import Any

import numpy as np

from ludus.errors import InvalidArgument, shorten

__all__ = ["probability"]


def probability(name: str, value: Any) -> float:
    """`value` as a float from 0 to 1; everything else is refused.

    >>> probability("success_rate", 1)
    1.0
    """
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not 0 <= value <= 1:
        raise InvalidArgument(f"{name}: expected a probability from 0 to 1, got {shorten(value)}")
    return float(value)
