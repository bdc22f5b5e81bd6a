"""Random streams in compiled code: PCG64 with NumPy's own draws, to the last bit, one stream for each lane.

Rules see an object with the methods of `numpy.random.Generator`; interpreted, it is that generator itself.

>>> import numba
>>> from ludus.kernels.stream import stream_rows
>>> numba.njit(lambda stream: stream.random())(Stream(stream_rows([7]), 0)) == np.random.default_rng(7).random()
True
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import TypeVar

import numpy as np
import numpy.typing as npt
from numba.core import types
from numba.extending import intrinsic, overload_method, register_jitable
from numba.np.arrayobj import make_array
from numba.np.random import _constants as ziggurat

from ludus.kernels.exact.drawn import (
    BAD_CHANCES,
    INFINITE,
    NEGATIVE_EXPONENTIAL,
    NEGATIVE_NORMAL,
    NONE_BELOW,
    NONE_BETWEEN,
    REVERSED,
)
from ludus.kernels.exact.llvm import ir
from ludus.kernels.numba_types import (
    Builder,
    Compiled,
    Intrinsic,
    LLVMValue,
    LLVMValues,
    LoweringContext,
    NumbaType,
    OfTwo,
    Signature,
    TypingContext,
)
from ludus.kernels.stream import HALF, HAS_HALF, HIGH, LOW, STEP_HIGH, STEP_LOW, WORDS, Stream, U, Words
from ludus.spaces.array_space import Array

__all__ = ["Stream"]

MULTIPLIER = 0x2360ED051FC65DA4_4385DF649FCCF645
WORD, WIDE = ir.IntType(64), ir.IntType(128)
MASK32, ONE, ZERO = U(0xFFFFFFFF), U(1), U(0)
MAX_AMISS = 1.4901161193847656e-08
"""By how much probabilities may miss 1, as in NumPy."""
TO_UNIT = 1.0 / 9007199254740992.0

KI, WI, FI = ziggurat.ki_double, ziggurat.wi_double, ziggurat.fi_double
KE, WE, FE = ziggurat.ke_double, ziggurat.we_double, ziggurat.fe_double
NORMAL_TAIL, NORMAL_TAIL_INVERSE = ziggurat.ziggurat_nor_r, ziggurat.ziggurat_nor_inv_r
EXPONENTIAL_TAIL = ziggurat.ziggurat_exp_r


APART = {"forceinline": False}
"""Compiled once, whether what calls them is written into its caller or not."""
draws = register_jitable(**APART)
Chooser = TypeVar("Chooser", bound=Callable[..., Callable[..., object] | None])


def method(name: str) -> Callable[[Chooser], Chooser]:
    """Gives streams in compiled code a method."""
    # Strict would be: annotations of types and those of values the same.
    return overload_method(types.NamedTuple, name, jit_options=APART, strict=False)


@intrinsic
def _product(typing_context: TypingContext, a: NumbaType, b: NumbaType) -> Intrinsic:
    """Both halves of a product of two 64-bit words."""
    del typing_context

    def build(context: LoweringContext, builder: Builder, signature: Signature, args: LLVMValues) -> LLVMValue:
        whole = builder.mul(*(builder.zext(one, WIDE) for one in args))
        halves = builder.trunc(builder.lshr(whole, WIDE(64)), WORD), builder.trunc(whole, WORD)
        return context.make_tuple(builder, signature.return_type, halves)

    return types.UniTuple(types.uint64, 2)(types.uint64, types.uint64), build


@intrinsic
def next64(typing_context: TypingContext, words: types.Array, lane: types.Integer) -> Intrinsic:
    """Step the stream and give 64 bits; written for LLVM, whose integers of 128 bits take the compiler no time."""
    del typing_context
    return types.uint64(words, lane), partial(_step, words, lane)


@intrinsic
def next_double(typing_context: TypingContext, words: types.Array, lane: types.Integer) -> Intrinsic:
    """A double from 0 up to 1."""
    del typing_context

    def build(context: LoweringContext, builder: Builder, signature: Signature, args: LLVMValues) -> LLVMValue:
        bits = builder.lshr(_step(words, lane, context, builder, signature, args), WORD(11))
        return builder.fmul(builder.uitofp(bits, ir.DoubleType()), ir.DoubleType()(TO_UNIT))

    return types.float64(words, lane), build


def _step(
    words: types.Array,
    lane: types.Integer,
    context: LoweringContext,
    builder: Builder,
    signature: Signature,
    args: LLVMValues,
) -> LLVMValue:
    """PCG64: a product and a sum of 128 bits, whose halves are mixed and turned."""
    del signature
    array = make_array(words)(context, builder, args[0])
    place_of_lane = context.cast(builder, args[1], lane, types.intp)
    row = builder.gep(array.data, [builder.mul(place_of_lane, WORD(WORDS))])
    places = [builder.gep(row, [WORD(place)]) for place in (HIGH, LOW, STEP_HIGH, STEP_LOW)]
    high, low, step_high, step_low = (builder.zext(builder.load(place), WIDE) for place in places)
    state = builder.or_(builder.shl(high, WIDE(64)), low)
    step = builder.or_(builder.shl(step_high, WIDE(64)), step_low)
    state = builder.add(builder.mul(state, WIDE(MULTIPLIER)), step)
    high, low = builder.trunc(builder.lshr(state, WIDE(64)), WORD), builder.trunc(state, WORD)
    builder.store(high, places[0])
    builder.store(low, places[1])
    mixed, turn = builder.xor(high, low), builder.lshr(high, WORD(58))
    back = builder.and_(builder.sub(WORD(64), turn), WORD(63))
    return builder.or_(builder.lshr(mixed, turn), builder.shl(mixed, back))


@draws
def next32(words: Words, lane: int) -> np.uint64:
    """Give 32 bits: the half left over, or the lower half of a new draw."""
    if words[lane, HAS_HALF]:
        words[lane, HAS_HALF] = ZERO
        return words[lane, HALF]
    drawn = next64(words, lane)
    words[lane, HAS_HALF], words[lane, HALF] = ONE, drawn >> U(32)
    return drawn & MASK32


@draws
def bounded(words: Words, lane: int, most: np.uint64) -> np.uint64:
    """An integer from 0 to `most`, by Lemire's method, 32 bits at a time where they suffice."""
    if most == ZERO:
        return ZERO
    if most < MASK32:
        count = most + ONE
        product = next32(words, lane) * count
        if (product & MASK32) < count:
            threshold = (MASK32 - most) % count
            while (product & MASK32) < threshold:
                product = next32(words, lane) * count
        return product >> U(32)
    if most == MASK32:
        return next32(words, lane)
    if most == U(0xFFFFFFFFFFFFFFFF):
        return next64(words, lane)
    count = most + ONE
    high, low = _product(next64(words, lane), count)
    if low < count:
        threshold = (U(0xFFFFFFFFFFFFFFFF) - most) % count
        while low < threshold:
            high, low = _product(next64(words, lane), count)
    return high


