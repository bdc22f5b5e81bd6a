"""Operands: whether an operation is exact for the types it is applied to, judged when types are known.

In compiled code a number has one type. Interpreted, `x + 1` depends on whether x is Python's or NumPy's:
`np.int8(100) + 100` is -56, `np.float32(0.1) < 0.1` compares in single precision. Where the two cannot be made one, the
rule has to say which is meant.
"""

from __future__ import annotations

import numpy as np
from numba.core import ir, types

from ludus.kernels.exact.allowed import ARRAY_METHODS, FUNCTIONS, INEXACT, LIST_METHODS, cure_of, name_of
from ludus.kernels.exact.flow import named
from ludus.kernels.exact.functions import METHODS, NATIVE, REPLACED, integer
from ludus.kernels.exact.names import refuse
from ludus.kernels.exact.narrow import is_narrow, narrow_of
from ludus.kernels.exact.operators import operator
from ludus.kernels.exact.program import RuleProgram
from ludus.kernels.numba_types import CallTypes, FunctionIR, IRExpr, IRLocation, IRStatement, IRVar, NumbaType, TypeMap
from ludus.spaces.kinds import is_tuple

__all__ = ["judge_rule"]

ARITHMETIC = {operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod}
INPLACE = {
    getattr(operator, f"i{one.__name__.strip('_')}"): one
    for one in (*ARITHMETIC, operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift)
}
NARROW = {operator.add, operator.sub, operator.mul}
"""What small integers may do, where it is checked that the result is one of them."""
BITS = {operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift}
ORDER = {operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne}
OWN_FUNCTIONS = {id(one) for one in (*REPLACED.values(), *METHODS.values())}
FULL = {types.int64, types.float64, types.boolean, types.uint64}
"""Numbers that are alike in Python and in compiled code."""
FILLED = {np.full, np.full_like, np.array, np.asarray}
IDENTITY = {operator.is_, operator.is_not}
EXACT_FLOAT32 = 2**24


def judge_rule(func_ir: FunctionIR, typemap: TypeMap, calltypes: CallTypes, program: RuleProgram) -> None:
    """Refuse a rule, or a function that one calls, for the first operation that is not exact."""
    judge = _Judge(func_ir, typemap, calltypes, program)
    for block in func_ir.blocks.values():
        for statement in block.body:
            judge.statement(statement)


