"""The list: every function, operator and method that a rule may use, and what to write instead of others.

Whatever is here was compared with the interpreter, bit for bit (`tests/kernels/test_exact.py`), or is NumPy's own code,
or moves values without computing any. What is not here is refused.
"""

import builtins
import math
import operator
import random
from types import ModuleType

import numpy as np

from ludus.kernels.exact.functions import NATIVE, REPLACED

__all__ = ["ARRAY_METHODS", "CURES", "FUNCTIONS", "INEXACT", "LIST_METHODS", "cure_of"]

MATH = {
    *(math.sin, math.cos, math.tan, math.asin, math.acos, math.atan, math.atan2),
    *(math.sinh, math.cosh, math.tanh, math.asinh, math.acosh, math.atanh),
    *(math.exp, math.expm1, math.log, math.log2, math.log10, math.log1p),
    *(math.sqrt, math.fabs, math.copysign, math.floor, math.ceil, math.trunc),
    *(math.isnan, math.isinf, math.isfinite, math.degrees, math.radians, math.gcd),
}
BUILTINS = {abs, min, max, len, range, int, bool, round, divmod, enumerate, zip, tuple, slice}
OPERATOR_NAMES: list[str] = vars(operator)["__all__"]
OPERATORS = {getattr(operator, name) for name in OPERATOR_NAMES if callable(getattr(operator, name))}
ARRAYS = {
    *(np.zeros, np.ones, np.full, np.zeros_like, np.ones_like, np.full_like, np.array, np.asarray, np.arange, np.eye),
    *(np.copy, np.where, np.any, np.all, np.count_nonzero, np.argmax, np.argmin, np.flatnonzero, np.nonzero),
    *(np.concatenate, np.vstack, np.hstack, np.stack, np.roll, np.flip, np.flipud, np.fliplr, np.rot90, np.repeat),
    *(np.reshape, np.ravel, np.transpose, np.diag, np.array_equal, np.searchsorted, np.cumsum, np.diff, np.outer),
    *(np.isnan, np.isinf, np.isfinite, np.logical_and, np.logical_or, np.logical_not, np.logical_xor),
    *(np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.ascontiguousarray),
}
FUNCTIONS: frozenset[object] = frozenset({*MATH, *BUILTINS, *OPERATORS, *ARRAYS, *NATIVE, *REPLACED})
"""What a rule may call."""
INEXACT: frozenset[object] = frozenset(
    {math.gamma, math.lgamma, math.hypot, np.var, np.std, np.linspace, np.sort, np.median}
    | {np.clip, np.round, np.interp, np.cross, np.cumprod, sum, sorted}
)
"""What compiles, with other bits than the interpreter's: allowed where one environment runs compiled as well."""
MOVING = ("copy", "reshape", "ravel", "flatten", "fill", "astype", "transpose")
ARRAY_METHODS = frozenset((*MOVING, "any", "all", "argmax", "argmin", "nonzero", "cumsum"))
LIST_METHODS = frozenset(["append", "pop", "extend", "insert", "reverse", "clear", "index", "count", "copy"])

CURES: dict[object, str] = {
    math.hypot: "math.sqrt(x * x + y * y)",
    math.dist: "math.sqrt of the sum of squares",
    math.gamma: "a table of its values, or Rules(…, compiled=True)",
    math.lgamma: "a table of its values, or Rules(…, compiled=True)",
    math.fsum: "a loop that adds",
    np.empty: "np.zeros: what an empty array holds differs from run to run",
    np.empty_like: "np.zeros_like: what an empty array holds differs from run to run",
    np.append: "np.concatenate((row, np.array([x])))",
    np.dot: "a loop that adds the products: BLAS adds in an order of its own",
    np.matmul: "a loop that adds the products: BLAS adds in an order of its own",
    np.clip: "min(max(x, low), high), or np.minimum(np.maximum(x, low), high)",
    np.round: "np.rint(x), or round(x) for an integer",
    np.var: "np.mean of the squared differences",
    np.std: "math.sqrt of np.mean of the squared differences",
    np.linspace: "low + step * np.arange(n)",
    np.sort: "a loop, or a table made beforehand: NumPy's order of equal elements is not fixed",
    sum: "a loop that adds, or np.sum of an array",
    sorted: "a loop",
    reversed: "range(n - 1, -1, -1), or row[::-1]",
    any: "np.any of an array, or a loop",
    all: "np.all of an array, or a loop",
    print: "leave it out: rules have no output; put it into `inform`",
    open: "leave it out: rules read no files; make it a parameter",
    isinstance: "leave it out: the types of a rule are fixed",
    str: "leave it out: rules have no text; use numbers",
    repr: "leave it out: rules have no text; use numbers",
    list: "a list display, [a, b], or an array",
    dict: "an array, or a NamedTuple",
    set: "an array of flags",
}
DRAW = "a draw from `rng`, the generator the rule is given: the global one is not the environment's"


def cure_of(thing: object) -> str:
    """What to write instead of something that is not on the list.

    >>> cure_of(math.hypot)
    'math.sqrt(x * x + y * y)'
    """
    home = str(getattr(thing, "__module__", "") or "")
    owner = getattr(thing, "__self__", None)
    if isinstance(thing, ModuleType):
        home = thing.__name__
    if home.startswith(("numpy.random", "random")) or isinstance(owner, random.Random | np.random.RandomState):
        return DRAW
    if home.startswith("numpy.linalg"):
        return "the sum of squares, or a loop: what LAPACK gives depends on the machine"
    try:
        return CURES[thing]
    except (KeyError, TypeError):
        return "a function of the table in docs/rules.md, or one of your own written alike"


def name_of(thing: object) -> str:
    """What a function is called in messages.

    >>> name_of(math.hypot), name_of(np.linalg.norm), name_of(print)
    ('math.hypot', 'numpy.linalg.norm', 'print')
    """
    if isinstance(thing, ModuleType):
        return thing.__name__
    name = str(getattr(thing, "__qualname__", None) or getattr(thing, "__name__", None) or type(thing).__name__)
    home = getattr(thing, "__module__", None)
    if isinstance(thing, np.ufunc):
        home = "numpy"
    return name if home in (None, builtins.__name__) else f"{home}.{name}"
