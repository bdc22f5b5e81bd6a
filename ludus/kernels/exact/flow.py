"""Flow: which floats of compiled rules may be integers interpreted, through variables, calls and columns of a state.

All functions of a program are followed together, until nothing more is found: a rule may return 0 where another adds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple, TypeVar

import numpy as np
from numba.core import ir, types

from ludus.kernels.exact.functions import REPLACED, power
from ludus.kernels.exact.operators import operator
from ludus.kernels.exact.whole import Finding, Whole, joined, parts, promoted, shortened, spread
from ludus.kernels.numba_types import CallTypes, FunctionIR, IRExpr, IRVar, NumbaType, TypeMap
from ludus.kernels.store import put_state

__all__ = ["Flow", "Follower", "Typed", "named", "wholes"]

Key = TypeVar("Key")
SAME = ("exhaust_iter", "getiter", "iternext", "pair_first")
NAMES = {id(stub): thing for thing, stub in REPLACED.items()}
KEEPS = {operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod}


def named(key: object) -> object:
    """What a rule calls, where something else stands for it in compiled code.

    >>> named(REPLACED[np.tanh])
    <ufunc 'tanh'>
    """
    return NAMES.get(id(key), key)


class Typed(NamedTuple):
    """A function whose types are known."""

    func_ir: FunctionIR
    typemap: TypeMap
    calltypes: CallTypes
    rule: bool
    """Whether it is the user's own; the others are the text of the loop."""


class Flow:
    """What is known of every variable of a program's functions."""

    def __init__(self, functions: Mapping[object, Typed]) -> None:
        self.functions = functions
        self.known: dict[tuple[object, str], Finding] = {}
        self.arguments: dict[object, dict[int, Finding]] = {}
        self.returned: dict[object, Finding] = {}
        self.columns: dict[str, Finding] = {}
        self._changed = True

    def follow(self) -> None:
        """Go through all functions until nothing changes."""
        while self._changed:
            self._changed = False
            for key, one in self.functions.items():
                Follower(self, key, one).run()

    def learn(self, table: dict[Key, Finding], key: Key, found: Finding) -> None:
        """Add to what is known."""
        before = table.get(key)
        after = joined(before, found)
        if after != before:
            table[key] = after
            self._changed = True


