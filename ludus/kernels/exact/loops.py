"""NumPy's own loops in compiled code: `np.tanh` in a compiled rule runs the machine code that it runs interpreted.

NumPy picks its loops when it is loaded, by what the processor can do, and they differ from libm in the last bit.
Writing them again would follow one machine; calling them follows every machine. A loop is reached by the pointer that
the ufunc object holds, under a symbol, so that machine code on disk stays valid.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache, partial

import numpy as np
from numba.core import cgutils, types
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

from ludus.kernels.exact.llvm import ir
from ludus.kernels.exact.symbols import loop_symbol
from ludus.kernels.numba_types import (
    Builder,
    Compiled,
    Intrinsic,
    LLVMValue,
    LLVMValues,
    LoweringContext,
    NumbaType,
    Signature,
    TypingContext,
)

__all__ = ["apply_loop", "char_of", "has_loop", "kind_of", "reduce_loop", "register_loops", "scalar_loop"]

CHARS: dict[NumbaType, str] = {types.float64: "d", types.float32: "f"}
BYTE, WORD = ir.IntType(8), ir.IntType(64)
POINTER = BYTE.as_pointer()


def char_of(kind: NumbaType) -> str | None:
    """NumPy's letter for a number that loops take; None for others."""
    return CHARS.get(kind)


def kind_of(char: str) -> NumbaType:
    """The type of a letter."""
    return types.float64 if char == "d" else types.float32


def has_loop(ufunc: np.ufunc, char: str) -> bool:
    """Whether a ufunc takes only numbers of this letter and gives one.

    >>> has_loop(np.tanh, "d"), has_loop(np.isnan, "d")
    (True, False)
    """
    return ufunc.nout == 1 and f"{char * ufunc.nin}->{char}" in ufunc.types


def register_loops(ufuncs: Iterable[np.ufunc]) -> None:
    """Give every loop its symbol: machine code that comes from disk looks for them."""
    for ufunc in ufuncs:
        for char in CHARS.values():
            if has_loop(ufunc, char):
                loop_symbol(ufunc, char)


def _call(
    builder: Builder, ufunc: np.ufunc, char: str, *, pointers: LLVMValues, strides: LLVMValues, count: LLVMValue
) -> None:
    """Emit the call of a loop over `count` elements."""
    name, takes_data = loop_symbol(ufunc, char)
    module = builder.module
    operands = cgutils.alloca_once(builder, ir.ArrayType(POINTER, len(pointers)))
    steps = cgutils.alloca_once(builder, ir.ArrayType(WORD, len(pointers)))
    for place, (pointer, stride) in enumerate(zip(pointers, strides, strict=True)):
        builder.store(builder.bitcast(pointer, POINTER), cgutils.gep_inbounds(builder, operands, 0, place))
        builder.store(stride, cgutils.gep_inbounds(builder, steps, 0, place))
    length = cgutils.alloca_once(builder, WORD)
    builder.store(count, length)
    kind = ir.FunctionType(ir.VoidType(), [POINTER.as_pointer(), WORD.as_pointer(), WORD.as_pointer(), POINTER])
    data: LLVMValue = ir.Constant(POINTER, None)
    if takes_data:
        data = module.globals.get(f"{name}_data") or cgutils.add_global_variable(module, BYTE, f"{name}_data")
        data.linkage = "external"
    function = cgutils.get_or_insert_function(module, kind, name)
    arguments = [builder.bitcast(operands, POINTER.as_pointer()), length, builder.bitcast(steps, WORD.as_pointer())]
    builder.call(function, [*arguments, data])


def scalar_loop(ufunc: np.ufunc) -> Callable[..., LLVMValue]:
    """What emits the call of a ufunc on single numbers."""
    zero = WORD(0)  # as NumPy has it where there is one element: some loops choose their way by the stride

    def build(context: LoweringContext, builder: Builder, signature: Signature, args: LLVMValues) -> LLVMValue:
        kind = signature.return_type
        slots = [cgutils.alloca_once(builder, context.get_value_type(kind)) for _ in range(ufunc.nin + 1)]
        for slot, given, value in zip(slots, signature.args, args, strict=False):
            builder.store(context.cast(builder, value, given, kind), slot)
        _call(builder, ufunc, CHARS[kind], pointers=slots, strides=[zero] * len(slots), count=WORD(1))
        return builder.load(slots[-1])

    return build


@cache
def apply_loop(ufunc: np.ufunc, char: str) -> Callable[..., Compiled]:
    """The ufunc over arrays that are contiguous, and numbers, into the last array, as an intrinsic."""

    def build(
        last: types.Array, context: LoweringContext, builder: Builder, signature: Signature, args: LLVMValues
    ) -> LLVMValue:
        pointers, strides = list[LLVMValue](), list[LLVMValue]()
        size = WORD({"d": 8, "f": 4}[char])
        count: LLVMValue = WORD(1)
        out = make_array(last)(context, builder, args[-1])
        for length in cgutils.unpack_tuple(builder, out.shape):
            count = builder.mul(count, length)
        one = builder.icmp_signed("==", count, WORD(1))
        for kind, value in zip(signature.args, args, strict=True):
            if isinstance(kind, types.Array):
                pointers.append(make_array(kind)(context, builder, value).data)
                strides.append(builder.select(one, WORD(0), size))
            else:
                pointers.append(cgutils.alloca_once_value(builder, value))
                strides.append(WORD(0))
        _call(builder, ufunc, char, pointers=pointers, strides=strides, count=count)
        return context.get_dummy_value()

    def of_one(typing_context: TypingContext, x: NumbaType, out: types.Array) -> Intrinsic:
        del typing_context
        return types.none(x, out), partial(build, out)

    def of_two(typing_context: TypingContext, x: NumbaType, y: NumbaType, out: types.Array) -> Intrinsic:
        del typing_context
        return types.none(x, y, out), partial(build, out)

    return intrinsic(of_one) if ufunc.nin == 1 else intrinsic(of_two)


@cache
def reduce_loop(ufunc: np.ufunc, char: str) -> Callable[..., Compiled]:
    """`ufunc.reduce` over an array of one axis from a first value on, as an intrinsic: pairwise where NumPy's is."""
    kind = kind_of(char)

    def build(
        row: types.Array, context: LoweringContext, builder: Builder, signature: Signature, args: LLVMValues
    ) -> LLVMValue:
        del signature
        array = make_array(row)(context, builder, args[0])
        total = cgutils.alloca_once_value(builder, args[1])
        (length,) = cgutils.unpack_tuple(builder, array.shape)
        (stride,) = cgutils.unpack_tuple(builder, array.strides)
        strides: list[LLVMValue] = [WORD(0), stride, WORD(0)]
        _call(builder, ufunc, char, pointers=[total, array.data, total], strides=strides, count=length)
        return builder.load(total)

    @intrinsic
    def reduced(typing_context: TypingContext, row: types.Array, first: NumbaType) -> Intrinsic:
        del typing_context, first
        return kind(row, kind), partial(build, row)

    return reduced
