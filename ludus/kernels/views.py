"""Arrays in compiled code where memory already is: columns of a block, and what a word holds the address of.

NumPy's way, slices viewed as another dtype and reshaped, works as well, but costs the compiler half of its time.
"""

from __future__ import annotations

from numba.core import cgutils, types
from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array

from ludus.kernels.block import ALIGNMENT
from ludus.kernels.numba_types import (
    Builder,
    Intrinsic,
    LLVMValue,
    LLVMValues,
    LoweringContext,
    NumbaType,
    Signature,
    TypingContext,
)

__all__ = ["VIEW_NAMES"]


@intrinsic
def values_at(
    typing_context: TypingContext, block: types.Array, at: NumbaType, n: NumbaType, dtype: types.DTypeSpec
) -> Intrinsic:
    """The `n` values of a dtype that begin `at` bytes into a block.

    A pointer, which the compiler is done with in a third of the time that an array takes; of bools, whose bytes it
    would take for bits, an array.
    """
    del typing_context
    found = types.Array(dtype.dtype, 1, "C") if dtype.dtype == types.boolean else types.CPointer(dtype.dtype)

    def build(context: LoweringContext, builder: Builder, signature: Signature, args: LLVMValues) -> LLVMValue:
        del signature
        if isinstance(found, types.Array):
            return _array(context, builder, (block, found), args, [args[2]])
        source = make_array(block)(context, builder, args[0])
        return builder.bitcast(builder.gep(source.data, [args[1]]), context.get_value_type(found))

    return found(block, at, n, dtype), build


@intrinsic
def rows_at(
    typing_context: TypingContext,
    block: types.Array,
    at: NumbaType,
    n: NumbaType,
    shape: types.BaseTuple,
    dtype: types.DTypeSpec,
) -> Intrinsic:
    """The array of `n` rows of a shape, a tuple of integers, that begins `at` bytes into a block."""
    del typing_context
    found = types.Array(dtype.dtype, 1 + len(shape), "C")

    def build(context: LoweringContext, builder: Builder, signature: Signature, args: LLVMValues) -> LLVMValue:
        del signature
        return _array(context, builder, (block, found), args, [args[2], *cgutils.unpack_tuple(builder, args[3])])

    return found(block, at, n, shape, dtype), build


@intrinsic
def after_column(typing_context: TypingContext, at: NumbaType, n: NumbaType, size: NumbaType) -> Intrinsic:
    """Where the next column begins: `n` lanes of `size` bytes further, on a cache line of its own."""
    del typing_context, at, n, size

    def build(context: LoweringContext, builder: Builder, signature: Signature, args: LLVMValues) -> LLVMValue:
        del context, signature
        begin, lanes, bytes_each = args
        word = begin.type
        padded = builder.add(builder.mul(lanes, bytes_each), word(ALIGNMENT - 1))
        return builder.add(begin, builder.and_(padded, word(-ALIGNMENT)))

    return types.intp(types.intp, types.intp, types.intp), build


@intrinsic
def given(typing_context: TypingContext, value: NumbaType) -> Intrinsic:
    """A value that rules are given to read: of an array, one that the compiler lets nobody write into."""
    del typing_context
    found = value
    if isinstance(value, types.Array):
        found = types.Array(value.dtype, value.ndim, value.layout, readonly=True)

    def build(context: LoweringContext, builder: Builder, signature: Signature, args: LLVMValues) -> LLVMValue:
        return impl_ret_borrowed(context, builder, signature.return_type, args[0])

    return found(value), build


@intrinsic
def pointed(
    typing_context: TypingContext, words: NumbaType, place: NumbaType, shape: types.BaseTuple, dtype: types.DTypeSpec
) -> Intrinsic:
    """The array of a shape, a tuple of integers, whose address is the word at a place."""
    del typing_context
    found = types.Array(dtype.dtype, len(shape), "C")

    def build(context: LoweringContext, builder: Builder, signature: Signature, args: LLVMValues) -> LLVMValue:
        del signature
        lengths = [
            context.cast(builder, one, kind, types.intp)
            for one, kind in zip(cgutils.unpack_tuple(builder, args[2]), shape.types, strict=True)
        ]
        size = context.get_abi_sizeof(context.get_data_type(found.dtype))
        strides: list[LLVMValue] = [context.get_constant(types.intp, size)]
        for length in reversed(lengths[1:]):
            strides.insert(0, builder.mul(strides[0], length))
        address = builder.load(builder.gep(args[0], [context.cast(builder, args[1], place, types.intp)]))
        return _at_address(context, builder, found, address, lengths, strides)

    return found(words, place, shape, dtype), build


