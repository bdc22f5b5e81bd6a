"""Promotion: where it matters that a float of compiled code is an integer interpreted, the rule is refused.

-0 is 0, but -0.0 is not; an array of integers is not one of floats; 3**40 has more digits than a float.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numba.core import ir, types

from ludus.kernels.exact.explanation import NOT_THE_USERS
from ludus.kernels.exact.flow import Flow, Follower, Typed, named, wholes
from ludus.kernels.exact.functions import power
from ludus.kernels.exact.names import refuse
from ludus.kernels.exact.operators import operator
from ludus.kernels.exact.place import place_of
from ludus.kernels.exact.whole import Whole
from ludus.kernels.numba_types import IRExpr, IRVar

__all__ = ["judge_promotions"]

SIGNED: dict[object, str] = {operator.mul: "*", operator.floordiv: "//", operator.mod: "%"}
"""Of 0 and a negative number they give 0, and of 0.0 they give -0.0."""
MAKE_ARRAYS = {np.array, np.asarray, np.full, np.full_like, np.where}
LARGEST_POWER = 2**53


def judge_promotions(functions: Mapping[object, Typed]) -> None:
    """Refuse a program for the first operation that an integer would make another result of than a float."""
    flow = Flow(functions)
    flow.follow()
    for key, one in functions.items():
        if one.rule:
            _Judge(flow, key, one).judge()


class _Judge(Follower):
    def judge(self) -> None:
        for block in self.typed.func_ir.blocks.values():
            for statement in block.body:
                self.loc = statement.loc
                if isinstance(statement, ir.Assign) and isinstance(statement.value, ir.Expr):
                    self._judge(statement.value)

    def _judge(self, expr: IRExpr) -> None:
        if expr.op == "unary" and expr.fn is operator.neg:
            found = self.of(expr.value)
            if isinstance(found, Whole) and found.may_be_zero:
                self._refuse("- of", expr.value, found)
        elif expr.op in ("binop", "inplace_binop"):
            op = expr.fn if expr.op == "binop" else expr.immutable_fn
            self._judge_pair(op, expr.lhs, expr.rhs)
        elif expr.op == "call":
            self._judge_call(expr)

    def _judge_pair(self, op: object, left: IRVar, right: IRVar) -> None:
        for one, other in ((left, right), (right, left)):
            found, kind = self.of(one), self.kind(other)
            if isinstance(found, Whole) and isinstance(kind, types.Array) and not isinstance(kind.dtype, types.Float):
                self._refuse("an array of integers with", one, found)
        whole = self.whole([left, right])
        positive = (self._literal(right) or 0) > 0 or (op is operator.mul and (self._literal(left) or 0) > 0)
        if whole is not None and op in SIGNED and not positive:
            self._refuse(f"{SIGNED[op]} of", left if isinstance(self.of(left), Whole) else right, whole)

    def _judge_call(self, expr: IRExpr) -> None:
        called = self.typed.typemap[expr.func.name]
        key = named(getattr(called, "typing_key", None))
        args = [*expr.args, *(one for _, one in expr.kws)]
        if key is power or key is operator.pow or key is pow:
            self._judge_power(args)
        elif isinstance(key, np.ufunc) and _of_integers(key):
            whole = self.whole(args)
            if whole is not None:
                self._refuse(f"numpy.{key.__name__} of", args[0], whole)
        elif key in MAKE_ARRAYS and not any(name == "dtype" for name, _ in expr.kws):
            self._judge_array(expr)

    def _judge_power(self, args: list[IRVar]) -> None:
        whole = self.whole(args)
        if whole is None:
            return
        exponent = self._literal(args[1])
        small = exponent is not None and exponent >= 0 and whole.values is not None
        if not small or max(abs(one) for one in whole.values or ()) ** (exponent or 0) > LARGEST_POWER:
            self._refuse("** of", args[0] if isinstance(self.of(args[0]), Whole) else args[1], whole)

    def _judge_array(self, expr: IRExpr) -> None:
        """An array is of floats if one of its numbers is, which has to be certain."""
        items = [item for one in expr.args for item in self._items(one)]
        found = [whole for item in items for whole in wholes(self.of(item))]
        if found and not any(self.kind(one) == types.float64 and self.of(one) is None for one in items):
            self._refuse("an array of", items[0], found[0])

    def _items(self, var: IRVar) -> list[IRVar]:
        """The numbers that a list or a tuple was written with."""
        defined = self.typed.func_ir._definitions.get(var.name, [])
        made = defined[0] if len(defined) == 1 else None
        if isinstance(made, ir.Var):
            return self._items(made)
        if isinstance(made, ir.Expr) and made.op in ("build_list", "build_tuple"):
            return [item for one in made.items for item in self._items(one)]
        return [var]

    def _refuse(self, use: str, var: IRVar, whole: Whole) -> None:
        place = place_of(whole.place.filename, whole.place.line)
        where = "" if _ours(whole.place.filename) or whole.place.line == self.loc.line else f" (from {place})"
        got = f"{use} {self._name(var)}, an integer in one case{where} and a float in another"
        refuse(self.loc, got, "a float in both: 0.0 for 0")

    def _name(self, var: IRVar) -> str:
        """What the author calls a value."""
        if not var.name.startswith("$"):
            return str(var.name.partition(".")[0])
        defined = self.typed.func_ir._definitions.get(var.name, [])
        made = defined[0] if len(defined) == 1 else None
        if isinstance(made, ir.Expr) and made.op == "getattr":
            return f"{self._name(made.value)}.{made.attr}"
        return self._name(made) if isinstance(made, ir.Var) else "a value"


def _ours(filename: str) -> bool:
    return NOT_THE_USERS.search(filename) is not None


def _of_integers(ufunc: np.ufunc) -> bool:
    """Whether a ufunc gives integers for integers.

    >>> _of_integers(np.square), _of_integers(np.sin)
    (True, False)
    """
    return f"{'l' * ufunc.nin}->l" in ufunc.types
