"""From statements whose types are known to LLVM's language."""

from collections.abc import Mapping, Sequence

from llvmlite import ir as llvm
from numba.core.base import BaseContext
from numba.core.callconv import BaseCallConv
from numba.core.funcdesc import FunctionDescriptor
from numba.core.ir import Block, DynamicRaise, Expr, FunctionIR, Loc, Stmt, Var
from numba.core.types import Type
from numba.core.typing import Signature

class BaseLower:
    blocks: Mapping[int, Block]
    builder: llvm.IRBuilder
    context: BaseContext
    fndesc: FunctionDescriptor
    func_ir: FunctionIR
    loc: Loc
    metadata: dict[str, object]
    @property
    def call_conv(self) -> BaseCallConv: ...
    def init(self) -> None: ...
    def lower_function_body(self) -> llvm.Block: ...
    def return_dynamic_exception(
        self,
        exc_class: type[Exception] | None,
        exc_args: tuple[object, ...],
        nb_types: tuple[Type | None, ...],
        loc: Loc | None = None,
    ) -> None: ...
    def typeof(self, varname: str) -> Type: ...

class Lower(BaseLower):
    def fold_call_args(
        self,
        fnty: Type,
        signature: Signature,
        pos_args: Sequence[Var],
        vararg: Var | None,
        kw_args: Sequence[tuple[str, Var]],
    ) -> Sequence[llvm.Value]: ...
    def loadvar(self, name: str) -> llvm.Value: ...
    def lower_binop(self, resty: Type, expr: Expr, op: object) -> llvm.Value: ...
    def lower_dynamic_raise(self, inst: DynamicRaise) -> None: ...
    def lower_getitem(self, resty: Type, expr: Expr, value: Var, index: Var, signature: Signature) -> llvm.Value: ...
    def lower_inst(self, inst: Stmt) -> None: ...
    def lower_setitem(self, target_var: Var, index_var: Var, value_var: Var, signature: Signature) -> llvm.Value: ...
    def _lower_call_normal(self, fnty: Type, expr: Expr, signature: Signature) -> llvm.Value: ...
