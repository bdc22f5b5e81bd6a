"""Names: what a rule loads from a module or its closure, resolved and replaced before types are known."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from enum import Enum, EnumType, IntEnum
from types import FunctionType, ModuleType
from typing import NamedTuple, NoReturn, TypeGuard

import numpy as np
from numba.core import ir
from numba.core.dispatcher import Dispatcher
from numba.core.ir_utils import build_definitions, mk_unique_var

from ludus.errors import KernelError
from ludus.kernels.exact.allowed import FUNCTIONS, INEXACT, cure_of, name_of
from ludus.kernels.exact.functions import METHODS, REPLACED, power
from ludus.kernels.exact.operators import operator
from ludus.kernels.exact.place import place_of
from ludus.kernels.exact.program import RuleProgram
from ludus.kernels.exact.record import check_record
from ludus.kernels.numba_types import FunctionIR, IRExpr, IRLocation, IRStatement, IRVar
from ludus.spaces.kinds import class_of, is_tuple

__all__ = ["refuse", "replace_names"]

CONSTANTS = (int, float, bool, complex, np.generic, np.ndarray, type(None), type(...))
DTYPES: dict[object, type[np.generic]] = {int: np.int64, float: np.float64, bool: np.bool_}
"""What Python's types mean where they are not called: `np.zeros(3, int)`."""
NUMBAS = (math, np)
"""Modules whose names Numba resolves by itself."""
POWERS = (operator.pow, operator.ipow)
PRODUCTS = (operator.matmul, operator.imatmul)
DISPLAYS = {"build_map": ("a dict", "a NamedTuple, or an array"), "build_set": ("a set", "an array of flags")}


def refuse(loc: IRLocation, got: str, cure: str) -> NoReturn:
    """Raise the error of a line that cannot be compiled exactly."""
    advice = cure if cure.startswith("leave") else f"write {cure}"
    raise KernelError(f"{place_of(loc.filename, loc.line)}: expected what rules may use, got {got}; {advice}")


def replace_names(func_ir: FunctionIR, program: RuleProgram) -> bool:
    """Put into a function what compiled rules use for what it names; raises KernelError for what they may not."""
    _Names(func_ir, program).replace()
    func_ir._definitions = build_definitions(func_ir.blocks)
    return True


