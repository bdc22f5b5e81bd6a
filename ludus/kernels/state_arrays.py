"""A state's own arrays: one environment keeps each of them once and to itself, as a lane of a batch does.

Rules may change arrays in place, return one twice, swap two, or return what belongs to their module or parameters. In a
batch every array field has memory of its own; copying here what is not the same field's makes it so everywhere.
"""

from typing import Any, TypeVar

import numpy as np

from ludus.errors import KernelError

__all__ = ["has_arrays", "own_copy", "own_state", "read_only"]

T = TypeVar("T")


def has_arrays(value: object) -> bool:
    """Whether there is any array in nested tuples.

    >>> has_arrays((1, (2.0, np.zeros(3))))
    True
    """
    nested: Any = value
    return isinstance(value, np.ndarray) or (isinstance(value, tuple) and any(map(has_arrays, nested)))


def own_copy(value: T) -> T:
    """The same nested tuples with arrays of their own."""
    if isinstance(value, np.ndarray):
        copied: Any = value.copy()
        return copied
    if not isinstance(value, tuple):
        return value
    return _like(value, [own_copy(one) for one in value])  # pyright: ignore[reportUnknownVariableType]


def own_state(before: object, after: object, name: str) -> Any:
    """What a rule made of a state: arrays that it changed in place stay, all others become copies.

    >>> board, spare = np.zeros(2), np.ones(2)
    >>> first, second = own_state((board, spare), (spare, board), "State")
    >>> first is spare, second.tolist()
    (False, [0.0, 0.0])
    """
    if after is before and not isinstance(after, tuple):
        return after
    if isinstance(after, np.ndarray):
        if not isinstance(before, np.ndarray) or before.shape != after.shape or before.dtype != after.dtype:
            got = f"{after.dtype} of shape {after.shape}"
            raise KernelError(f"{name}: expected {_described(before)}, as from reset, got {got}")
        return np.array(after, order="C")
    if not isinstance(after, tuple) or not isinstance(before, tuple):
        return after
    old, new = list[Any](before), list[Any](after)
    if len(old) != len(new):
        return after  # pyright: ignore[reportUnknownVariableType]
    names: Any = getattr(before, "_fields", range(len(old)))  # pyright: ignore[reportUnknownArgumentType]
    return _like(after, [own_state(a, b, f"{name}.{one}") for a, b, one in zip(old, new, names, strict=True)])


def read_only(value: object) -> object:
    """An array that belongs to the caller, or to every lane, as rules are given it; other values as they are.

    >>> read_only(np.zeros(2))[0] = 1.0
    Traceback (most recent call last):
    ValueError: assignment destination is read-only
    """
    if not isinstance(value, np.ndarray):
        return value
    view: Any = value.view()
    view.flags.writeable = False
    return view


def _described(value: object) -> str:
    return f"{value.dtype} of shape {value.shape}" if isinstance(value, np.ndarray) else type(value).__name__


def _like(value: object, parts: list[object]) -> Any:
    return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