@intrinsic(prefer_literal=True)
def array_given(
    typing_context: TypingContext,
    words: NumbaType,
    place: types.IntegerLiteral,
    dtype: types.DTypeSpec,
    ndim: types.IntegerLiteral,
    layout: types.StringLiteral,
) -> Intrinsic:
    """An array to be read: at a place the word of its address, then its lengths, then its strides."""
    del typing_context
    axes = ndim.literal_value
    found = types.Array(dtype.dtype, axes, layout.literal_value, readonly=True)

    def build(context: LoweringContext, builder: Builder, signature: Signature, args: LLVMValues) -> LLVMValue:
        del signature
        address, *rest = _words(context, builder, args[0], place.literal_value, 1 + 2 * axes)
        return _at_address(context, builder, found, address, rest[:axes], rest[axes:])

    return found(words, place, dtype, ndim, layout), build


@intrinsic(prefer_literal=True)
def bytes_given(typing_context: TypingContext, words: NumbaType, place: types.IntegerLiteral) -> Intrinsic:
    """Bytes: at a place the word of their address, then how many there are."""
    del typing_context
    found = types.Bytes(types.uint8, 1, "C", readonly=True)

    def build(context: LoweringContext, builder: Builder, signature: Signature, args: LLVMValues) -> LLVMValue:
        del signature
        address, length = _words(context, builder, args[0], place.literal_value, 2)
        one = context.get_constant(types.intp, 1)
        return _at_address(context, builder, found, address, [length], [one])

    return found(words, place), build


@intrinsic(prefer_literal=True)
def number_given(
    typing_context: TypingContext, words: NumbaType, place: types.IntegerLiteral, dtype: types.DTypeSpec
) -> Intrinsic:
    """The number of a dtype whose bits are the first of the word at a place."""
    del typing_context
    found = dtype.dtype

    def build(context: LoweringContext, builder: Builder, signature: Signature, args: LLVMValues) -> LLVMValue:
        del signature
        at = builder.gep(args[0], [context.get_constant(types.intp, place.literal_value)])
        pointer = builder.bitcast(at, context.get_data_type(found).as_pointer())
        return context.unpack_value(builder, found, pointer)

    return found(words, place, dtype), build


def _words(context: LoweringContext, builder: Builder, words: LLVMValue, place: int, count: int) -> list[LLVMValue]:
    return [builder.load(builder.gep(words, [context.get_constant(types.intp, place + one)])) for one in range(count)]


def _at_address(
    context: LoweringContext,
    builder: Builder,
    kind: types.Buffer,
    address: LLVMValue,
    shape: LLVMValues,
    strides: LLVMValues,
) -> LLVMValue:
    """An array, or bytes, of memory that nobody counts the references of."""
    array = make_array(kind)(context, builder)
    size = context.get_constant(types.intp, context.get_abi_sizeof(context.get_data_type(kind.dtype)))
    data = builder.inttoptr(address, array.data.type)
    populate_array(array, data=data, shape=shape, strides=strides, itemsize=size, meminfo=None)
    return impl_ret_borrowed(context, builder, kind, array._getvalue())


def _array(
    context: LoweringContext,
    builder: Builder,
    kinds: tuple[types.Array, types.Array],
    args: LLVMValues,
    shape: list[LLVMValue],
) -> LLVMValue:
    """An array of one type in the memory of another, `args[1]` bytes into it."""
    block, kind = kinds
    source = make_array(block)(context, builder, args[0])
    array = make_array(kind)(context, builder)
    size = context.get_constant(types.intp, context.get_abi_sizeof(context.get_data_type(kind.dtype)))
    strides: list[LLVMValue] = [size]
    for length in reversed(shape[1:]):
        strides.insert(0, builder.mul(strides[0], length))
    data = builder.bitcast(builder.gep(source.data, [args[1]]), array.data.type)
    populate_array(array, data=data, shape=shape, strides=strides, itemsize=size, meminfo=source.meminfo)
    return impl_ret_borrowed(context, builder, kind, array._getvalue())


VIEW_NAMES = {
    one.__name__: one
    for one in (after_column, given, rows_at, values_at, pointed, array_given, bytes_given, number_given)
}
"""What the text of a loop calls to reach memory."""
