"""Numba's and LLVM's objects by one name each: what they are is written in `typings`, since neither library says.

Nothing of Numba is imported by this module when it runs.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict

if TYPE_CHECKING:
    from llvmlite import ir as llvm
    from numba.core import base, compiler, ir, types, typing

__all__ = [
    "Builder",
    "CallTypes",
    "Compiled",
    "CompilerOptions",
    "FunctionIR",
    "IRBlock",
    "IRExpr",
    "IRLocation",
    "IRStatement",
    "IRValue",
    "IRVar",
    "Intrinsic",
    "LLVMType",
    "LLVMValue",
    "LLVMValues",
    "LoweringContext",
    "NumbaType",
    "OfOne",
    "OfTwo",
    "Signature",
    "TypeMap",
    "TypingContext",
]

Compiled: TypeAlias = Any
"""A value in compiled code, whose type Numba infers for each call: any number or array."""
NumbaType: TypeAlias = "types.Type"
Signature: TypeAlias = "typing.Signature"
FunctionIR: TypeAlias = "ir.FunctionIR"
IRBlock: TypeAlias = "ir.Block"
IRExpr: TypeAlias = "ir.Expr"
"""An expression: `op`, and attributes by it."""
IRVar: TypeAlias = "ir.Var"
IRValue: TypeAlias = "ir.AbstractRHS"
"""What may stand at the right of an assignment."""
IRStatement: TypeAlias = "ir.Stmt"
IRLocation: TypeAlias = "ir.Loc"
TypingContext: TypeAlias = "typing.BaseContext"
LoweringContext: TypeAlias = "base.BaseContext"
"""The target's context, which knows how its types are laid out."""
Builder: TypeAlias = "llvm.IRBuilder"
LLVMType: TypeAlias = "llvm.Type"
LLVMValue: TypeAlias = "llvm.Value"
LLVMValues: TypeAlias = Sequence[LLVMValue]
TypeMap: TypeAlias = dict[str, NumbaType]
"""The types of a function's variables, by name."""
CallTypes: TypeAlias = dict[IRExpr, Signature]
OfOne: TypeAlias = Callable[[Compiled], Compiled] | None
"""What an overload gives for the type that it was asked for; None: it is not for this."""
OfTwo: TypeAlias = Callable[[Compiled, Compiled], Compiled] | None
Intrinsic: TypeAlias = tuple[Signature, Callable[[LoweringContext, Builder, Signature, LLVMValues], LLVMValue]] | None
"""Its signature, and what writes it for LLVM; None: it is not for these types."""


class CompilerOptions(TypedDict, total=False):
    """The options of `numba.njit`."""

    cache: bool
    error_model: str
    forceinline: bool
    no_cfunc_wrapper: bool
    no_cpython_wrapper: bool
    nogil: bool
    pipeline_class: "type[compiler.CompilerBase]"
    _nrt: bool
