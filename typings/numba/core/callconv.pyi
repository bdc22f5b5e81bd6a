"""How compiled functions call each other, and tell of errors."""

from collections.abc import Sequence
from typing import NamedTuple

from llvmlite import ir
from numba.core.ir import Loc
from numba.core.types import Type

class Status(NamedTuple):
    code: ir.Value
    is_ok: ir.Value
    is_none: ir.Value
    is_error: ir.Value
    is_stop_iteration: ir.Value
    is_python_exc: ir.Value
    is_user_exc: ir.Value
    excinfoptr: ir.Value

class BaseCallConv:
    # Those of each kind of convention.
    def call_function(
        self,
        builder: ir.IRBuilder,
        callee: ir.Function,
        resty: Type,
        argtys: Sequence[Type],
        args: Sequence[ir.Value],
    ) -> tuple[Status, ir.Value]: ...
    def return_status_propagate(self, builder: ir.IRBuilder, status: Status) -> None: ...
    def return_user_exc(
        self,
        builder: ir.IRBuilder,
        exc: type[BaseException] | None,
        exc_args: tuple[object, ...] | None = None,
        loc: Loc | None = None,
        func_name: str | None = None,
    ) -> None: ...

class CPUCallConv(BaseCallConv): ...
