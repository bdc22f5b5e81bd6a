"""Categorical draws: which of several outcomes a random number between 0 and 1 stands for.

The outcome is the first whose running sum of probabilities exceeds the number; the first of all where none does.
Probabilities that users give are checked here too.
"""

from collections.abc import Sequence
from typing import TypeGuard

import numpy as np
from numpy.typing import NDArray

from ludus.errors import InvalidArgument, shorten

__all__ = ["draw_place", "probability", "which_of", "which_of_three"]


def probability(name: str, value: object) -> float:
    """`value` as a float from 0 to 1; everything else is refused.

    >>> probability("success_rate", 1)
    1.0
    """
    if isinstance(value, bool) or not _is_number(value) or not 0 <= value <= 1:
        raise InvalidArgument(f"{name}: expected a probability from 0 to 1, got {shorten(value)}")
    return float(value)


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float | np.number)


def draw_place(cumulative: NDArray[np.float64], rng: np.random.Generator) -> int:
    """A place, by an array of running sums of the places' probabilities.

    >>> draw_place(np.array([0.0, 0.5, 1.0]), np.random.default_rng(0))
    2
    """
    place = int(np.searchsorted(cumulative, rng.random(), side="right"))
    return place if place < len(cumulative) else 0


def which_of(chances: Sequence[float], number: float) -> int:
    """A place, by the probabilities of all places.

    >>> which_of([0.25, 0.25, 0.5], 0.4)
    1
    """
    total = 0.0
    for place, chance in enumerate(chances):
        total += chance
        if total > number:
            return place
    return 0


def which_of_three(number: float, first: float, second: float, third: float) -> int:
    """0, 1 or 2, by three probabilities.

    >>> which_of_three(0.5, 0.25, 0.5, 0.25)
    1
    """
    total = first
    if total > number:
        return 0
    total += second
    if total > number:
        return 1
    return 2 if total + third > number else 0
