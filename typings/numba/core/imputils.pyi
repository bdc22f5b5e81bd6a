from llvmlite import ir
from numba.core.base import BaseContext
from numba.core.callconv import Status
from numba.core.types import Type
from numba.core.typing import Signature

def fix_returning_optional(
    context: BaseContext, builder: ir.IRBuilder, sig: Signature, status: Status, retval: ir.Value
) -> ir.Value: ...
def impl_ret_borrowed(ctx: BaseContext, builder: ir.IRBuilder, retty: Type, ret: ir.Value) -> ir.Value: ...
def impl_ret_new_ref(ctx: BaseContext, builder: ir.IRBuilder, retty: Type, ret: ir.Value) -> ir.Value: ...
