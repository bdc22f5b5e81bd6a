"""Plain evaluation: what the verifiers of reasoning-gym evaluate as Python is a value or a formula, and runs nothing.

Several of them call `eval` on the answer, and others SymPy's `parse_expr`, which does the same with more words; a
configuration's operators go into questions that are evaluated, too. While one of ours draws or verifies, its modules
find these functions here instead: they know literals, arithmetic and elementary functions, each of bounded size.
"""

import ast
import math
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from fractions import Fraction
from types import ModuleType
from typing import Any

from ludus.errors import shorten

__all__ = ["plain_evaluation", "plain_formula", "plain_value"]

LIBRARY = "reasoning_gym"
MAX_CHARS, MAX_BITS = 65_536, 16_384
"""Of a text, and of a number, or of all that a formula may unfold to."""
MAX_EXPONENT_CHARS = 3
FUNCTIONS = {
    "Abs", "acos", "acosh", "acot", "asin", "asinh", "atan", "atan2", "atanh", "cos", "cosh", "cot", "csc",
    "erf", "erfi", "exp", "ln", "log", "root", "sec", "sign", "sin", "sinh", "sqrt", "tan", "tanh",
}  # fmt: skip
"""What a formula may name of SymPy's; any other name is a symbol."""

Number = int | float | complex
Two = Callable[[Any, Any], Number]  # complex numbers have fewer operators: which there are, Python says
EXACT: dict[type[ast.operator], Two] = {
    ast.Add: lambda a, b: a + b, ast.Sub: lambda a, b: a - b, ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b, ast.FloorDiv: lambda a, b: a // b, ast.Mod: lambda a, b: a % b,
    ast.BitAnd: lambda a, b: a & b, ast.BitOr: lambda a, b: a | b, ast.BitXor: lambda a, b: a ^ b,
    ast.RShift: lambda a, b: a >> b,
}  # fmt: skip
GROWING: dict[type[ast.operator], Two] = {ast.LShift: lambda a, b: a << b, ast.Pow: lambda a, b: a**b}
BINARY = EXACT | GROWING
UNARY: dict[type[ast.unaryop], Callable[[Any], Number]] = {
    ast.UAdd: lambda a: +a, ast.USub: lambda a: -a, ast.Invert: lambda a: ~a,
}  # fmt: skip


def plain_value(text: object, *_: object) -> object:
    """What a literal, or arithmetic of numbers, is; ValueError for whatever else it may be.

    >>> plain_value("['a', (1 + 2) * 0x10, -3 // 2]")
    ['a', 48, -2]
    """
    return _value(_parsed(text))


def plain_formula(text: object) -> str:
    """A text that is a formula of numbers, symbols and elementary functions; ValueError for any other.

    >>> plain_formula("exp(2*x)/2 + C")
    'exp(2*x)/2 + C'
    """
    _size(_parsed(text))
    return str(text)


@contextmanager
def plain_evaluation() -> Generator[None]:
    """Have the library evaluate so, for a while; whoever uses it at once has the same."""
    undo = [(scope, name, scope.get(name, _MISSING)) for scope, name, _ in _replaced()]
    try:
        for scope, name, by in _replaced():
            scope[name] = by
        yield
    finally:
        for scope, name, before in undo:
            if before is _MISSING:
                scope.pop(name, None)
            else:
                scope[name] = before


_MISSING = object()
_found: list[tuple[dict[str, object], str, object]] = []


def _replaced() -> list[tuple[dict[str, object], str, object]]:
    """What is replaced: the names of a module, one of them, and what it is for the while."""
    if not _found:
        by = _replacements()
        for name, module in list(sys.modules.items()):
            if name.partition(".")[0] == LIBRARY:
                scope = vars(module)
                _found.append((scope, "eval", plain_value))
                _found.extend((scope, known, by[id(value)]) for known, value in scope.items() if id(value) in by)
    return _found


def _replacements() -> dict[int, object]:
    """By the identity of what the library's modules have imported."""
    found: dict[int, object] = {id(Fraction): _PlainFraction}
    sympy = sys.modules.get("sympy")  # as the library has it; of ours nothing needs it
    if sympy is None:
        return found
    found[id(sympy)] = guarded = ModuleType("sympy")
    for name in dir(sympy):
        setattr(guarded, name, getattr(sympy, name))
    for name in ("parse_expr", "sympify"):
        original = getattr(sympy, name)
        found[id(original)] = _of_formulas(original)
        setattr(guarded, name, found[id(original)])
    return found


