"""Columns of a block in compiled code: an array where memory already is.

NumPy's way, slices viewed as another dtype and reshaped, works as well, but costs the compiler half of its time.
"""

from typing import Any

from numba.core import cgutils, types
from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array

from ludus.kernels.block import ALIGNMENT

__all__ = ["after_column", "given", "rows_at", "values_at"]


@intrinsic
def values_at(typing_context: Any, block: Any, at: Any, n: Any, dtype: Any) -> Any:
    """The array of `n` values of a dtype that begins `at` bytes into a block."""
    del typing_context
    found = types.Array(dtype.dtype, 1, "C")

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _array(context, builder, signature, args, [args[2]])

    return found(block, at, n, dtype), build


@intrinsic
def rows_at(typing_context: Any, block: Any, at: Any, n: Any, shape: Any, dtype: Any) -> Any:
    """The array of `n` rows of a shape, a tuple of integers, that begins `at` bytes into a block."""
    del typing_context
    found = types.Array(dtype.dtype, 1 + len(shape), "C")

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _array(context, builder, signature, args, [args[2], *cgutils.unpack_tuple(builder, args[3])])

    return found(block, at, n, shape, dtype), build


@intrinsic
def after_column(typing_context: Any, at: Any, n: Any, size: Any) -> Any:
    """Where the next column begins: `n` lanes of `size` bytes further, on a cache line of its own."""
    del typing_context, at, n, size

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        del context, signature
        begin, lanes, bytes_each = args
        word = begin.type
        padded = builder.add(builder.mul(lanes, bytes_each), word(ALIGNMENT - 1))
        return builder.add(begin, builder.and_(padded, word(-ALIGNMENT)))

    return types.intp(types.intp, types.intp, types.intp), build


@intrinsic
def given(typing_context: Any, value: Any) -> Any:
    """A value that rules are given to read: of an array, one that the compiler lets nobody write into."""
    del typing_context
    found = value
    if isinstance(value, types.Array):
        found = types.Array(value.dtype, value.ndim, value.layout, readonly=True)

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return impl_ret_borrowed(context, builder, signature.return_type, args[0])

    return found(value), build


def _array(context: Any, builder: Any, signature: Any, args: Any, shape: list[Any]) -> Any:
    kind = signature.return_type
    source = make_array(signature.args[0])(context, builder, args[0])
    array = make_array(kind)(context, builder)
    size = context.get_constant(types.intp, context.get_abi_sizeof(context.get_data_type(kind.dtype)))
    strides = [size]
    for length in reversed(shape[1:]):
        strides.insert(0, builder.mul(strides[0], length))
    data = builder.bitcast(builder.gep(source.data, [args[1]]), array.data.type)
    populate_array(array, data=data, shape=shape, strides=strides, itemsize=size, meminfo=source.meminfo)
    return impl_ret_borrowed(context, builder, kind, array._getvalue())
