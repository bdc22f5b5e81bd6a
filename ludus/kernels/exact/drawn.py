"""Draws that fail: what a stream's methods raise, with the line of the rule that draws."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager

from numba.core import types
from numba.core.callconv import CPUCallConv, Status

from ludus.kernels.numba_types import Builder
from ludus.kernels.stream import Stream

__all__ = [
    "BAD_CHANCES",
    "INFINITE",
    "NEGATIVE_EXPONENTIAL",
    "NEGATIVE_NORMAL",
    "NONE_BELOW",
    "NONE_BETWEEN",
    "REVERSED",
    "drawn_by",
    "failing_by",
    "message_of",
]

INFINITE = "rng.uniform: expected a finite range, got one that is not"
REVERSED = "rng.uniform: expected low <= high, got low > high"
NONE_BELOW = "rng.integers: expected at least one integer below high, got high <= 0"
NONE_BETWEEN = "rng.integers: expected low < high, got low >= high"
NEGATIVE_NORMAL = "rng.normal: expected scale >= 0, got less"
NEGATIVE_EXPONENTIAL = "rng.exponential: expected scale >= 0, got less"
NO_ELEMENT = "rng.choice: expected at least one element, got none"
BAD_CHANCES = "rng.choice: expected as many probabilities as elements, each at least 0, that sum to 1"
ALONE = {"uniform": REVERSED, "normal": NEGATIVE_NORMAL, "exponential": NEGATIVE_EXPONENTIAL}
BY_SECOND = {"integers": (NONE_BELOW, NONE_BETWEEN), "choice": (NO_ELEMENT, BAD_CHANCES)}
"""Without the second argument, and with it."""


def drawn_by(function: object) -> str | None:
    """The name of a stream's method that may fail; None for any other function."""
    if not isinstance(function, types.BoundFunction) or getattr(function.this, "instance_class", None) is not Stream:
        return None
    name: str = function.template.key[-1]
    return name if name in ALONE or name in BY_SECOND else None


def message_of(name: str, kinds: tuple[object, ...]) -> str:
    """The message of a draw with arguments of these types that is a ValueError.

    >>> message_of("integers", (types.int64, types.int64))
    'rng.integers: expected low < high, got low >= high'
    """
    if name in ALONE:
        return ALONE[name]
    given = len(kinds) > 1 and not isinstance(kinds[1], types.NoneType | types.Omitted)
    return BY_SECOND[name][given]


@contextmanager
def failing_by(failing: Builder, fail: Callable[[], None]) -> Generator[None]:
    """Have `fail` write what follows where a call that `failing` makes meanwhile has failed.

    Numba makes its convention of calls anew whenever it asks for it, so the class is changed; it lowers under a lock.
    What is called may be compiled only now, by a builder of its own.
    """
    before = CPUCallConv.return_status_propagate

    def return_status_propagate(self: CPUCallConv, builder: Builder, status: Status) -> None:
        if builder is failing:
            fail()
        else:
            before(self, builder, status)

    CPUCallConv.return_status_propagate = return_status_propagate
    try:
        yield
    finally:
        CPUCallConv.return_status_propagate = before
