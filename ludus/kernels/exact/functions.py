"""Functions that compiled rules call instead of what Numba would: the same result as the interpreter's, or an error."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeGuard, TypeVar

import numpy as np
from numba.core import cgutils, types
from numba.extending import intrinsic, lower_builtin, overload, register_jitable, type_callable

from ludus.kernels.exact.llvm import ir
from ludus.kernels.exact.loops import apply_loop, char_of, has_loop, kind_of, reduce_loop, register_loops, scalar_loop
from ludus.kernels.exact.operators import operator
from ludus.kernels.exact.symbols import libm_symbol
from ludus.kernels.numba_types import (
    Builder,
    Compiled,
    Intrinsic,
    LLVMType,
    LLVMValue,
    LLVMValues,
    LoweringContext,
    NumbaType,
    OfOne,
    OfTwo,
    Signature,
    TypingContext,
)
from ludus.spaces.array_space import Array

__all__ = ["OVERFLOW_MARK", "METHODS", "NATIVE", "REPLACED", "UFUNCS", "integer", "power"]

NATIVE = frozenset({np.sqrt, np.floor, np.ceil, np.trunc, np.rint, np.fabs, np.square, np.negative})
"""What Numba's code does exactly as well, and sooner: each is one instruction or two."""
WHOLE = {np.maximum, np.minimum, np.absolute, np.sign, np.remainder, np.floor_divide}
"""Give integers for integers, which Numba does alike."""
UFUNCS: tuple[np.ufunc, ...] = (
    *(np.exp, np.exp2, np.expm1, np.log, np.log2, np.log10, np.log1p),
    *(np.sin, np.cos, np.tan, np.arcsin, np.arccos, np.arctan, np.arctan2),
    *(np.sinh, np.cosh, np.tanh, np.arcsinh, np.arccosh, np.arctanh),
    *(np.cbrt, np.reciprocal, np.power, np.hypot, np.logaddexp),
    *(
        np.absolute,
        np.sign,
        np.maximum,
        np.minimum,
        np.fmax,
        np.fmin,
        np.copysign,
        np.fmod,
        np.remainder,
        np.floor_divide,
    ),
    *(np.deg2rad, np.rad2deg, np.radians, np.degrees, np.heaviside),
)
register_loops(UFUNCS)
register_loops([np.add, np.multiply])

Chooser = TypeVar("Chooser", bound=Callable[..., Callable[..., object] | None])
Stub = Callable[..., Compiled]


def stands_for(stub: Stub) -> Callable[[Chooser], Chooser]:
    """Says what a function is in compiled code; compiled once, whether its caller is written into the loop or not."""
    return overload(stub, strict=False, jit_options={"forceinline": False})


# --- NumPy's functions of numbers and arrays ---


def _exact_ufunc(ufunc: np.ufunc) -> Stub:
    """What stands for a ufunc in compiled rules."""

    def stub(*args: Compiled) -> Compiled:
        return ufunc(*args)

    stub.__name__ = stub.__qualname__ = ufunc.__name__
    stands_for(stub)(_of_one(ufunc) if ufunc.nin == 1 else _of_two(ufunc))
    # Of numbers it is written into its caller: a function of its own would take the compiler a tenth of a second.
    type_callable(stub)(lambda _: _typed_one(ufunc) if ufunc.nin == 1 else _typed_two(ufunc))
    lower_builtin(stub, types.VarArg(types.Any))(scalar_loop(ufunc))
    return stub


def _typed_one(ufunc: np.ufunc) -> Callable[[NumbaType], NumbaType | None]:
    return lambda x: _of_numbers(ufunc, x)


def _typed_two(ufunc: np.ufunc) -> Callable[[NumbaType, NumbaType], NumbaType | None]:
    return lambda x, y: _of_numbers(ufunc, x, y)


def _of_numbers(ufunc: np.ufunc, *kinds: NumbaType) -> NumbaType | None:
    """What a ufunc gives for numbers; None where its other form is meant."""
    char = _common(*kinds)
    if any(isinstance(one, types.Array) for one in kinds) or _whole(ufunc, *kinds):
        return None
    return None if char is None or not has_loop(ufunc, char) else kind_of(char)


def _of_one(ufunc: np.ufunc) -> Callable[[NumbaType], OfOne]:
    def choose(x: NumbaType) -> OfOne:
        char, array = _common(x), isinstance(x, types.Array)
        if _whole(ufunc, x):
            return lambda x: ufunc(x)
        if char is None or not has_loop(ufunc, char) or not array:
            return None
        to = np.dtype(char).type
        every, contiguous = apply_loop(ufunc, char), _laid_out(x, to)

        def of_array(x: Compiled) -> Compiled:
            row = contiguous(x)
            out = np.empty(x.shape, to)
            every(row, out)
            return out

        return of_array

    return choose


def _of_two(ufunc: np.ufunc) -> Callable[[NumbaType, NumbaType], OfTwo]:
    def choose(x: NumbaType, y: NumbaType) -> OfTwo:
        char = _common(x, y)
        if _whole(ufunc, x, y):
            return lambda x, y: ufunc(x, y)
        if char is None or not has_loop(ufunc, char):
            return None
        return _binary(ufunc, char, x, y)

    return choose