class Follower:
    """One function, gone through once."""

    def __init__(self, flow: Flow, key: object, typed: Typed) -> None:
        self.flow, self.key, self.typed, self.loc = flow, key, typed, typed.func_ir.loc

    def run(self) -> None:
        """Add what every statement gives."""
        for block in self.typed.func_ir.blocks.values():
            for statement in block.body:
                self.loc = statement.loc
                if isinstance(statement, ir.Assign):
                    self._learn(statement.target, self._value(statement.value, statement.target))
                elif isinstance(statement, ir.Return):
                    self.flow.learn(self.flow.returned, self.key, self.of(statement.value))
                elif isinstance(statement, ir.SetItem | ir.StaticSetItem) and isinstance(
                    self.kind(statement.target), types.List
                ):
                    self._into_list(statement.target, statement.value)

    # --- what is known ---

    def of(self, var: IRVar) -> Finding:
        """What is known of a variable."""
        return self.flow.known.get((self.key, var.name))

    def kind(self, var: IRVar) -> NumbaType:
        """A variable's type."""
        return types.unliteral(self.typed.typemap[var.name])

    def _learn(self, var: IRVar, found: Finding) -> None:
        self.flow.learn(self.flow.known, (self.key, var.name), found)

    def _as(self, var: IRVar, kind: NumbaType) -> Finding:
        """What is known of a variable once it is of another type."""
        defined = self.typed.func_ir._definitions.get(var.name, [])
        place = getattr(defined[0], "loc", self.loc) if defined else self.loc
        return promoted(self.of(var), self.kind(var), kind, place, self._literal(var))

    def _literal(self, var: IRVar) -> int | None:
        kind = self.typed.typemap[var.name]
        if isinstance(kind, types.IntegerLiteral):
            return int(kind.literal_value)
        defined = self.typed.func_ir._definitions.get(var.name, [])
        value = defined[0].value if len(defined) == 1 and isinstance(defined[0], ir.Const | ir.Global) else None
        return value if isinstance(value, int) else None

    # --- what an assignment gives ---

    def _value(self, value: object, target: IRVar) -> Finding:
        expected = self.kind(target)
        if isinstance(value, ir.Var):
            return self._as(value, expected)
        if isinstance(value, ir.Arg):
            return self.flow.arguments.get(self.key, {}).get(value.index)
        if not isinstance(value, ir.Expr):
            return None
        named: Callable[[IRExpr, NumbaType], Finding] | None = getattr(self, f"_{value.op}", None)
        if named is not None:
            return named(value, expected)
        if value.op in SAME:
            return self._elements(value.value) if value.op == "getiter" else self.of(value.value)
        return self._unknown(list(value.list_vars()), expected)

    def _cast(self, expr: IRExpr, expected: NumbaType) -> Finding:
        return self._as(expr.value, expected)

    def _phi(self, expr: IRExpr, expected: NumbaType) -> Finding:
        found = None
        for one in expr.incoming_values:
            if isinstance(one, ir.Var):
                found = joined(found, self._as(one, expected))
        return found

    def _build_tuple(self, expr: IRExpr, expected: NumbaType) -> Finding:
        del expected
        return shortened(tuple(self.of(one) for one in expr.items))

    def _build_list(self, expr: IRExpr, expected: NumbaType) -> Finding:
        found = None
        for one in expr.items:
            found = joined(found, self._as(one, _element(expected)))
        return found

    def _getattr(self, expr: IRExpr, expected: NumbaType) -> Finding:
        del expected
        kind, found = self.kind(expr.value), self.of(expr.value)
        fields = getattr(kind, "fields", ())
        return found[fields.index(expr.attr)] if isinstance(found, tuple) and expr.attr in fields else None

    def _static_getitem(self, expr: IRExpr, expected: NumbaType) -> Finding:
        kind, found = self.kind(expr.value), self.of(expr.value)
        if isinstance(kind, types.BaseTuple) and isinstance(expr.index, int):
            return found[expr.index] if isinstance(found, tuple) else None
        return self._item(expr, expected)

    def _getitem(self, expr: IRExpr, expected: NumbaType) -> Finding:
        return self._item(expr, expected)

    def _typed_getitem(self, expr: IRExpr, expected: NumbaType) -> Finding:
        return self._item(expr, expected)

    def _item(self, expr: IRExpr, expected: NumbaType) -> Finding:
        kind = self.kind(expr.value)
        if isinstance(kind, types.Array | types.CPointer):  # of the loop's: a column of the state
            return None if self.typed.rule or expected != types.float64 else self.flow.columns.get(expr.value.name)
        if isinstance(kind, types.List):
            return self.of(expr.value)
        return self._unknown([expr.value], expected)

    def _pair_second(self, expr: IRExpr, expected: NumbaType) -> Finding:
        del expr, expected

    def _unary(self, expr: IRExpr, expected: NumbaType) -> Finding:
        found = self.of(expr.value)
        if expected != types.float64 or not isinstance(found, Whole):
            return None
        return Whole(None if found.values is None else frozenset(-one for one in found.values), found.place)

    def _binop(self, expr: IRExpr, expected: NumbaType) -> Finding:
        return self._number_of(expr.fn, [expr.lhs, expr.rhs], expected)

    def _inplace_binop(self, expr: IRExpr, expected: NumbaType) -> Finding:
        return self._number_of(expr.immutable_fn, [expr.lhs, expr.rhs], expected)

    def _number_of(self, key: object, args: list[IRVar], expected: NumbaType) -> Finding:
        """An integer of integers; whatever meets a float is one."""
        whole = self.whole(args)
        return None if key not in KEEPS or expected != types.float64 or whole is None else Whole(None, whole.place)

    def whole(self, args: list[IRVar]) -> Whole | None:
        """Where every one of some numbers may be an integer, one of those that compiled code has as floats."""
        found = None
        for one in args:
            known = self.of(one)
            if isinstance(known, Whole):
                found = found or known
            elif not isinstance(self.kind(one), types.Integer | types.Boolean):
                return None
        return found

    # --- calls ---

    def _call(self, expr: IRExpr, expected: NumbaType) -> Finding:
        called = self.typed.typemap[expr.func.name]
        args = [*expr.args, *(one for _, one in expr.kws)]
        if isinstance(called, types.Dispatcher):
            return self._of_rule(called, expr, args, expected)
        if isinstance(called, types.NamedTupleClass):
            return self._record(called, expr, expected)
        if isinstance(called, types.BoundFunction):
            self._method(expr, args)
        key = getattr(called, "typing_key", called)
        if not self.typed.rule:
            self._store(key, args)
        if key in (min, max):
            return self._extreme(args, expected)
        if key is abs or key is power:
            whole = self.whole(args) if expected == types.float64 else None
            return None if whole is None else Whole(None, whole.place)
        if key in (zip, enumerate):
            found = [self._elements(one) for one in args]
            return shortened((None, found[0]) if key is enumerate else tuple(found))
        if isinstance(called, types.NumberClass) or key is REPLACED[float]:
            # In a rule it says that a float is meant; in the loop it only lays out what the rule gave.
            return None if self.typed.rule else self._as(args[0], expected)
        if isinstance(named(key), np.ufunc) or getattr(key, "__module__", "") == "math":
            return None
        return self._unknown(args, expected)

    def _of_rule(self, called: types.Dispatcher, expr: IRExpr, args: list[IRVar], expected: NumbaType) -> Finding:
        key = called.dispatcher.py_func, tuple(self.typed.calltypes[expr].args)
        callee = self.flow.functions.get(key)
        if callee is None:
            return self._unknown(args, expected)
        table = self.flow.arguments.setdefault(key, {})
        names = list(callee.func_ir.arg_names)
        for place, one in enumerate(expr.args):
            self.flow.learn(table, place, self.of(one))
        for name, one in expr.kws:
            self.flow.learn(table, names.index(name), self.of(one))
        return self.flow.returned.get(key)

    def _record(self, called: types.NamedTupleClass, expr: IRExpr, expected: NumbaType) -> Finding:
        fields = called.instance_class._fields
        found: dict[str, IRVar] = dict(zip(fields, expr.args, strict=False)) | dict(expr.kws)
        pairs = zip(fields, parts(expected), strict=True)
        return shortened(tuple(self._as(found[name], kind) if name in found else None for name, kind in pairs))

    def _extreme(self, args: list[IRVar], expected: NumbaType) -> Finding:
        if expected != types.float64:
            return None
        found = None
        for one in args:
            row = isinstance(self.kind(one), types.BaseTuple | types.List)
            found = joined(found, self._elements(one) if row else self._as(one, expected))
        return found

    def _method(self, expr: IRExpr, args: list[IRVar]) -> None:
        defined = self.typed.func_ir._definitions.get(expr.func.name, [])
        held = defined[0].value if defined and isinstance(defined[0], ir.Expr) else None
        if held is not None and isinstance(self.kind(held), types.List):
            for one in args:
                self._into_list(held, one)

    def _into_list(self, target: IRVar, value: IRVar) -> None:
        """What is put into a list is in it under all of its names."""
        found = self._as(value, _element(self.kind(target)))
        met: set[str] = set()
        while target.name not in met:
            met.add(target.name)
            self._learn(target, found)
            defined = self.typed.func_ir._definitions.get(target.name, [])
            target = next((one for one in defined if isinstance(one, ir.Var)), target)

    def _store(self, key: object, args: list[IRVar]) -> None:
        """A number of the state, which the next step reads as a float."""
        kind = self.kind(args[0]) if key is put_state else None
        if isinstance(kind, types.CPointer) and kind.dtype == types.float64:
            self.flow.learn(self.flow.columns, args[0].name, self._as(args[2], types.float64))

    # --- what is not followed further ---

    def _elements(self, var: IRVar) -> Finding:
        """What is known of the elements of a row."""
        kind, found = self.kind(var), self.of(var)
        if not isinstance(kind, types.BaseTuple) or not isinstance(found, tuple):
            return found
        every = None
        for one in found:
            every = joined(every, one)
        return every

    def _unknown(self, args: list[IRVar], expected: NumbaType) -> Finding:
        first = next((one for arg in args for one in wholes(self.of(arg))), None)
        return None if first is None else spread(expected, first)


def _element(row: NumbaType) -> NumbaType:
    """What a list holds."""
    return row.dtype if isinstance(row, types.List) else row


def wholes(found: Finding) -> Iterator[Whole]:
    """Every float of a value that may be whole."""
    if isinstance(found, Whole):
        yield found
    elif isinstance(found, tuple):
        for one in found:
            yield from wholes(one)