class _Names:
    def __init__(self, func_ir: FunctionIR, program: RuleProgram) -> None:
        self.func_ir, self.program = func_ir, program
        self.called: set[str] = set()
        self.known: dict[str, object] = {}
        """What each variable holds that holds something from outside."""

    def replace(self) -> None:
        called = {one.func.name for block in self.func_ir.blocks.values() for one in block.find_exprs(op="call")}
        self.called = called
        methods: dict[str, IRExpr] = {}
        for block in self.func_ir.blocks.values():
            body: list[IRStatement] = []
            for statement in block.body:
                if isinstance(statement, ir.Print):
                    refuse(statement.loc, "print", cure_of(print))
                if isinstance(statement, ir.Assign):
                    self._assign(statement, called, methods, body)
                body.append(statement)
            block.body = body

    def _assign(
        self, statement: ir.Assign, called: set[str], methods: dict[str, IRExpr], body: list[IRStatement]
    ) -> None:
        value, target = statement.value, statement.target
        if isinstance(value, ir.Global | ir.FreeVar):
            self._load(statement, value.name, value.value)
        elif isinstance(value, ir.Var) and value.name in self.known:
            self.known[target.name] = self.known[value.name]
        elif isinstance(value, ir.Expr):
            if value.op == "getattr" and value.value.name in self.known:
                self._attribute(statement, value)
            elif value.op == "getattr" and value.attr in METHODS and target.name in called:
                methods[target.name] = value
            elif value.op == "call" and value.func.name in methods:
                held = methods[value.func.name]
                statement.value = self._call(METHODS[held.attr], [held.value, *value.args], value, body)
            elif value.op == "call" and value.kws and self.known.get(value.func.name) is enumerate:
                refuse(value.loc, "enumerate with a named argument", "enumerate(row, 1)")
            elif value.op == "call" and _is_record(record := self.known.get(value.func.name)):
                statement.value = self._filled(record, value, body)
            elif value.op in DISPLAYS:
                refuse(value.loc, *DISPLAYS[value.op])
            elif value.op in ("binop", "inplace_binop") and value.fn in PRODUCTS:
                refuse(value.loc, "@", cure_of(np.matmul))
            elif value.op == "getattr" and value.attr == "dot" and target.name in called:
                refuse(value.loc, "the method dot", cure_of(np.dot))
            elif value.op in ("binop", "inplace_binop") and value.fn in POWERS:
                statement.value = self._call(power, [value.lhs, value.rhs], value, body)

    def _call(
        self, function: Callable[..., object], args: list[IRVar], before: IRExpr, body: list[IRStatement]
    ) -> IRExpr:
        if before.op == "call" and before.kws:
            refuse(before.loc, f"{function.__name__.strip('_')} with options", "a loop, or the function without them")
        held = ir.Var(args[0].scope, mk_unique_var("$exact"), before.loc)
        body.append(ir.Assign(ir.Global(function.__name__, function, before.loc), held, before.loc))
        return ir.Expr.call(held, args, (), before.loc)

    def _filled(self, kind: type[NamedTuple], call: IRExpr, body: list[IRStatement]) -> IRExpr:
        """The call of a NamedTuple class with the defaults that it leaves out, which Numba does not add."""
        given = {*kind._fields[: len(call.args)], *(name for name, _ in call.kws)}
        missing = [name for name in kind._fields if name not in given]
        if call.vararg is not None or not missing:
            return call
        added: list[tuple[str, IRVar]] = []
        for name in missing:
            value = kind._field_defaults.get(name)
            if not isinstance(value, bool | int | float):
                refuse(call.loc, f"{kind.__name__} without {name}", "all of its fields")
            held = ir.Var(call.func.scope, mk_unique_var("$default"), call.loc)
            body.append(ir.Assign(ir.Const(value, call.loc), held, call.loc))
            added.append((name, held))
        return ir.Expr.call(call.func, call.args, (*call.kws, *added), call.loc)

    def _attribute(self, statement: ir.Assign, value: IRExpr) -> None:
        owner = self.known[value.value.name]
        if not isinstance(owner, ModuleType):
            return
        if not hasattr(owner, value.attr):
            refuse(value.loc, f"{owner.__name__}.{value.attr}, which does not exist", "a name that does")
        self._load(statement, value.attr, getattr(owner, value.attr))

    def _load(self, statement: ir.Assign, name: str, thing: object) -> None:
        loc, target = statement.loc, statement.target
        if isinstance(thing, ModuleType):
            if thing is np.random or thing is np.linalg or thing.__name__ in ("random", "os", "sys", "time", "io"):
                refuse(loc, name_of(thing), cure_of(thing))
            self.known[target.name] = thing
            if thing not in NUMBAS:
                statement.value = ir.Const(None, loc)  # a module of the user's own, whose names are resolved here
            return
        self.known[target.name] = thing
        if _is_record(thing):
            check_record(thing)
        if getattr(thing, "__module__", None) == "numba.core.unsafe.eh":
            refuse(loc, "try", "an `if` that asks beforehand")
        if isinstance(thing, FunctionType) and thing not in REPLACED and thing not in FUNCTIONS | INEXACT:
            statement.value = ir.Global(name, self._function(thing, loc), loc)
        elif _hashable(thing) and thing in DTYPES and target.name not in self.called:
            statement.value = ir.Global(name, DTYPES[thing], loc)
        elif _hashable(thing) and thing in REPLACED:
            statement.value = ir.Global(name, REPLACED[thing], loc)
        elif not self._fits(thing):
            exact = _hashable(thing) and thing in INEXACT
            why = ", whose bits differ in compiled code" if exact else ""
            refuse(loc, f"{_shown(name, thing)}{why}", _cure(thing))
        elif isinstance(statement.value, ir.Expr) and not self._is_numbas(statement.value):
            # Of a module of the user's own: the value itself is what is meant.
            statement.value = ir.Global(name, thing, loc)

    def _is_numbas(self, value: IRExpr) -> bool:
        return self.known[value.value.name] in NUMBAS

    def _function(self, thing: FunctionType, loc: IRLocation) -> Dispatcher:
        home = (thing.__module__ or "").partition(".")[0]
        if home in ("numpy", "random", "builtins"):
            refuse(loc, name_of(thing), cure_of(thing))
        if thing.__code__.co_kwonlyargcount:
            refuse(loc, f"{thing.__name__}, which takes arguments by name only", "it without the `*`")
        if not self.program.calls(self.func_ir.func_id.func, thing):
            refuse(loc, f"{thing.__name__}, which calls itself", "a loop")
        return self.program.compiled(thing)

    def _fits(self, thing: object) -> bool:
        if isinstance(thing, CONSTANTS):
            return True
        if is_tuple(thing):
            return all(self._fits(one) or isinstance(one, str | bytes) for one in thing)
        if isinstance(thing, str | bytes):
            return True
        if isinstance(thing, type):
            kinds = (np.generic, IntEnum, Exception)
            kind: type[object] = thing
            return kind in FUNCTIONS or issubclass(kind, kinds) or hasattr(kind, "_fields")
        if (getattr(thing, "__module__", None) or "").startswith("numba."):  # what Numba made of an array of a list
            return True
        return _hashable(thing) and (thing in FUNCTIONS or (self.program.inexact and thing in INEXACT))


def _cure(thing: object) -> str:
    if isinstance(thing, list | dict | set):
        return "a tuple, or an array"
    if isinstance(thing, Enum | EnumType):
        return "an IntEnum, or its number in a constant of the module: WON = Outcome.SUCCESS.code"
    return cure_of(thing)


def _shown(name: str, thing: object) -> str:
    kind = class_of(thing)
    if issubclass(kind, list | dict | set):
        return f"the {kind.__name__} {name} of the module, which may change"
    shown = name_of(thing)
    return shown if shown.endswith(name) else f"{name} ({shown})"


def _is_record(thing: object) -> TypeGuard[type[NamedTuple]]:
    return hasattr(thing, "_fields") and isinstance(thing, type) and issubclass(thing, tuple)


def _hashable(thing: object) -> TypeGuard[Hashable]:
    try:
        hash(thing)
    except TypeError:
        return False
    return True
