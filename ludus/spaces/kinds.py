"""What a value that came from outside is, in a form that type checkers follow.

`isinstance(value, dict)` leaves keys and values unknown to them; after `is_dict(value)` its values are objects, to be
looked at in turn, and its keys may be used as what they are. Each costs a call: where every step of an environment
passes, `isinstance` and a typed name for the value are used instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeGuard

import numpy as np
import numpy.typing as npt

__all__ = [
    "Array",
    "class_of",
    "is_array",
    "is_dict",
    "is_integer",
    "is_iterable",
    "is_list",
    "is_list_or_tuple",
    "is_mapping",
    "is_scalar",
    "is_tuple",
]

Array = npt.NDArray[Any]
"""An array whose dtype is known when it runs, and not before."""

class_of: Callable[[object], type[object]] = type
"""`type(value)`, of which it is known that it is a class, even where nothing is known of the value."""


def is_array(value: object) -> TypeGuard[Array]:
    """Whether it is a NumPy array; a NumPy scalar is none."""
    return isinstance(value, np.ndarray)


def is_dict(value: object) -> TypeGuard[dict[Any, object]]:
    """Whether it is a dictionary."""
    return isinstance(value, dict)


def is_mapping(value: object) -> TypeGuard[Mapping[Any, object]]:
    """Whether it is a dictionary or anything that reads like one."""
    return isinstance(value, Mapping)


def is_list(value: object) -> TypeGuard[list[object]]:
    """Whether it is a list."""
    return isinstance(value, list)


def is_tuple(value: object) -> TypeGuard[tuple[object, ...]]:
    """Whether it is a tuple, with names or without."""
    return isinstance(value, tuple)


def is_list_or_tuple(value: object) -> TypeGuard[list[object] | tuple[object, ...]]:
    """Whether it is a list or a tuple: what decoders of different formats make of a sequence."""
    return isinstance(value, list | tuple)


def is_iterable(value: object) -> TypeGuard[Iterable[object]]:
    """Whether `for` takes it."""
    return isinstance(value, Iterable)


def is_scalar(value: object) -> TypeGuard[np.generic]:
    """Whether it is one of NumPy's scalars, of any kind."""
    return isinstance(value, np.generic)


def is_integer(value: object) -> TypeGuard[int | np.integer]:
    """Whether it is an integer of Python's or NumPy's: `True` is one too, and so is a span of time."""
    return isinstance(value, int | np.integer)