def _binary(ufunc: np.ufunc, char: str, x: NumbaType, y: NumbaType) -> OfTwo:
    left, right, to = isinstance(x, types.Array), isinstance(y, types.Array), np.dtype(char).type
    if not left and not right:
        return None
    if isinstance(x, types.Array) and isinstance(y, types.Array) and x.ndim != y.ndim:
        return None
    every, as_left, as_right = apply_loop(ufunc, char), _laid_out(x, to), _laid_out(y, to)

    def both(x: Compiled, y: Compiled) -> Compiled:
        if x.shape != y.shape:
            raise ValueError("expected arrays of one shape")
        out = np.empty(x.shape, to)
        every(as_left(x), as_right(y), out)
        return out

    def first(x: Compiled, y: Compiled) -> Compiled:
        out = np.empty(x.shape, to)
        every(as_left(x), to(y), out)
        return out

    def second(x: Compiled, y: Compiled) -> Compiled:
        out = np.empty(y.shape, to)
        every(to(x), as_right(y), out)
        return out

    return (both if right else first) if left else second


def _laid_out(x: NumbaType, to: type[np.generic]) -> Stub:
    """What makes of an array one that loops can run over; each step takes the compiler a while, and most need none."""
    dense = getattr(x, "layout", "C") == "C"
    made: Callable[[Compiled], Compiled]
    if _element(x) == types.int64:
        made = (lambda x: x.astype(to)) if dense else (lambda x: x.copy().astype(to))
    else:
        made = (lambda x: x) if dense else (lambda x: x.copy())
    return register_jitable(made)


def _common(*kinds: NumbaType) -> str | None:
    """The letter of the loop that NumPy takes for these; None where it depends on more than their types."""
    found = {_element(one) for one in kinds}
    if found <= {types.float64, types.int64}:
        return "d"
    return char_of(types.float32) if found == {types.float32} else None


def _whole(ufunc: np.ufunc, *kinds: NumbaType) -> bool:
    return ufunc in WHOLE and all(_element(one) == types.int64 for one in kinds)


def _element(kind: NumbaType) -> NumbaType:
    plain = types.unliteral(kind)
    return plain.dtype if isinstance(plain, types.Array) else plain


# --- sums, and the like, of arrays ---


def _sum(a: Array) -> Compiled:
    return np.sum(a)


def _mean(a: Array) -> Compiled:
    return np.mean(a)


def _prod(a: Array) -> Compiled:
    return np.prod(a)


def _max(a: Array) -> Compiled:
    return np.max(a)


def _min(a: Array) -> Compiled:
    return np.min(a)


def _rows(a: NumbaType) -> TypeGuard[types.Array]:
    """Whether an array lies in memory as it is read: NumPy sums others in an order of its own."""
    return isinstance(a, types.Array) and (a.layout == "C" or a.ndim == 1)


def _counted(a: NumbaType) -> TypeGuard[types.Array]:
    return isinstance(a, types.Array) and isinstance(a.dtype, types.Integer | types.Boolean)


FIRST_OF_SUM = float(np.sum(np.array([-0.0])))
"""What NumPy's sums begin with: 0.0 or -0.0, which its releases have not agreed on."""


@stands_for(_sum)
def _sum_of(a: NumbaType) -> OfOne:
    if _counted(a):
        return lambda a: np.sum(a)
    char = char_of(_element(a))
    if char is None or not _rows(a):
        return None
    add, first = reduce_loop(np.add, char), np.dtype(char).type(FIRST_OF_SUM)
    if a.ndim == 1:
        return lambda a: add(a, first)
    return lambda a: add(a.reshape(a.size), first)


@stands_for(_prod)
def _prod_of(a: NumbaType) -> OfOne:
    char = char_of(_element(a))
    if char is None or not _rows(a):
        return None
    multiply, first = reduce_loop(np.multiply, char), np.dtype(char).type(1.0)
    if a.ndim == 1:
        return lambda a: multiply(a, first)
    return lambda a: multiply(a.reshape(a.size), first)


@stands_for(_mean)
def _mean_of(a: NumbaType) -> OfOne:
    if _element(a) != types.float64 or not _rows(a):
        return None
    add, first = reduce_loop(np.add, "d"), FIRST_OF_SUM
    if a.ndim == 1:
        return lambda a: add(a, first) / a.size
    return lambda a: add(a.reshape(a.size), first) / a.size


def _extreme(ufunc: np.ufunc, native: Stub) -> Callable[[NumbaType], OfOne]:
    def choose(a: NumbaType) -> OfOne:
        if _counted(a) and not isinstance(a.dtype, types.Boolean):
            return lambda a: native(a)
        char = char_of(_element(a))
        if char is None or not _rows(a):
            return None
        reduced = reduce_loop(ufunc, char)

        def of_row(a: Compiled) -> Compiled:
            if a.size == 0:
                raise ValueError("expected an array with elements, got an empty one")
            row = a.reshape(a.size)
            return reduced(row[1:], row[0])

        return of_row

    return choose


