"""Reach: the functions that rules call, wherever they are written, and the constants that those use."""

from collections.abc import Iterator, Sequence
from dis import opmap
from enum import Enum
from types import CodeType, FunctionType, ModuleType
from typing import TypeGuard, TypeVar

import numpy as np

from ludus.spaces.kinds import class_of, is_array, is_scalar, is_tuple

__all__ = ["constants_of", "makes_arrays", "reached"]

KindT = TypeVar("KindT")
DRAWN_ARRAYS = {"permutation", "shuffle", "choice"}
LIST_OPERATIONS = tuple(opmap[name] for name in ("BUILD_LIST", "LIST_APPEND") if name in opmap)


def reached(functions: Sequence[FunctionType]) -> list[FunctionType]:
    """The rules and every plain function they call, in the order they are met.

    >>> def area(radius):
    ...     return 3.0 * square(radius)
    >>> def square(x):
    ...     return x * x
    >>> area.__globals__.update(square=square)
    >>> [one.__name__ for one in reached([area])]
    ['area', 'square']
    """
    found: dict[FunctionType, None] = {}
    waiting = list(functions)
    while waiting:
        one = waiting.pop(0)
        if one not in found:
            found[one] = None
            waiting += [other for _, other in _used(one) if isinstance(other, FunctionType) and _is_plain(other)]
    return list(found)


def constants_of(function: FunctionType) -> str:
    """The numbers, text, tuples and arrays from outside that a function uses, as text that tells them apart.

    Of classes, what compiled code takes from them: the numbers of an enumeration, the defaults of a NamedTuple.

    >>> class Colour(Enum):
    ...     RED = 1
    >>> constants_of(lambda: Colour.RED).split(";")[1]
    "Colour=[('RED', 1)]"
    """
    shown: list[str] = [function.__qualname__]
    for name, one in _used(function):
        text = _text_of(one)
        if text is not None:
            shown.append(f"{name}={text}")
    return ";".join([*shown, _text_of(function.__defaults__ or ()) or ""])


def _text_of(one: object) -> str | None:
    """A constant as text that differs where the constant does; None for what is none."""
    if is_array(one) or is_scalar(one):
        return f"{one.dtype}{one.shape}{one.tobytes()!r}"
    if is_tuple(one):
        return f"{class_of(one).__name__}({','.join(_text_of(part) or repr(part) for part in one)})"
    if _is_class_of(one, Enum):
        return repr([(name, member.value) for name, member in one.__members__.items()])
    if _is_class_of(one, tuple):
        defaults: dict[str, object] = getattr(one, "_field_defaults", {})
        return f"{getattr(one, '_fields', ())}{_text_of(tuple(defaults))}{_text_of(tuple(defaults.values()))}"
    return repr(one) if isinstance(one, int | float | complex | str | bytes) else None


def _is_class_of(thing: object, kind: type[KindT]) -> TypeGuard[type[KindT]]:
    return isinstance(thing, type) and issubclass(thing, kind)


def makes_arrays(functions: Sequence[FunctionType]) -> bool:
    """Whether any function that is reached uses NumPy, makes a list, or draws an array."""
    for one in reached(functions):
        codes = list(_codes(one.__code__))
        if any(_displays(code) or set(code.co_names) & DRAWN_ARRAYS for code in codes):
            return True
        if any(_of_numpy(thing) for _, thing in _used(one)):
            return True
    return False


def _used(function: FunctionType) -> Iterator[tuple[str, object]]:
    """What a function takes from its module, from other modules by their name, and from its closure."""
    names = [name for code in _codes(function.__code__) for name in code.co_names]
    for name in names:
        if name in function.__globals__:
            thing = function.__globals__[name]
            yield name, thing
            yield from _of_module(name, thing, names, set())
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:  # not set yet
            continue


def _of_module(name: str, module: object, names: list[str], met: set[ModuleType]) -> Iterator[tuple[str, object]]:
    """What is taken from a module, and from modules that it holds: `settings.physics.GRAVITY`."""
    if not isinstance(module, ModuleType) or _of_numpy(module) or module in met:
        return
    met.add(module)
    for other in names:
        if other in vars(module):
            yield f"{name}.{other}", vars(module)[other]
            yield from _of_module(f"{name}.{other}", vars(module)[other], names, met)


def _codes(code: CodeType) -> Iterator[CodeType]:
    """A function's code and that of what is defined inside it."""
    yield code
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield from _codes(one)


def _displays(code: CodeType) -> bool:
    """Whether it may make a list: arguments of operations count as well, which does no harm."""
    return any(operation in code.co_code for operation in LIST_OPERATIONS)


def _is_plain(function: FunctionType) -> bool:
    return (function.__module__ or "").partition(".")[0] not in ("numpy", "numba", "builtins", "math")


def _of_numpy(thing: object) -> bool:
    if isinstance(thing, ModuleType):
        return thing.__name__.partition(".")[0] == "numpy"
    home = str(getattr(thing, "__module__", "") or "").partition(".")[0]
    return home == "numpy" or isinstance(thing, np.ufunc | np.ndarray)
