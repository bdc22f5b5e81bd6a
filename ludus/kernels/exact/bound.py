"""Variables: whether each has a value wherever it is read, and inner functions all of their arguments.

Compiled code reads 0 where the interpreter raises UnboundLocalError, and Numba fills in what a call of an inner
function leaves out by its place, whichever it was: both without a word.
"""

from __future__ import annotations

from collections.abc import Iterator

from numba.core import ir
from numba.core.analysis import compute_cfg_from_blocks
from numba.core.errors import ConstantInferenceError
from numba.core.ir_utils import GuardException, get_definition

from ludus.kernels.exact.names import refuse
from ludus.kernels.numba_types import FunctionIR, IRBlock, IRExpr, IRStatement, IRVar

__all__ = ["judge_bound", "judge_inner_calls"]


def judge_bound(func_ir: FunctionIR) -> None:
    """Refuse a variable that is read where a path leads to on which it was given no value."""
    graph = compute_cfg_from_blocks(func_ir.blocks)
    start = graph.entry_point()
    known: dict[int, set[str]] = {start: set()}
    waiting = [start]
    while waiting:  # until no block knows fewer: what all paths to it have given a value
        label = waiting.pop()
        after = known[label] | {one.target.name for one in _assignments(func_ir.blocks[label])}
        for follower, _ in graph.successors(label):
            both = after & known[follower] if follower in known else after
            if both != known.get(follower):
                known[follower] = both
                waiting.append(follower)
    for label, names in known.items():
        _judge_block(func_ir.blocks[label], set(names))


def _judge_block(block: IRBlock, known: set[str]) -> None:
    for statement in block.body:
        for one in _read(statement):
            if one.name not in known and not one.name.startswith("$"):
                got = f"{one.unversioned_name}, which has no value here on some path"
                refuse(statement.loc, got, "a value for it before, 0.0 for instance")
        if isinstance(statement, ir.Assign):
            known.add(statement.target.name)


def _read(statement: IRStatement) -> list[IRVar]:
    """The variables that a statement reads."""
    if not isinstance(statement, ir.Assign):
        return statement.list_vars()
    value = statement.value
    return [value] if isinstance(value, ir.Var) else value.list_vars() if isinstance(value, ir.Expr) else []


def _assignments(block: IRBlock) -> Iterator[ir.Assign]:
    return block.find_insts(ir.Assign)


def judge_inner_calls(func_ir: FunctionIR) -> None:
    """Refuse a call of a function defined inside a rule that leaves some of its defaults out, or names arguments."""
    for block in func_ir.blocks.values():
        for call in block.find_exprs(op="call"):
            made = _inner(func_ir, call.func)
            if made is None:
                continue
            count, left_out = made.code.co_argcount, made.code.co_argcount - len(call.args)
            if call.kws or call.vararg or left_out not in (0, _default_count(func_ir, made)):
                got = f"a call of {made.code.co_name}, defined inside a rule, with other than all arguments in order"
                refuse(call.loc, got, f"its {count} arguments, or define it outside")


def _inner(func_ir: FunctionIR, function: IRVar) -> IRExpr | None:
    """The expression that makes an inner function; None for others."""
    try:
        made = get_definition(func_ir, function)
    except (GuardException, ConstantInferenceError, KeyError):
        return None
    return made if isinstance(made, ir.Expr) and made.op == "make_function" else None


def _default_count(func_ir: FunctionIR, made: IRExpr) -> int:
    defaults = made.defaults
    if defaults is None:
        return 0
    if isinstance(defaults, tuple):
        return len(defaults)
    found = get_definition(func_ir, defaults)
    if isinstance(found, ir.Expr):
        return len(found.items)
    constant = getattr(found, "value", ())
    return len(constant)
