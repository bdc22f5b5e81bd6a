"""Every operation that rules may use, as an expression, and the numbers to try it on."""

import math
from typing import Any

import numpy as np

ANY, POSITIVE, UNIT, BEYOND_ONE, SMALL = "any", "positive", "unit", "beyond one", "small"


REALS: dict[str, str] = {
    "x + y": ANY,
    "x - y": ANY,
    "x * y": ANY,
    "x / y": ANY,
    "x // y": ANY,
    "x % y": ANY,
    "-x": ANY,
    "x ** 2": SMALL,
    "x ** 3": SMALL,
    "x ** 5": SMALL,
    "x ** 2.0": SMALL,
    "x ** 0.5": POSITIVE,
    "x ** (-1)": SMALL,
    "2 ** x": SMALL,
    "x ** (y % 3.0)": POSITIVE,
    "pow(x, 4)": SMALL,
    "math.pow(x, 1.5)": POSITIVE,
    "abs(x)": ANY,
    "min(x, y)": ANY,
    "max(x, y)": ANY,
    "max(0.0, x, -y)": ANY,
    "min(max(x, -1.0), 1.0)": ANY,
    "divmod(x, y)[0] - divmod(x, y)[1]": SMALL,
    "float(int(x))": SMALL,
    "float(round(x))": SMALL,
    "float(math.floor(x))": SMALL,
    "float(math.ceil(x))": SMALL,
    "float(math.trunc(x))": SMALL,
    "1.0 if x < y or x == 2.0 * y or (not x >= -y) else 0.5": ANY,
    "math.sin(x)": SMALL,
    "math.cos(x)": SMALL,
    "math.tan(x)": SMALL,
    "math.asin(x)": UNIT,
    "math.acos(x)": UNIT,
    "math.atan(x)": ANY,
    "math.atan2(x, y)": ANY,
    "math.sinh(x)": SMALL,
    "math.cosh(x)": SMALL,
    "math.tanh(x)": ANY,
    "math.asinh(x)": ANY,
    "math.acosh(x)": BEYOND_ONE,
    "math.atanh(0.999 * x)": UNIT,
    "math.exp(x)": SMALL,
    "math.expm1(x)": SMALL,
    "math.log(x)": POSITIVE,
    "math.log2(x)": POSITIVE,
    "math.log10(x)": POSITIVE,
    "math.log1p(x)": POSITIVE,
    "math.sqrt(x)": POSITIVE,
    "math.fabs(x)": ANY,
    "math.copysign(x, y)": ANY,
    "math.fmod(x, 0.7)": SMALL,
    "math.cbrt(x)": ANY,
    "math.exp2(x)": SMALL,
    "math.erf(x)": SMALL,
    "math.erfc(x)": SMALL,
    "math.degrees(x)": SMALL,
    "math.radians(x)": ANY,
    "1.0 if math.isnan(x) or math.isinf(y) or math.isfinite(x) else 0.0": ANY,
    "np.sin(x)": SMALL,
    "np.cos(x)": SMALL,
    "np.tan(x)": SMALL,
    "np.arcsin(x)": UNIT,
    "np.arccos(x)": UNIT,
    "np.arctan(x)": ANY,
    "np.arctan2(x, y)": ANY,
    "np.sinh(x)": SMALL,
    "np.cosh(x)": SMALL,
    "np.tanh(x)": ANY,
    "np.arcsinh(x)": ANY,
    "np.arccosh(x)": BEYOND_ONE,
    "np.arctanh(0.999 * x)": UNIT,
    "np.exp(x)": SMALL,
    "np.exp2(x)": SMALL,
    "np.expm1(x)": SMALL,
    "np.log(x)": POSITIVE,
    "np.log2(x)": POSITIVE,
    "np.log10(x)": POSITIVE,
    "np.log1p(x)": POSITIVE,
    "np.sqrt(x)": POSITIVE,
    "np.cbrt(x)": ANY,
    "np.square(x)": SMALL,
    "np.reciprocal(x)": SMALL,
    "np.power(x, 2.0) + np.power(abs(x), 1.7)": SMALL,
    "np.hypot(x, y)": SMALL,
    "np.logaddexp(x, y)": SMALL,
    "np.floor(x)": ANY,
    "np.ceil(x)": ANY,
    "np.trunc(x)": ANY,
    "np.rint(x)": ANY,
    "np.fabs(x)": ANY,
    "np.abs(x)": ANY,
    "np.sign(x)": ANY,
    "np.negative(x)": ANY,
    "np.maximum(x, y)": ANY,
    "np.minimum(x, y)": ANY,
    "np.fmax(x, y)": ANY,
    "np.fmin(x, y)": ANY,
    "np.copysign(x, y)": ANY,
    "np.fmod(x, y)": SMALL,
    "np.remainder(x, y)": SMALL,
    "np.floor_divide(x, y)": SMALL,
    "np.deg2rad(x) + np.radians(y)": SMALL,
    "np.rad2deg(x) + np.degrees(y)": SMALL,
    "np.heaviside(x, y)": ANY,
    "float(np.float32(x) * np.float32(y) + np.float32(x))": SMALL,
    "float(np.float32(x) ** np.float32(2.0))": SMALL,
    "float(np.exp(np.float32(x)) + np.tanh(np.float32(x)))": UNIT,
}
"""Expressions of two floats, and where the first of them lies."""