stands_for(_max)(_extreme(np.maximum, np.max))
stands_for(_min)(_extreme(np.minimum, np.min))


# --- powers ---


SINGLE, DOUBLE = (types.float32, ir.FloatType()), (types.float64, ir.DoubleType())


def _from_libm(name: str, count: int, number: tuple[NumbaType, LLVMType] = DOUBLE) -> Stub:
    """A function of libm, as CPython and NumPy's scalars call it."""
    symbol = libm_symbol(name)
    kind, value = number

    def build(context: LoweringContext, builder: Builder, signature: Signature, args: LLVMValues) -> LLVMValue:
        del context, signature
        called = ir.FunctionType(value, [value] * count)
        return builder.call(cgutils.get_or_insert_function(builder.module, called, symbol), args)

    def of_one(typing_context: TypingContext, x: NumbaType) -> Intrinsic:
        del typing_context, x
        return kind(kind), build

    def of_two(typing_context: TypingContext, x: NumbaType, y: NumbaType) -> Intrinsic:
        del typing_context, x, y
        return kind(kind, kind), build

    return intrinsic(of_one) if count == 1 else intrinsic(of_two)


_pow, _powf = _from_libm("pow", 2), _from_libm("powf", 2, SINGLE)


def power(x: Compiled, y: Compiled) -> Compiled:
    """What `x ** y` is in compiled rules."""
    return x**y


OVERFLOW_MARK = -(2**63)
"""What `whole_power` gives where its result does not fit: the caller raises, at the rule's own line."""


@stands_for(power)
def _power_of(x: NumbaType, y: NumbaType) -> OfTwo:
    a, b = types.unliteral(x), types.unliteral(y)
    if a == types.int64 and b == types.int64:
        return lambda x, y: whole_power(x, y)
    if {a, b} <= {types.float64, types.int64}:
        return lambda x, y: _pow(np.float64(x), np.float64(y))
    if a == b == types.float32:
        return lambda x, y: _powf(x, y)
    return None


@register_jitable(forceinline=False)
def whole_power(x: Compiled, y: Compiled) -> Compiled:
    """An integer to the power of one, by squaring; LEAST where Python's would be larger than 64 bits, or a float."""
    if y < 0:
        return OVERFLOW_MARK
    found, base, left = 1, x, y
    while left > 0:
        if left & 1:
            if base != 0 and abs(found) > 9223372036854775807 // abs(base):
                return OVERFLOW_MARK
            found *= base
        left >>= 1
        if left > 0:
            if abs(base) > 3037000499:
                return OVERFLOW_MARK
            base *= base
    return found


def _math_function(function: Callable[..., float], count: int) -> Stub:
    """What stands for a function of `math` that is libm's."""

    def stub(*args: Compiled) -> Compiled:
        return function(*args)

    stub.__name__ = stub.__qualname__ = function.__name__
    stub.__module__ = "math"
    called = _from_libm(function.__name__, count)

    def of_one(x: NumbaType) -> OfOne:
        return (lambda x: called(np.float64(x))) if _real(x) else None

    def of_two(x: NumbaType, y: NumbaType) -> OfTwo:
        return (lambda x, y: called(np.float64(x), np.float64(y))) if _real(x) and _real(y) else None

    stands_for(stub)(of_one if count == 1 else of_two)
    return stub


def _real(kind: NumbaType) -> bool:
    return types.unliteral(kind) in (types.float64, types.int64)


def _float(x: Compiled) -> Compiled:
    return float(x)


@stands_for(_float)
def _float_of(x: NumbaType) -> OfOne:
    if isinstance(types.unliteral(x), types.Number | types.Boolean):
        return lambda x: np.float64(x)  # Numba's leaves a single-precision number as it is
    return None


def integer(x: Compiled) -> Compiled:
    """What `int(x)` is in compiled rules."""
    return int(x)


@stands_for(integer)
def _integer_of(x: NumbaType) -> OfOne:
    if isinstance(types.unliteral(x), types.Integer | types.Float | types.Boolean):
        return lambda x: np.int64(x)  # Numba's leaves a short one as it is
    return None


REPLACED: dict[object, Stub] = {
    **{ufunc: _exact_ufunc(ufunc) for ufunc in UFUNCS},
    np.sum: _sum,
    np.mean: _mean,
    np.prod: _prod,
    np.max: _max,
    np.min: _min,
    **{one: _math_function(one, 1) for one in (math.cbrt, math.exp2, math.erf, math.erfc)},
    **{one: _math_function(one, 2) for one in (math.pow, math.fmod)},
    pow: power,
    operator.pow: power,
    float: _float,
    int: integer,
}
"""What stands in compiled rules for what they name."""
METHODS: dict[str, Stub] = {"sum": _sum, "mean": _mean, "prod": _prod, "max": _max, "min": _min}
"""What stands for the methods of arrays."""
