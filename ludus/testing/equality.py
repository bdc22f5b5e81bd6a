"""Equality of data: the same structure, types, dtypes, shapes and numbers, and NaN equals NaN."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import NamedTuple

import numpy as np

from ludus.errors import shorten
from ludus.spaces.array_space import Array
from ludus.spaces.kinds import class_of, is_array, is_list_or_tuple, is_mapping, is_scalar

__all__ = ["Difference", "arrays", "data_equal", "difference", "parts"]

NUMBERS = (bool, int, float, complex)


class Difference(NamedTuple):
    """The first place where two values differ, and what is there in each.

    >>> print(difference({"x": np.array([1, 2])}, {"x": np.array([1, 3])}, "observation"))
    observation["x"][1]: 2 and 3
    """

    path: str
    left: str
    right: str

    def __str__(self) -> str:
        return f"{self.path}: {self.left} and {self.right}"


def data_equal(a: object, b: object) -> bool:
    """Whether two values are the same data, types included: 1, 1.0, True and `np.int64(1)` are four different values.

    Looks into arrays, dictionaries, tuples, lists, named tuples, dataclasses, msgspec Structs and Pydantic models.
    A NumPy scalar and an array of shape () count as the same, since NumPy itself gives now one, now the other.

    >>> data_equal({"x": np.array([1.0, np.nan])}, {"x": np.array([1.0, np.nan])})
    True
    >>> data_equal(np.zeros(2, np.float32), np.zeros(2, np.float64))
    False
    """
    return difference(a, b) is None


def difference(a: object, b: object, path: str = "value", *, exact: bool = True) -> Difference | None:
    """Where `a` and `b` differ first, or None; without `exact`, numbers compare by value and a list equals a tuple."""
    if exact and type(a) is not type(b) and not (_is_number(a) and _is_number(b)):
        return Difference(path, _typed(a), _typed(b))
    if _numeric(a, exact) or _numeric(b, exact):
        return _array_difference(a, b, path, exact)
    mine, other = parts(a), parts(b)
    if mine is None or other is None:
        return None if _same(a, b) else Difference(path, *_told_apart(a, b))
    if mine.keys() != other.keys():
        return Difference(path, f"parts {list(mine)}", f"parts {list(other)}")
    found = (difference(one, other[name], f"{path}{name}", exact=exact) for name, one in mine.items())
    return next((one for one in found if one is not None), None)


def parts(value: object) -> dict[str, object] | None:
    """What a structured value is made of, each under the path that leads to it; None for a value without parts."""
    if is_mapping(value):
        return {f'["{key}"]' if isinstance(key, str) else f"[{key!r}]": one for key, one in value.items()}
    if _is_named_tuple(value):
        return {f".{name}": getattr(value, name) for name in _names(value, "_fields")}
    if is_list_or_tuple(value):
        return {f"[{place}]": one for place, one in enumerate(value)}
    if isinstance(value, type):
        return None
    if is_dataclass(value):
        return {f".{one.name}": getattr(value, one.name) for one in fields(value)}
    if hasattr(value, "__struct_fields__"):
        return {f".{name}": getattr(value, name) for name in _names(value, "__struct_fields__")}
    kind = class_of(value)
    if hasattr(kind, "model_fields") or kind.__eq__ is object.__eq__:
        own: dict[str, object] | None = getattr(value, "__dict__", None)
        return None if own is None else {f".{name}": one for name, one in own.items()}
    return None


def _names(value: object, attribute: str) -> tuple[str, ...]:
    names: tuple[str, ...] = getattr(value, attribute)
    return names


def _is_named_tuple(value: object) -> bool:
    return issubclass(class_of(value), tuple) and hasattr(value, "_fields")


def arrays(value: object, path: str = "") -> Iterator[tuple[str, Array]]:
    """Every NumPy array in a structured value, with its path."""
    if isinstance(value, np.ndarray):
        yield path, value
        return
    for name, one in (parts(value) or {}).items():
        yield from arrays(one, f"{path}{name}")


def _is_number(value: object) -> bool:
    """Whether it is one NumPy number: a row of an array of them is a scalar, on its own it is an array of shape ()."""
    return is_scalar(value) or (is_array(value) and value.shape == ())


def _numeric(value: object, exact: bool) -> bool:
    return isinstance(value, np.ndarray | np.generic) or (
        isinstance(value, float | complex) if exact else isinstance(value, NUMBERS)
    )


def _array_difference(a: object, b: object, path: str, exact: bool) -> Difference | None:
    left, right = np.asarray(a), np.asarray(b)
    if left.shape != right.shape:
        return Difference(path, f"shape {left.shape}", f"shape {right.shape}")
    if exact and left.dtype != right.dtype:
        return Difference(path, f"dtype {left.dtype}", f"dtype {right.dtype}")
    if left.dtype == right.dtype == object:
        return difference(left.tolist(), right.tolist(), path, exact=exact)
    same = np.asarray(left == right)
    if same.all():  # nearly always, and several times as quick as looking for where they differ
        return None
    # A value that differs from itself is NaN, or its like among dates.
    apart = np.argwhere(~(same | ((left != left) & (right != right))))
    if not len(apart):
        return None
    at = tuple(int(place) for place in apart[0])
    return Difference(path + "".join(f"[{place}]" for place in at), str(left[at]), str(right[at]))


def _same(a: object, b: object) -> bool:
    if a is b:
        return True
    equal: object = a == b
    return bool(equal)


def _told_apart(a: object, b: object) -> tuple[str, str]:
    left, right = shorten(a), shorten(b)
    return (left, right) if left != right else (f"{left} at {id(a):#x}", f"{right} at {id(b):#x}")


def _typed(value: object) -> str:
    if is_array(value):
        return f"an array of shape {value.shape}, dtype {value.dtype}"
    return f"{shorten(value)} ({type(value).__name__})"
