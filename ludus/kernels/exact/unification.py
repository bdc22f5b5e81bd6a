"""Unification: where compiled code makes a wider number of one that the interpreter leaves as it is, a rule is refused.

`force = action[0] if fuel > 0 else 0.0` is of single precision in one case when it is interpreted, and goes on so; a
compiled variable has one type, which is double. Of `board[i]`, an int8, and 0 it is the same, and of a bool that NumPy
gave: two of them add up to True, where integers add up to 2.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numba.core import ir, types

from ludus.kernels.exact.flow import named
from ludus.kernels.exact.names import refuse
from ludus.kernels.exact.narrow import is_narrow
from ludus.kernels.numba_types import (
    CallTypes,
    FunctionIR,
    IRExpr,
    IRLocation,
    IRStatement,
    IRVar,
    NumbaType,
    TypeMap,
)

__all__ = ["judge_unification"]

CHOICES = {min, max}
PLAIN: dict[NumbaType, str] = {types.boolean: "a bool", types.float64: "a float", types.int64: "an integer"}
VALUE_OF = {"append": 0, "insert": 1, "extend": 0}
"""Which argument of a list's method is put into it."""


def judge_unification(func_ir: FunctionIR, typemap: TypeMap, calltypes: CallTypes, return_type: NumbaType) -> None:
    """Refuse a function that makes one variable, list or result of numbers of two types."""
    judge = _Judge(func_ir, typemap, calltypes, return_type)
    for block in func_ir.blocks.values():
        for statement in block.body:
            judge.statement(statement)


class _Judge:
    def __init__(self, func_ir: FunctionIR, typemap: TypeMap, calltypes: CallTypes, return_type: NumbaType) -> None:
        self.func_ir, self.typemap, self.calltypes, self.return_type = func_ir, typemap, calltypes, return_type
        self.loc: IRLocation = func_ir.loc

    def statement(self, statement: IRStatement) -> None:
        """Judge one statement."""
        self.loc = statement.loc
        if isinstance(statement, ir.Return):
            self._judge(statement.value, self.return_type)
        elif isinstance(statement, ir.SetItem | ir.StaticSetItem):
            self._judge_into_list(statement.target, statement.value)
        elif isinstance(statement, ir.Assign):
            self._judge_assignment(statement.value, statement.target)

    def _judge_assignment(self, value: object, target: IRVar) -> None:
        if isinstance(value, ir.Var):
            self._judge(value, self._kind(target))
        elif not isinstance(value, ir.Expr):
            return
        elif value.op == "cast":
            self._judge(value.value, self._kind(target))
        elif value.op == "phi":
            for one in value.incoming_values:
                if isinstance(one, ir.Var):
                    self.loc = self._place(one)
                    self._judge(one, self._kind(target), target)
        elif value.op == "build_list" and not self._only_laid_out(target):
            for one in value.items:
                self._judge_into_list(target, one)
        elif value.op == "call":
            self._judge_call(value)

    def _judge_call(self, expr: IRExpr) -> None:
        called = self.typemap[expr.func.name]
        if isinstance(called, types.BoundFunction):
            attribute = str(getattr(called.template, "key", "")).rpartition(".")[2]
            place = VALUE_OF.get(attribute)
            if isinstance(called.this, types.List) and place is not None and len(expr.args) > place:
                self._judge_into(expr.args[place], called.this)
            return
        key = named(getattr(called, "typing_key", None))
        if key is np.where and len(expr.args) == 3:
            expected: NumbaType = self.calltypes[expr].return_type
            for one in expr.args[1:]:
                self._judge(one, getattr(expected, "dtype", expected), cure="np.{}(…) for the other")
        elif key in CHOICES and len(expr.args) > 1:
            for one in expr.args:
                self._judge(one, types.unliteral(self.calltypes[expr].return_type))

    def _judge_into_list(self, target: IRVar, value: IRVar) -> None:
        kind = self._kind(target)
        if isinstance(kind, types.List):
            self._judge_into(value, kind)

    def _judge_into(self, value: IRVar, row: types.List) -> None:
        whole = isinstance(self._kind(value), types.List) and not isinstance(row.dtype, types.List)
        self._judge(value, row if whole else row.dtype)

    def _judge(self, var: IRVar, expected: NumbaType, target: IRVar | None = None, cure: str = "") -> None:
        for given, other in _pairs(self._kind(var), types.unliteral(expected)):
            if given != other and _is_loose(given) and not self._written(var):
                names = [one.name.partition(".")[0] for one in (var, target) if one is not None]
                name = next((one for one in names if not one.startswith("$")), "a value")
                both = f"{'float' if isinstance(other, types.Float) else 'int'}(…) in both"
                got = f"{name}, {_called(given)} in one case and {_called(other)} in another"
                refuse(self.loc, got, cure.format(given) or both)

    def _place(self, var: IRVar) -> IRLocation:
        """Where a variable gets its value."""
        defined = self.func_ir._definitions.get(var.name, [])
        return getattr(defined[0], "loc", self.loc) if defined else self.loc

    def _written(self, var: IRVar) -> bool:
        """Whether it is a bool that is written down, which is Python's."""
        if isinstance(self.typemap[var.name], types.BooleanLiteral):
            return True
        defined = self.func_ir._definitions.get(var.name, [])
        made = defined[0] if len(defined) == 1 else None
        return isinstance(made, ir.Const | ir.Global | ir.FreeVar) and isinstance(made.value, bool)

    def _only_laid_out(self, target: IRVar) -> bool:
        """Whether a list only becomes an array, which NumPy gives the same type as compiled code does."""
        names = {target.name}
        for block in self.func_ir.blocks.values():
            for statement in block.body:
                value = getattr(statement, "value", None)
                if isinstance(statement, ir.Del) or names.isdisjoint(one.name for one in statement.list_vars()):
                    continue
                if not isinstance(statement, ir.Assign):
                    return False
                if isinstance(value, ir.Var):
                    names.add(statement.target.name)
                elif statement.target.name not in names and not self._makes_array(value):
                    return False
        return True

    def _makes_array(self, value: object) -> bool:
        if not isinstance(value, ir.Expr) or value.op != "call":
            return False
        return getattr(self.typemap[value.func.name], "typing_key", None) in (np.array, np.asarray)

    def _kind(self, var: IRVar) -> NumbaType:
        return types.unliteral(self.typemap[var.name])


def _pairs(given: NumbaType, expected: NumbaType) -> Iterator[tuple[NumbaType, NumbaType]]:
    """The numbers of a type beside those of the type that is made of it."""
    if isinstance(given, types.BaseTuple) and isinstance(expected, types.BaseTuple):
        for one, other in zip(given.types, expected.types, strict=False):
            yield from _pairs(types.unliteral(one), types.unliteral(other))
    elif isinstance(given, types.List) and isinstance(expected, types.List):
        yield from _pairs(given.dtype, expected.dtype)
    elif isinstance(expected, types.Number | types.Boolean):
        yield getattr(given, "dtype", given), expected


def _is_loose(kind: NumbaType) -> bool:
    """Whether the interpreter has NumPy's number, or may have it, where arithmetic is not Python's."""
    return is_narrow(kind) or kind in (types.float32, types.boolean, types.uint64)


def _called(kind: NumbaType) -> str:
    return PLAIN.get(kind) or f"{kind}"