def _of_formulas(original: Callable[..., object]) -> Callable[..., object]:
    def parse(text: object, *given: object, **more: object) -> object:
        return original(plain_formula(text) if isinstance(text, str) else text, *given, **more)

    return parse


class _PlainFraction(Fraction):
    """A fraction whose text has an exponent of a few digits: of 1e999999999 the zeros would all be written down."""

    def __new__(cls, numerator: Any = 0, denominator: Any = None) -> Fraction:  # type: ignore[misc]
        """One of the class that it stands for."""
        text: object = numerator
        if isinstance(text, str) and len(text.lower().partition("e")[2].lstrip("+-_0")) > MAX_EXPONENT_CHARS:
            raise ValueError(f"fraction: expected an exponent of {MAX_EXPONENT_CHARS} digits, got {shorten(text)}")
        return Fraction(numerator, denominator)


# --- reading ---


def _parsed(text: object) -> ast.expr:
    if not isinstance(text, str) or len(text) > MAX_CHARS:
        raise ValueError(f"evaluation: expected a text of at most {MAX_CHARS} characters, got {shorten(text)}")
    return ast.parse(text.strip(), mode="eval").body


def _value(node: ast.expr) -> object:
    """What an expression is; of a value that is no number nothing is computed."""
    match node:
        case ast.Constant(value):
            return value
        case ast.List(items) | ast.Tuple(items) | ast.Set(items):
            kind = {ast.List: list, ast.Tuple: tuple, ast.Set: set}[type(node)]
            return kind(_value(one) for one in items)
        case ast.Dict(keys, values) if None not in keys:
            return {_value(key): _value(one) for key, one in zip(keys, values, strict=True) if key is not None}
        case ast.UnaryOp(op, operand) if type(op) in UNARY:
            return UNARY[type(op)](_number(operand))
        case ast.BinOp(left, op, right) if type(op) in BINARY:
            return _bounded(op, _number(left), _number(right))
        case _:
            raise _refused(node, "a literal, or arithmetic of numbers")


def _number(node: ast.expr) -> Number:
    found = _value(node)
    if not isinstance(found, int | float | complex):
        raise _refused(node, "a number")
    return found


def _bounded(op: ast.operator, left: Number, right: Number) -> Number:
    kind = type(op)
    if kind in GROWING and isinstance(left, int) and isinstance(right, int) and right > 0:
        grown = left.bit_length() + right if kind is ast.LShift else left.bit_length() * right
        if grown > MAX_BITS:
            raise ValueError(f"evaluation: expected numbers of at most {MAX_BITS} bits, got {grown}")
    found = BINARY[kind](left, right)
    if isinstance(found, int) and found.bit_length() > MAX_BITS:
        raise ValueError(f"evaluation: expected numbers of at most {MAX_BITS} bits, got {found.bit_length()}")
    return found


def _size(node: ast.expr) -> int:
    """To how much a formula may unfold, in bits of numbers and uses of symbols."""
    match node:
        case ast.Constant(value) if isinstance(value, int | float):
            size = max(1, value.bit_length()) if isinstance(value, int) else 64
        case ast.Name(name) if not name.startswith("_"):
            size = 1
        case ast.UnaryOp(op, operand) if type(op) in UNARY:
            size = _size(operand)
        case ast.BinOp(left, ast.Pow(), right):
            size = _size(left) * _exponent(right)
        case ast.BinOp(left, op, right) if type(op) in EXACT:
            size = _size(left) + _size(right)
        case ast.Call(ast.Name(name), arguments, []) if name in FUNCTIONS:
            size = 1 + sum(map(_size, arguments))
        case _:
            raise _refused(node, "numbers, symbols, arithmetic and elementary functions")
    if size > MAX_BITS:
        raise ValueError(f"evaluation: expected a formula that unfolds to at most {MAX_BITS}, got {size}")
    return size


def _exponent(node: ast.expr) -> int:
    """How many times something is multiplied with itself; of a formula with symbols, as often as it is long."""
    size = _size(node)
    try:
        return max(1, math.ceil(abs(_number(node))))
    except ValueError:
        return size


def _refused(node: ast.expr, expected: str) -> ValueError:
    return ValueError(f"evaluation: expected {expected}, got {type(node).__name__}")