@draws
def masked(words: Words, lane: int, most: np.uint64) -> np.uint64:
    """An integer from 0 to `most`, below 2**32, by drawing as many bits until they fit: NumPy shuffles by this."""
    mask = most
    mask |= mask >> ONE
    mask |= mask >> U(2)
    mask |= mask >> U(4)
    mask |= mask >> U(8)
    mask |= mask >> U(16)
    drawn = next32(words, lane) & mask
    while drawn > most:
        drawn = next32(words, lane) & mask
    return drawn


@draws
def standard_normal(words: Words, lane: int) -> float:
    """A normal double, by the ziggurat."""
    while True:
        bits = next64(words, lane)
        layer = bits & U(0xFF)
        bits = bits >> U(8)
        sign = bits & ONE
        size = (bits >> ONE) & U(0x000FFFFFFFFFFFFF)
        x = size * WI[layer]
        if sign:
            x = -x
        if size < KI[layer]:
            return x
        if layer == ZERO:
            while True:
                away = -NORMAL_TAIL_INVERSE * math.log1p(-next_double(words, lane))
                height = -math.log1p(-next_double(words, lane))
                if height + height > away * away:
                    return -(NORMAL_TAIL + away) if (size >> U(8)) & ONE else NORMAL_TAIL + away
        elif ((FI[layer - ONE] - FI[layer]) * next_double(words, lane) + FI[layer]) < math.exp(-0.5 * x * x):
            return x


@draws
def standard_exponential(words: Words, lane: int) -> float:
    """An exponential double, by the ziggurat."""
    while True:
        bits = next64(words, lane) >> U(3)
        layer = bits & U(0xFF)
        size = bits >> U(8)
        x = size * WE[layer]
        if size < KE[layer]:
            return x
        if layer == ZERO:
            return EXPONENTIAL_TAIL - math.log1p(-next_double(words, lane))
        if (FE[layer - ONE] - FE[layer]) * next_double(words, lane) + FE[layer] < math.exp(-x):
            return x


def _is_stream(kind: NumbaType) -> bool:
    return getattr(kind, "instance_class", None) is Stream


def _are_numbers(*kinds: object) -> bool:
    """Whether one number is drawn: of arrays NumPy draws as many as they have."""
    return not any(isinstance(one, types.Array | types.BaseTuple | types.List) for one in kinds)


@method("random")
def _random(stream: NumbaType) -> Callable[..., float] | None:
    def draw(stream: Stream) -> float:
        return next_double(stream.words, stream.lane)

    return draw if _is_stream(stream) else None


