"""Numba's and LLVM's objects by their names: neither library is typed.

Of variables, expressions and signatures a checker reads the classes; of the others nothing but the name is known.
Nothing of Numba is imported by this module when it runs.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from numba.core import ir
    from numba.core.typing.templates import Signature as NumbaSignature

__all__ = [
    "Builder",
    "CallTypes",
    "Compiled",
    "FunctionIR",
    "IRBlock",
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
Signature: TypeAlias = "NumbaSignature"
"""A `numba.core.typing.templates.Signature`: `args` and `return_type`."""
FunctionIR: TypeAlias = Untyped
IRBlock: TypeAlias = "ir.Block"
IRExpr: TypeAlias = "ir.Expr"
"""A `numba.core.ir.Expr`: `op`, and attributes by it."""
IRVar: TypeAlias = "ir.Var"
IRStatement: TypeAlias = Untyped
IRLocation: TypeAlias = "ir.Loc"
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
