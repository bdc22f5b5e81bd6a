"""A state's own arrays: one environment keeps each of them once and to itself, as a lane of a batch does.

Rules may change arrays in place, return one twice, swap two, or return what belongs to their module or parameters. In a
batch every array field has memory of its own; copying here what is not the same field's makes it so everywhere.
"""

from collections.abc import Callable, Iterable
from typing import TypeVar, cast

import numpy as np

from ludus.errors import KernelError
from ludus.kernels.kinds import is_array, is_tuple

__all__ = ["has_arrays", "own_copy", "own_state", "read_only"]

ValueT = TypeVar("ValueT")


def has_arrays(value: object) -> bool:
    """Whether there is any array in nested tuples.

    >>> has_arrays((1, (2.0, np.zeros(3))))
    True
    """
    return is_array(value) or (is_tuple(value) and any(map(has_arrays, value)))


def own_copy(value: ValueT) -> ValueT:
    """The same nested tuples with arrays of their own."""
    return cast(ValueT, _copied(value))  # of the same type, for all a caller can tell


def _copied(value: object) -> object:
    if is_array(value):
        return value.copy()
    return _like(value, type(value), [_copied(one) for one in value]) if is_tuple(value) else value


def own_state(before: object, after: object, name: str) -> object:
    """What a rule made of a state: arrays that it changed in place stay, all others become copies.

    >>> board, spare = np.zeros(2), np.ones(2)
    >>> first, second = own_state((board, spare), (spare, board), "State")
    >>> first is spare, second.tolist()
    (False, [0.0, 0.0])
    """
    if after is before and not is_tuple(after):
        return after
    if is_array(after):
        if not is_array(before) or before.shape != after.shape or before.dtype != after.dtype:
            got = f"{after.dtype} of shape {after.shape}"
            raise KernelError(f"{name}: expected {_described(before)}, as from reset, got {got}")
        return np.array(after, order="C")
    if not is_tuple(after) or not is_tuple(before) or len(before) != len(after):
        return after
    names: Iterable[object] = getattr(before, "_fields", range(len(before)))
    return _like(
        after, type(after), [own_state(a, b, f"{name}.{one}") for a, b, one in zip(before, after, names, strict=True)]
    )


def read_only(value: object) -> object:
    """An array that belongs to the caller, or to every lane, as rules are given it; other values as they are.

    >>> read_only(np.zeros(2))[0] = 1.0
    Traceback (most recent call last):
    ValueError: assignment destination is read-only
    """
    if not is_array(value):
        return value
    view = value.view()
    view.flags.writeable = False
    return view


def _described(value: object) -> str:
    return f"{value.dtype} of shape {value.shape}" if is_array(value) else type(value).__name__


def _like(
    value: tuple[object, ...], kind: Callable[..., tuple[object, ...]], parts: list[object]
) -> tuple[object, ...]:
    """A tuple of the same kind, `type(value)`, of other parts."""
    return kind(*parts) if hasattr(value, "_fields") else tuple(parts)