@method("uniform")
def _uniform(
    stream: NumbaType, low: NumbaType | float = 0.0, high: NumbaType | float = 1.0
) -> Callable[..., float] | None:
    def draw(stream: Stream, low: float = 0.0, high: float = 1.0) -> float:
        least, span = np.float64(low), np.float64(high) - np.float64(low)
        if not math.isfinite(span):
            raise OverflowError(INFINITE)
        if math.copysign(1.0, span) < 0.0:
            raise ValueError(REVERSED)
        return least + span * next_double(stream.words, stream.lane)

    return draw if _is_stream(stream) and _are_numbers(low, high) else None


@method("integers")
def _integers(stream: NumbaType, low: NumbaType, high: NumbaType | None = None) -> Callable[..., np.int64] | None:
    def below(stream: Stream, low: int, high: None = None) -> np.int64:
        if low <= 0:
            raise ValueError(NONE_BELOW)
        return np.int64(bounded(stream.words, stream.lane, U(low - 1)))

    def between(stream: Stream, low: int, high: Compiled = None) -> np.int64:
        if low >= high:
            raise ValueError(NONE_BETWEEN)
        return low + np.int64(bounded(stream.words, stream.lane, U(high - 1 - low)))

    if not _is_stream(stream) or any(isinstance(one, types.Float) for one in (low, high)):
        return None
    return below if high is None or isinstance(high, types.NoneType | types.Omitted) else between


@method("standard_normal")
def _standard_normal(stream: NumbaType) -> Callable[..., float] | None:
    def draw(stream: Stream) -> float:
        return standard_normal(stream.words, stream.lane)

    return draw if _is_stream(stream) else None


@method("normal")
def _normal(
    stream: NumbaType, loc: NumbaType | float = 0.0, scale: NumbaType | float = 1.0
) -> Callable[..., float] | None:
    def draw(stream: Stream, loc: float = 0.0, scale: float = 1.0) -> float:
        if scale == scale and math.copysign(1.0, np.float64(scale)) < 0.0:
            raise ValueError(NEGATIVE_NORMAL)
        return loc + scale * standard_normal(stream.words, stream.lane)

    return draw if _is_stream(stream) and _are_numbers(loc, scale) else None


@method("exponential")
def _exponential(stream: NumbaType, scale: NumbaType | float = 1.0) -> Callable[..., float] | None:
    def draw(stream: Stream, scale: float = 1.0) -> float:
        if scale == scale and math.copysign(1.0, np.float64(scale)) < 0.0:
            raise ValueError(NEGATIVE_EXPONENTIAL)
        return scale * standard_exponential(stream.words, stream.lane)

    return draw if _is_stream(stream) and _are_numbers(scale) else None


@method("shuffle")
def _shuffle(stream: NumbaType, x: NumbaType) -> Callable[..., None] | None:
    def draw(stream: Stream, x: Array) -> None:
        for i in range(len(x) - 1, 0, -1):
            j = np.int64(masked(stream.words, stream.lane, U(i)))
            x[i], x[j] = x[j], x[i]

    return draw if _is_stream(stream) else None


@method("permutation")
def _permutation(stream: NumbaType, x: NumbaType) -> OfTwo:
    def of_count(stream: np.random.Generator, x: int) -> Array:
        order = np.arange(x)
        stream.shuffle(order)
        return order

    def of_array(stream: np.random.Generator, x: Array) -> Array:
        order = x.copy()
        stream.shuffle(order)
        return order

    if not _is_stream(stream):
        return None
    return of_count if isinstance(x, types.Integer) else of_array


@method("choice")
def _choice(stream: NumbaType, a: NumbaType, p: NumbaType | None = None) -> Callable[..., Compiled] | None:
    """One element: `a` is a count or a row; with `p`, by those probabilities."""
    weighted = p is not None and not isinstance(p, types.NoneType | types.Omitted)
    counted = isinstance(a, types.Integer)

    def uniform_count(stream: np.random.Generator, a: int, p: Compiled = None) -> Compiled:
        return stream.integers(a)

    def uniform_row(stream: np.random.Generator, a: Compiled, p: Compiled = None) -> Compiled:
        return a[stream.integers(len(a))]

    def weighted_count(stream: np.random.Generator, a: int, p: Compiled = None) -> Compiled:
        return _weighted(stream, p, a)

    def weighted_row(stream: np.random.Generator, a: Compiled, p: Compiled = None) -> Compiled:
        return a[_weighted(stream, p, len(a))]

    if not _is_stream(stream):
        return None
    return (weighted_count if counted else weighted_row) if weighted else (uniform_count if counted else uniform_row)


@draws
def _weighted(stream: np.random.Generator, p: npt.NDArray[np.float64], count: int) -> np.intp:
    if len(p) != count:
        raise ValueError(BAD_CHANCES)
    total = p.cumsum()
    if count == 0 or not abs(total[-1] - 1.0) <= MAX_AMISS or p.min() < 0.0:
        raise ValueError(BAD_CHANCES)
    return np.searchsorted(total / total[-1], stream.random(), side="right")
