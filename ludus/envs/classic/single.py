"""Single precision by double arithmetic: the same bits interpreted and compiled, on every machine.

Two of the classic environments have histories that were computed in single precision. Rules cannot leave that to
NumPy's `float32`: a compiler promotes mixtures of types otherwise, and NumPy's sine is not the C library's.
"""

from math import floor

__all__ = ["SPLIT", "cosine", "is_single", "sine", "single"]

SPLIT = 536870913.0  # 2**29 + 1: leaves 24 of the 53 bits
TWO_OVER_PI = 0.6366197466850281
HALF_PI_HIGH, HALF_PI_MIDDLE, HALF_PI_LOW = -1.5707960128784180, -3.1391647326017846e-07, -5.390302529957765e-15


def single(x: float) -> float:
    """`x` rounded to the nearest single-precision number (Veltkamp's splitting), exact from 1e-37 to 1e38.

    >>> single(0.1)
    0.10000000149011612
    """
    wide = x * SPLIT
    return wide - (wide - x)


def is_single(x: float) -> bool:
    """Whether `x` is a single-precision number."""
    return single(x) == x


def sine(x: float) -> float:
    """The sine of a single-precision number as NumPy's `float32` sine gives it, bit for bit, up to a thousand."""
    turns = _quarter_turns(x)
    return _quadrant(_reduced(x, turns), int(turns))


def cosine(x: float) -> float:
    """The cosine of a single-precision number as NumPy's `float32` cosine gives it, bit for bit.

    >>> import numpy as np
    >>> cosine(single(0.7)) == np.cos(np.float32(0.7))
    np.True_
    """
    turns = _quarter_turns(x)
    return _quadrant(_reduced(x, turns), int(turns) + 1)


def _quarter_turns(x: float) -> float:
    turns = single(x * TWO_OVER_PI)
    low = floor(turns)
    if turns - low == 0.5:  # to even, as the hardware rounds
        return float(low + low % 2)
    return float(floor(turns + 0.5))


def _reduced(x: float, turns: float) -> float:
    # The product of two singles is exact in a double, so each line is one fused multiply-add.
    x = single(turns * HALF_PI_HIGH + x)
    x = single(turns * HALF_PI_MIDDLE + x)
    return single(turns * HALF_PI_LOW + x)


def _quadrant(x: float, number: int) -> float:
    value = _sine_polynomial(x) if number % 2 == 0 else _cosine_polynomial(x)
    return -value if number % 4 >= 2 else value


def _sine_polynomial(x: float) -> float:
    square = single(x * x)
    value = single(2.8404097065504175e-06 * square - 0.00019856491417158395)
    value = single(value * square + 0.008333397097885609)
    value = single(value * square - 0.1666666716337204)
    value = single(value * square)
    return single(value * x + x)


def _cosine_polynomial(x: float) -> float:
    square = single(x * x)
    value = single(2.4372266125283204e-05 * square - 0.001388652017340064)
    value = single(value * square + 0.04166661947965622)
    value = single(value * square - 0.5)
    return single(value * square + 1.0)