class _Judge:
    def __init__(self, func_ir: FunctionIR, typemap: TypeMap, calltypes: CallTypes, program: RuleProgram) -> None:
        self.func_ir, self.typemap, self.calltypes, self.program = func_ir, typemap, calltypes, program
        self.loc: IRLocation = func_ir.loc

    def statement(self, statement: IRStatement) -> None:
        """Judge one statement."""
        self.loc = statement.loc
        if isinstance(statement, ir.SetItem | ir.StaticSetItem):
            self._judge_store(statement)
        elif isinstance(statement, ir.Assign) and isinstance(statement.value, ir.Expr):
            self._judge_expression(statement.value, statement.target)

    def _judge_expression(self, expr: IRExpr, target: IRVar) -> None:
        if expr.op in ("binop", "inplace_binop"):
            op = INPLACE.get(expr.fn, expr.fn)
            self._judge_operator(op, self._kind(expr.lhs), self._kind(expr.rhs), expr, target)
            if expr.op == "inplace_binop":
                self._judge_inplace(expr, op)
        elif expr.op == "unary":
            kind = _element(self._kind(expr.value))
            if expr.fn is operator.invert and kind == types.boolean and isinstance(self._kind(expr.value), types.Array):
                return  # a mask: there are no Python bools in it
            if expr.fn in (operator.neg, operator.pos, operator.invert) and not self._narrow_only(kind, target):
                self._judge_number(kind, op=expr.fn)
        elif expr.op == "call":
            self._judge_call(expr)
        elif expr.op in ("getitem", "static_getitem"):
            self._judge_index(expr.value, expr.index_var if expr.op == "static_getitem" else expr.index)
        elif expr.op == "phi":
            self._judge_branches(expr, target)

    # --- operators ---

    def _judge_operator(self, op: object, left: NumbaType, right: NumbaType, expr: IRExpr, target: IRVar) -> None:
        if op in IDENTITY and types.none not in (left, right):
            refuse(self.loc, "`is`, which asks for one object, and numbers are none", "==, or != for `is not`")
        if not _numeric(left) or not _numeric(right):
            return
        a, b = _element(left), _element(right)
        if op in (operator.matmul, operator.imatmul):
            refuse(self.loc, "@", "a loop that adds the products: BLAS adds in an order of its own")
        if op in ORDER:
            self._judge_comparison(a, b, expr)
        elif op in ARITHMETIC:
            if not (op in NARROW and self._narrow_pair(expr) and self._narrow_only(narrow_of(a, b), target)):
                self._judge_pair(a, b, op)
        elif op in BITS and {a, b} & {types.float64, types.float32}:
            refuse(self.loc, f"{_sign(op)} of {a} and {b}", "int(x)")
        elif op in (operator.lshift, operator.rshift):
            self._judge_pair(a, b, op)
        elif op in BITS:
            self._judge_bits(a, b, expr, target)

    def _judge_bits(self, a: NumbaType, b: NumbaType, expr: IRExpr, target: IRVar) -> None:
        """NumPy's small integers stay small: `(cell & 3) * 100` of an int8 wraps around."""
        arrays = all(isinstance(self._kind(one), types.Array) for one in (expr.lhs, expr.rhs))
        if {a, b} <= {types.int64, types.boolean} or (a == b and (arrays or a == types.uint64)):
            return
        if not (self._narrow_pair(expr) and self._narrow_only(narrow_of(a, b), target)):
            self._refuse_mixed(a, b, _sign(expr.fn))

    def _judge_pair(self, a: NumbaType, b: NumbaType, op: object) -> None:
        # Their difference NumPy refuses, loudly; their sum it takes for `or`.
        if a == b == types.boolean and op in (operator.add, operator.mul):
            got = f"{_sign(op)} of two bools, which Python counts and NumPy does not"
            refuse(self.loc, got, "int(x), or `and`, `or`, `!=`")
        if {a, b} <= {types.int64, types.float64, types.boolean} or (a == b and a in (types.float32, types.uint64)):
            return
        self._refuse_mixed(a, b, _sign(op))

    # --- small integers, such as a board's ---

    def _narrow_pair(self, expr: IRExpr) -> bool:
        """Whether a small integer meets one of its own type, or one that is written down and fits it."""
        kinds = [self.typemap[one.name] for one in (expr.lhs, expr.rhs)]
        plain = [types.unliteral(one) for one in kinds]
        kind = narrow_of(*plain)
        if kind is None:
            return False
        if plain[0] == plain[1]:
            return True
        literal = kinds[plain.index(kind) == 0]
        return isinstance(literal, types.IntegerLiteral) and kind.minval <= literal.literal_value <= kind.maxval

    def _narrow_only(self, kind: NumbaType | None, target: IRVar) -> bool:
        """Whether a result of small integers is only stored where they lie, compared, or made an int.

        Then NumPy's type for it cannot be told from a wide one, as long as it fits: that is checked when it comes.
        """
        if not is_narrow(kind):
            return False
        waiting, met = [target.name], set[str]()
        while waiting:
            name = waiting.pop()
            if name in met:
                continue
            met.add(name)
            for block in self.func_ir.blocks.values():
                for statement in block.body:
                    if not self._narrow_use(statement, name, kind, waiting):
                        return False
        return True

    def _narrow_use(self, statement: IRStatement, name: str, kind: NumbaType, waiting: list[str]) -> bool:
        if isinstance(statement, ir.Del | ir.Branch) or name not in {one.name for one in statement.list_vars()}:
            return True
        if isinstance(statement, ir.SetItem | ir.StaticSetItem):
            return statement.value.name != name or _element(self._kind(statement.target)) == kind
        if not isinstance(statement, ir.Assign):
            return False
        value = statement.value
        if statement.target.name == name or isinstance(value, ir.Var):
            waiting.append(statement.target.name)
            return True
        if not isinstance(value, ir.Expr):
            return False
        if value.op == "phi":
            waiting.append(statement.target.name)
            return True
        if value.op == "call":
            return getattr(self.typemap[value.func.name], "typing_key", None) in (int, bool, integer, REPLACED[float])
        compared = value.op in ("binop", "inplace_binop") and value.fn in ORDER
        return compared or (value.op in ("getitem", "static_getitem") and value.value.name != name)

    def _judge_comparison(self, a: NumbaType, b: NumbaType, expr: IRExpr) -> None:
        whole = (types.Integer, types.Boolean)
        if isinstance(a, whole) and isinstance(b, whole) and types.uint64 not in (a, b):
            return
        if a == b or {a, b} <= {types.int64, types.float64, types.boolean}:
            return
        if {a, b} == {types.float32, types.int64} and self._small_literal(expr):
            return
        self._refuse_mixed(a, b, "a comparison")

    def _small_literal(self, expr: IRExpr) -> bool:
        given = [self.typemap[one.name] for one in (expr.lhs, expr.rhs)]
        return any(isinstance(one, types.IntegerLiteral) and abs(one.literal_value) < EXACT_FLOAT32 for one in given)

    def _refuse_mixed(self, a: NumbaType, b: NumbaType, operation: str) -> None:
        narrow = [one for one in (a, b) if one not in (types.int64, types.float64, types.boolean)]
        kind = narrow[0] if narrow else a
        cure = "float(x)" if isinstance(kind, types.Float) else "int(x)"
        got = f"{operation} of {a} and {b}, which Python's numbers and NumPy's promote differently"
        refuse(self.loc, got, f"{cure} around the {kind}")

    def _judge_number(self, kind: NumbaType, op: object) -> None:
        if kind == types.boolean and op is not operator.pos:
            refuse(self.loc, f"{_sign(op)} of a bool, which Python counts and NumPy does not", "`not x`, or int(x)")
        if isinstance(kind, types.Integer) and kind not in FULL:
            refuse(self.loc, f"{_sign(op)} of {kind}, which wraps around", "int(x)")

    def _judge_inplace(self, expr: IRExpr, op: object) -> None:
        left, right = self._kind(expr.lhs), self._kind(expr.rhs)
        if isinstance(left, types.Array) and isinstance(left.dtype, types.Integer):
            floats = isinstance(_element(right), types.Float) or op is operator.truediv
            if floats:
                refuse(self.loc, f"{_sign(op)}= that puts floats into an array of {left.dtype}", "a new array")

    # --- indices, stores, branches ---

    def _judge_index(self, value: IRVar, index: object) -> None:
        if not isinstance(self._kind(value), types.Array) or not isinstance(index, ir.Var):
            return
        kind = self.typemap[index.name]
        parts = (kind.types if isinstance(kind, types.BaseTuple) else ()) or [kind]
        if any(isinstance(one, types.Array | types.List) for one in parts):
            refuse(self.loc, "an array as an index", "a loop, or np.where")
        if any(isinstance(one, types.Float) for one in parts):
            refuse(self.loc, "a float as an index", "int(x)")

    def _judge_store(self, statement: ir.SetItem | ir.StaticSetItem) -> None:
        index = statement.index_var if isinstance(statement, ir.StaticSetItem) else statement.index
        self._judge_index(statement.target, index)
        target, value = self._kind(statement.target), _element(self._kind(statement.value))
        if not isinstance(target, types.Array):
            return
        if isinstance(target.dtype, types.Integer | types.Boolean) and isinstance(value, types.Float):
            refuse(self.loc, f"a float for an array of {target.dtype}, which would be cut", "int(x)")

    def _judge_branches(self, expr: IRExpr, target: IRVar) -> None:
        """A variable that is an integer here and a float there is a float in compiled code from the start."""
        if _element(self._kind(target)) != types.float64:
            return
        for one in expr.incoming_values:
            if isinstance(one, ir.Var) and self._kind(one) == types.int64 and not self._literal(one):
                name = target.name.partition(".")[0]
                name = "a value" if name.startswith("$") else name
                refuse(self.loc, f"{name}, an integer in one branch and a float in another", "float(…) in both")

    def _literal(self, var: IRVar) -> bool:
        """Whether a variable is an integer that is written down: `total = 0` before a loop that adds."""
        defined = self.func_ir._definitions.get(var.name, [])
        if isinstance(self.typemap[var.name], types.IntegerLiteral):
            return True
        return len(defined) == 1 and isinstance(defined[0], ir.Const)

    # --- calls ---

    def _judge_call(self, expr: IRExpr) -> None:
        kind = self.typemap[expr.func.name]
        if isinstance(kind, types.Dispatcher):
            if not self.program.owns(kind.dispatcher):
                name = kind.dispatcher.py_func.__name__
                refuse(self.loc, f"{name}, compiled apart from the rules or defined inside one", "a plain function")
        elif isinstance(kind, types.RecursiveCall):
            refuse(self.loc, "a function that calls itself", "a loop")
        elif isinstance(kind, types.BoundFunction):
            self._judge_method(kind, expr)
        elif isinstance(kind, types.Function):
            self._judge_function(kind, expr)

    def _judge_method(self, kind: types.BoundFunction, expr: IRExpr) -> None:
        owner, key = kind.this, kind.template.key
        attribute = str(key[-1]) if is_tuple(key) else str(key).rpartition(".")[2]
        if isinstance(owner, types.Array):
            allowed = attribute in ARRAY_METHODS
            if attribute == "reshape" and _lies_otherwise(owner):
                self._refuse_reshape()
            if attribute == "fill":
                self._judge_fits(expr.args[0], owner.dtype)
        elif isinstance(owner, types.List):
            allowed = attribute in LIST_METHODS
        else:
            allowed = isinstance(owner, types.BaseTuple)  # streams are NamedTuples, whose methods are ours
        if not allowed:
            refuse(
                self.loc, f"the method {attribute} of {owner}", "a loop, or a function of the table in docs/rules.md"
            )

    def _refuse_reshape(self) -> None:
        refuse(self.loc, "reshape of an array that does not lie in memory row by row", "x.copy().reshape(…)")

    def _judge_filled(self, key: object, expr: IRExpr) -> None:
        """What fills a new array of small integers: NumPy refuses what does not fit, compiled code cuts it."""
        dtype: NumbaType | None = getattr(self.calltypes[expr].return_type, "dtype", None)
        if key in (np.full, np.full_like):
            self._judge_fits(expr.args[1], dtype)
            return
        made = self.func_ir._definitions.get(expr.args[0].name, [])
        while len(made) == 1 and isinstance(made[0], ir.Var):
            made = self.func_ir._definitions.get(made[0].name, [])
        row = made[0] if len(made) == 1 else None
        if isinstance(row, ir.Expr) and row.op in ("build_list", "build_tuple"):
            for one in row.items:
                self._judge_fits(one, dtype)
        elif not isinstance(self._kind(expr.args[0]), types.Array):
            self._judge_fits(expr.args[0], dtype)

    def _judge_fits(self, var: IRVar, dtype: NumbaType | None) -> None:
        given = self._kind(var)
        given = getattr(given, "dtype", given)
        if not is_narrow(dtype) or not isinstance(given, types.Integer) or given == dtype:
            return
        value = self._written_value(var)
        if value is None or not dtype.minval <= value <= dtype.maxval:
            refuse(self.loc, f"{given} for an array of {dtype}, which would be cut", f"np.{dtype}(x)")

    def _written_value(self, var: IRVar) -> int | None:
        kind = self.typemap[var.name]
        if isinstance(kind, types.IntegerLiteral):
            return int(kind.literal_value)
        defined = self.func_ir._definitions.get(var.name, [])
        made = defined[0] if len(defined) == 1 else None
        if isinstance(made, ir.Expr) and made.op == "unary" and made.fn is operator.neg:
            inner = self._written_value(made.value)
            return None if inner is None else -inner
        value = getattr(made, "value", None) if isinstance(made, ir.Const | ir.Global | ir.FreeVar) else None
        return int(value) if isinstance(value, int) else None

    def _judge_function(self, kind: types.Function, expr: IRExpr) -> None:
        key = kind.typing_key
        self._judge_integers(named(key), expr)
        if id(key) in OWN_FUNCTIONS or (getattr(key, "__module__", None) or "").startswith("numba."):
            return
        known = _hashable(key) and (key in FUNCTIONS or (self.program.inexact and key in INEXACT))
        if not known:
            refuse(self.loc, name_of(key), cure_of(key))
        kinds = [self._kind(one) for one in expr.args]
        self._judge_arguments(key, kinds, expr)

    def _judge_integers(self, key: object, expr: IRExpr) -> None:
        """Of integers NumPy's functions give what they give: 1 // 2 is `np.reciprocal(2)`."""
        elements = [_element(self._kind(one)) for one in expr.args]
        if not isinstance(key, np.ufunc) or not elements or any(one != types.int64 for one in elements):
            return
        theirs = key.resolve_dtypes((np.dtype(np.int64),) * key.nin + (None,) * key.nout)[-1]
        ours = _element(self.calltypes[expr].return_type)
        if isinstance(ours, types.Integer) != (theirs.kind in "iu"):
            refuse(self.loc, f"{name_of(key)} of integers, of which NumPy makes {theirs}", "float(x)")

    def _judge_arguments(self, key: object, kinds: list[NumbaType], expr: IRExpr) -> None:
        elements = [_element(one) for one in kinds if _numeric(one)]
        if key is range and not all(isinstance(one, types.Integer) for one in kinds):
            refuse(self.loc, f"range of {kinds[0]}", "range(int(x))")
        if key is round and len(kinds) > 1:
            refuse(self.loc, "round with digits", "round(x * 100) / 100")
        if getattr(key, "__module__", "") == "math" and len(kinds) > 1 and getattr(key, "__name__", "") == "log":
            refuse(self.loc, "math.log with a base", "math.log(x) / math.log(base)")
        if key in (min, max, divmod, abs) or getattr(key, "__module__", "") == "math":
            for one in elements:
                if one not in FULL:
                    refuse(self.loc, f"{name_of(key)} of {one}", "float(x) or int(x)")
        if key in (abs, divmod) and types.boolean in elements:
            refuse(self.loc, f"{name_of(key)} of a bool, which Python counts and NumPy does not", "int(x)")
        if key in FILLED:
            self._judge_filled(key, expr)
        if key is np.reshape and _lies_otherwise(kinds[0]):
            self._refuse_reshape()
        if key in NATIVE and any(one not in (types.float64, types.float32, types.int64) for one in elements):
            refuse(self.loc, f"{name_of(key)} of {elements[0]}", "float(x) or int(x)")
        if getattr(key, "__name__", "") == "arange" and any(isinstance(one, types.Float) for one in elements):
            refuse(self.loc, "np.arange with floats", "low + step * np.arange(n)")
        for name, _ in expr.kws:
            if name == "axis":
                refuse(self.loc, f"{name_of(key)} with an axis", "a loop over the rows")

    def _kind(self, var: IRVar) -> NumbaType:
        return types.unliteral(self.typemap[var.name])


def _element(kind: NumbaType) -> NumbaType:
    found = kind.dtype if isinstance(kind, types.Array) else kind
    return types.int64 if isinstance(found, types.Integer) and found == types.intp else found


def _lies_otherwise(kind: NumbaType) -> bool:
    return isinstance(kind, types.Array) and kind.layout != "C"


def _numeric(kind: NumbaType) -> bool:
    return isinstance(_element(kind), types.Number | types.Boolean)


def _sign(op: object) -> str:
    return SIGNS.get(op) or str(getattr(op, "__name__", op))


SIGNS: dict[object, str] = {
    operator.add: "+",
    operator.sub: "-",
    operator.mul: "*",
    operator.truediv: "/",
    operator.floordiv: "//",
    operator.mod: "%",
    operator.neg: "-",
    operator.invert: "~",
    operator.and_: "&",
    operator.or_: "|",
    operator.xor: "^",
    operator.lshift: "<<",
    operator.rshift: ">>",
}


def _hashable(thing: object) -> bool:
    try:
        hash(thing)
    except TypeError:
        return False
    return True