WHOLE = (
    "i + j - i * 3 + j * i",
    "i // (j if j != 0 else 7)",
    "i % (j if j != 0 else 7)",
    "divmod(i, j if j != 0 else 7)[0]",
    "i & j | i ^ ~j",
    "(i << (j & 7)) + (i >> (j & 15))",
    "(i % 10) ** (j % 9)",
    "i ** 2 + j ** 3",
    "abs(i) - abs(j)",
    "min(i, j, 5) + max(i, j)",
    "int(i < j) + int(bool(i)) + (i == j) + (not i)",
    "math.gcd(i, j)",
    "np.maximum(i, j) - np.minimum(i, j) + np.abs(i) + np.sign(j)",
    "int(np.int64(i)) + int(np.int8(j % 100))",
)
"""Expressions of two integers that give one."""

RATIOS = (
    "i / (j if j != 0 else 7)",
    "i + 0.1 * j",
    "abs(i) ** 0.5 + float(j)",
    "math.sqrt(abs(i)) + math.sin(j)",
    "np.exp(-abs(i)) + np.tanh(j)",
)
"""Expressions of two integers that give a float."""

ROWS = (
    "np.sum(a)",
    "a.sum() + (a * b).sum()",
    "np.mean(a) + b.mean()",
    "np.prod(a)",
    "np.max(a) + b.max()",
    "np.min(a) - b.min()",
    "np.sum((a + b) * a - b / (a * a + 1.0))",
    "np.sum(a // 0.3) + np.sum(b % 0.7)",
    "np.sum(np.tanh(a) + np.exp(-np.abs(b)) + np.arctan2(a, b))",
    "np.sum(np.power(np.abs(a), 2.0)) + np.sum(np.power(np.abs(b), np.abs(a)))",
    "np.sum(np.maximum(a, 0.0)) + np.sum(np.minimum(0.1, b))",
    "np.sum(a[::2]) + np.sum(np.log1p(np.abs(b[::-1])))",
    "np.sum(np.outer(a, b))",
    "np.cumsum(a)[-1] + b.cumsum()[0]",
    "np.sum(np.where(a > b, a, b)) + np.argmax(a) + np.argmin(b)",
    "np.sum(np.diff(np.concatenate((a, b))))",
    "float(np.count_nonzero(a > 0.0)) + float(np.any(b > 1.0)) + float(np.all(a < 2.0))",
)
"""Expressions of two rows that give a float."""

EDGES = (
    *(0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.0, 10.0, 1e-5, 1e5, -1e5, 1e-310, -5e-324, 1e308, -1e308),
    *(math.pi, -math.pi / 2, 0.1, 709.8, -745.2, 1e16, 2.0**53 + 2, 0.49999999999999994, 2.5, 3.5, -2.5),
    *(math.inf, -math.inf, math.nan),
)


def numbers(domain: str, count: int, seed: int) -> Any:
    """That many numbers out of a domain, without those that make functions fail."""
    rng = np.random.default_rng(seed)
    wide = np.exp(rng.uniform(-40.0, 40.0, count)) * rng.choice([-1.0, 1.0], count)
    plain = rng.normal(0.0, 3.0, count)
    pick = rng.integers(3, size=count)
    if domain == UNIT:
        return rng.uniform(-1.0, 1.0, count)
    if domain == SMALL:
        return np.where(pick == 0, rng.uniform(-300.0, 300.0, count), plain)
    found = np.where(pick == 0, wide, plain)
    return found if domain == ANY else np.abs(found) + (1.0 if domain == BEYOND_ONE else 1e-300)
