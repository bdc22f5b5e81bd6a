"""Overlaps: of `row[1:] += row[:-1]` NumPy reads all of the right side before it writes, and compiled code does not."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba.core import ir, types

from ludus.kernels.exact.names import refuse
from ludus.kernels.numba_types import FunctionIR, IRExpr, IRVar, TypeMap

__all__ = ["judge_overlaps"]

VIEWS = {
    *(np.reshape, np.ravel, np.transpose, np.flip, np.flipud, np.fliplr, np.rot90, np.asarray, np.ascontiguousarray),
    *("reshape", "ravel", "transpose"),
}
"""What gives the elements of its first argument, or of the array whose method it is, and no others."""
ATTRIBUTES = {"T", "real"}


class Origin(NamedTuple):
    """Whose elements an array has."""

    root: str | None
    """The array they belong to; None where that is not known."""
    whole: bool
    """Whether it has all of them, in their order."""
    given: bool = False
    """Whether it is an argument, of which two may belong to one array."""


def judge_overlaps(func_ir: FunctionIR, typemap: TypeMap) -> None:
    """Refuse an operation in place whose right side may be another part of the same array."""
    for block in func_ir.blocks.values():
        for statement in block.body:
            value = getattr(statement, "value", None)
            if not isinstance(value, ir.Expr) or value.op != "inplace_binop":
                continue
            sides = [value.lhs, value.rhs]
            if all(isinstance(typemap[one.name], types.Array) for one in sides) and _may_overlap(
                *(_origin(func_ir, typemap, one) for one in sides)
            ):
                got = "an operation in place with what may be another part of the same array"
                refuse(statement.loc, got, "b.copy() for the right side")


def _may_overlap(left: Origin, right: Origin) -> bool:
    if left.root is None or right.root is None or (left.given and right.given and left.root != right.root):
        return True
    return left.root == right.root and not (left.whole and right.whole)


def _origin(func_ir: FunctionIR, typemap: TypeMap, var: IRVar) -> Origin:
    defined = func_ir._definitions.get(var.name, [])
    made = defined[0] if len(defined) == 1 else None
    if isinstance(made, ir.Var):
        return _origin(func_ir, typemap, made)
    if isinstance(made, ir.Arg):
        return Origin(made.name, True, True)
    if isinstance(made, ir.Global | ir.FreeVar):
        return Origin(made.name, True)
    if not isinstance(made, ir.Expr) or made.op in ("phi", "exhaust_iter", "pair_first", "cast"):
        return Origin(None, False)
    if made.op == "getattr":
        inner = _origin(func_ir, typemap, made.value)
        part = made.attr in ATTRIBUTES
        return inner._replace(whole=False) if part else Origin(inner.root and f"{inner.root}.{made.attr}", True)
    if made.op in ("getitem", "static_getitem"):
        return _origin(func_ir, typemap, made.value)._replace(whole=False)
    return _called(func_ir, typemap, made, var) if made.op == "call" else Origin(var.name, True)


def _called(func_ir: FunctionIR, typemap: TypeMap, call: IRExpr, var: IRVar) -> Origin:
    kind = typemap[call.func.name]
    if isinstance(kind, types.Dispatcher):
        return Origin(None, False)  # a function of the author's own, which may give back a part of its argument
    if isinstance(kind, types.BoundFunction):
        method = func_ir._definitions[call.func.name][0]
        viewed = method.value if isinstance(method, ir.Expr) and method.attr in VIEWS else None
    else:
        viewed = call.args[0] if getattr(kind, "typing_key", None) in VIEWS else None
    return Origin(var.name, True) if viewed is None else _origin(func_ir, typemap, viewed)._replace(whole=False)
