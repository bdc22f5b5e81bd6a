"""What Numba writes often."""

from collections.abc import Sequence
from contextlib import AbstractContextManager

from llvmlite import ir
from numba.core.base import BaseContext
from numba.core.types import ArrayCompatible
from numba.np.arrayobj import _ArrayStruct

false_bit: ir.Constant
intp_t: ir.IntType

def add_global_variable(module: ir.Module, ty: ir.Type, name: str, addrspace: int = 0) -> ir.GlobalVariable: ...
def alloca_once(
    builder: ir.IRBuilder, ty: ir.Type, size: ir.Value | int | None = None, name: str = "", zfill: bool = False
) -> ir.AllocaInstr: ...
def alloca_once_value(
    builder: ir.IRBuilder, value: ir.Value, name: str = "", zfill: bool = False
) -> ir.AllocaInstr: ...
def gep_inbounds(builder: ir.IRBuilder, ptr: ir.Value, *inds: ir.Value | int) -> ir.Value: ...
def get_item_pointer(
    context: BaseContext, builder: ir.IRBuilder, aryty: ArrayCompatible, ary: _ArrayStruct, inds: Sequence[ir.Value]
) -> ir.Value: ...
def get_or_insert_function(module: ir.Module, fnty: ir.FunctionType, name: str) -> ir.Function: ...
def if_unlikely(builder: ir.IRBuilder, pred: ir.Value) -> AbstractContextManager[ir.Block]: ...
def unpack_tuple(builder: ir.IRBuilder, tup: ir.Value, count: int | None = None) -> list[ir.Value]: ...
