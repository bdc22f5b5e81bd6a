"""What compiled rules give, into memory: checked when compiled, so that nothing is cut without a word.

A float for an integer is refused while compiling. An integer that a narrower one cannot hold is an error when it comes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numba
from numba.core import cgutils, types
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

from ludus.errors import ContractViolation, KernelError
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
from ludus.spaces.array_space import Array

__all__ = ["LOOP_NAMES", "Unfitting", "apart", "is_row", "put_seen", "put_state"]


class Unfitting(KernelError):
    """A number that is not of the type of where it goes; the compiler adds the place."""


def _storing(exact: bool) -> Callable[..., Compiled]:
    """The function that stores a number, or a tuple of as many as a row has, at a place of an array."""

    @intrinsic(prefer_literal=True)
    def put(
        typing_context: TypingContext,
        array: types.Array | types.CPointer,
        index: NumbaType,
        value: NumbaType,
        name: types.StringLiteral,
    ) -> Intrinsic:
        del typing_context
        where = name.literal_value
        kinds = list(_flat(value))
        for kind in kinds:
            _check(kind, array.dtype, where, exact)

        def build(context: LoweringContext, builder: Builder, signature: Signature, args: LLVMValues) -> LLVMValue:
            del signature
            numbers = _unpacked(builder, value, args[2])
            first = _first(context, builder, array, args[0], _indices(builder, index, args[1]))
            for place, (kind, number) in enumerate(zip(kinds, numbers, strict=True)):
                fits = _narrowed(context, builder, kind, array.dtype, number, where)
                pointer = builder.gep(first, [context.get_constant(types.intp, place)]) if place else first
                context.pack_value(builder, array.dtype, fits, pointer)
            return context.get_dummy_value()

        return types.void(array, index, value, name), build

    return put


def _flat(kind: NumbaType) -> Iterator[NumbaType]:
    if isinstance(kind, types.BaseTuple):
        for one in kind.types:
            yield from _flat(one)
    else:
        yield types.unliteral(kind)


def _unpacked(builder: Builder, kind: NumbaType, value: LLVMValue) -> Iterator[LLVMValue]:
    if isinstance(kind, types.BaseTuple):
        for one, part in zip(kind.types, cgutils.unpack_tuple(builder, value, kind.count), strict=True):
            yield from _unpacked(builder, one, part)
    else:
        yield value


def _indices(builder: Builder, kind: NumbaType, index: LLVMValue) -> list[LLVMValue]:
    return cgutils.unpack_tuple(builder, index, len(kind)) if isinstance(kind, types.BaseTuple) else [index]


def _first(
    context: LoweringContext,
    builder: Builder,
    kind: types.Array | types.CPointer,
    array: LLVMValue,
    indices: list[LLVMValue],
) -> LLVMValue:
    """Where the row, or the number, of these indices begins."""
    if isinstance(kind, types.CPointer):
        return builder.gep(array, indices)
    zero: LLVMValue = context.get_constant(types.intp, 0)
    inside = indices + [zero] * (kind.ndim - len(indices))
    return cgutils.get_item_pointer(context, builder, kind, make_array(kind)(context, builder, array), inside)


def _check(kind: NumbaType, dtype: NumbaType, name: str, exact: bool) -> None:
    """Whether numbers of a type may go into an array of a dtype, as far as that is known while compiling.

    What is stored in a state has to be of its type: one environment keeps the number as it came, and an int8 of a
    board, a float32 of an action or a bool of NumPy's goes on with another arithmetic than the wider number.
    """
    if kind == dtype or isinstance(kind, types.IntEnumMember):
        return
    if isinstance(kind, types.List):
        raise Unfitting(f"{name}: expected an array or a tuple, got a list from the rules; write np.array(…) around it")
    whole = isinstance(kind, types.Integer | types.Boolean)
    if exact and kind == types.int64 and dtype == types.float64:
        return  # which of them may be told apart is followed: `ludus.kernels.exact.flow`
    if not exact and whole and isinstance(dtype, types.Integer | types.Float):
        return
    if not exact and isinstance(kind, types.Float) and isinstance(dtype, types.Float):
        return
    raise Unfitting(f"{name}: expected {dtype}, got {kind} from the rules; {_cure(kind, dtype)}")


def _cure(kind: NumbaType, dtype: NumbaType) -> str:
    if dtype == types.int64:
        return "annotate it as float, or round it: int(x)" if isinstance(kind, types.Float) else "write int(x)"
    return "write float(x)" if dtype == types.float64 else f"return {dtype}"


def _narrowed(
    context: LoweringContext, builder: Builder, kind: NumbaType, dtype: NumbaType, value: LLVMValue, name: str
) -> LLVMValue:
    """The number in the array's dtype; an error in the compiled loop where that is another number."""
    found = context.cast(builder, value, kind, dtype)
    if not isinstance(kind, types.Integer) or not isinstance(dtype, types.Integer):
        return found
    if kind.minval >= dtype.minval and kind.maxval <= dtype.maxval:
        return found
    back = context.cast(builder, found, dtype, kind)
    lost = builder.icmp_unsigned("!=", back, value)
    if kind.signed != dtype.signed:
        signed, number = (kind, value) if kind.signed else (dtype, found)
        below = builder.icmp_signed("<", number, context.get_constant(signed, 0))
        lost = builder.or_(lost, below)
    with builder.if_then(lost, likely=False):
        text = f"{name}: expected {dtype}, {dtype.minval} to {dtype.maxval}, got a number beyond it"
        context.call_conv.return_user_exc(builder, ContractViolation, (text,))
    return found


put_state, put_seen = _storing(True), _storing(False)


# --- arrays that are views of the lane's own memory ---


@intrinsic
def _points_into(typing_context: TypingContext, array: types.Array, block: types.Array) -> Intrinsic:
    """Whether an array's elements lie in a block."""
    del typing_context

    def build(context: LoweringContext, builder: Builder, signature: Signature, args: LLVMValues) -> LLVMValue:
        del signature
        start, memory = (
            builder.ptrtoint(make_array(kind)(context, builder, one).data, cgutils.intp_t)
            for kind, one in zip((array, block), args, strict=True)
        )
        size = make_array(block)(context, builder, args[1]).nitems
        return builder.icmp_unsigned("<", builder.sub(start, memory), size)

    return types.boolean(array, block), build


@intrinsic
def is_row(typing_context: TypingContext, array: types.Array, row: types.Array) -> Intrinsic:
    """Whether an array is the row itself: rules that change it in place give it back."""
    del typing_context
    known = array.layout == "C" and array.dtype == row.dtype and array.ndim == row.ndim

    def build(context: LoweringContext, builder: Builder, signature: Signature, args: LLVMValues) -> LLVMValue:
        del signature
        if not known:
            return cgutils.false_bit
        first, second = (
            builder.ptrtoint(make_array(kind)(context, builder, one).data, cgutils.intp_t)
            for kind, one in zip((array, row), args, strict=True)
        )
        return builder.icmp_unsigned("==", first, second)

    return types.boolean(array, row), build


@numba.njit(nogil=True)
def apart(array: Compiled, block: Array, row: Array) -> Compiled:
    """The array, or a copy of it where it is another part of the block, which is about to be written over."""
    if _points_into(array, block) and not is_row(array, row):
        return array.copy()
    return array


LOOP_NAMES = {
    "put_seen": put_seen,
    "put_state": put_state,
    "apart": apart,
    "is_row": is_row,
    "ContractViolation": ContractViolation,
}
"""What the text of a loop calls to store values."""
