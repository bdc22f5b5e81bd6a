"""Numba's and LLVM's objects by their names: neither library is typed, so that nothing but the name is known here.

What a checker is to know of them stands beside each use; nothing of Numba is imported by this module.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

__all__ = [
    "Builder",
    "CallTypes",
    "Compiled",
    "FunctionIR",
    "IRExpr",
    "IRLocation",
    "IRStatement",
    "IRVar",
    "Implementation",
    "Intrinsic",
    "LLVMValue",
    "LLVMValues",
    "LoweringContext",
    "NumbaType",
    "Signature",
    "TypeMap",
    "TypingContext",
]

Untyped: TypeAlias = Any

Compiled: TypeAlias = Untyped
"""A value in compiled code, whose type Numba infers for each call."""
NumbaType: TypeAlias = Untyped
"""A `numba.core.types.Type`, with the attributes of its kind."""
Signature: TypeAlias = Untyped
"""A `numba.core.typing.templates.Signature`: `args` and `return_type`."""
FunctionIR: TypeAlias = Untyped
IRExpr: TypeAlias = Untyped
"""A `numba.core.ir.Expr`: `op`, and attributes by it."""
IRVar: TypeAlias = Untyped
IRStatement: TypeAlias = Untyped
IRLocation: TypeAlias = Untyped
TypingContext: TypeAlias = Untyped
LoweringContext: TypeAlias = Untyped
"""The target's context, which knows how its types are laid out."""
Builder: TypeAlias = Untyped
"""An `llvmlite.ir.IRBuilder`."""
LLVMValue: TypeAlias = Untyped
LLVMValues: TypeAlias = Sequence[LLVMValue]
TypeMap: TypeAlias = dict[str, NumbaType]
"""The types of a function's variables, by name."""
CallTypes: TypeAlias = dict[IRExpr, Signature]
Implementation: TypeAlias = Callable[..., Compiled] | None
"""What an overload gives for the types that it was asked for; None: it is not for these."""
Intrinsic: TypeAlias = tuple[Signature, Callable[..., LLVMValue]] | None
"""Its signature, and what writes it for LLVM; None: it is not for these types."""
