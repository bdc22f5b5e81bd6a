"""Observations of one environment: what a rule observed, as a value of the space, and the caller's own.

Filling a short row by hand is twice as fast as `np.array` on a tuple.
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np
from numpy import empty

from ludus.errors import ContractViolation, shorten
from ludus.kernels.kinds import is_dict, is_tuple
from ludus.spaces import Dict, Discrete, Space, Tuple
from ludus.spaces.array_space import Array, ArraySpace
from ludus.spaces.kinds import class_of

__all__ = ["observation_writer"]

Writer = Callable[[Any], object]
"""Takes what rules observe in a space: a number, a tuple, an array, a NamedTuple or a dictionary."""


def observation_writer(space: Space[object], name: str = "observation") -> Writer | None:
    """The function that makes a value of a space from what rules observed; None where it is one already.

    >>> from ludus.spaces import Box, Discrete
    >>> observation_writer(Box(0, 9, (2,)))((1.0, 2.0))
    array([1., 2.], dtype=float32)
    >>> space = Dict(board=Box(0, 1, (2, 2), np.uint8), turn=Discrete(2))
    >>> observation_writer(space)({"board": ((1, 0), (0, 1)), "turn": 1})
    {'board': array([[1, 0],
           [0, 1]], dtype=uint8), 'turn': 1}
    """
    # Partial functions, and no closures: a snapshot of an environment, which holds them, can be pickled.
    if isinstance(space, Tuple):
        parts = [observation_writer(part, f"{name}[{place}]") for place, part in enumerate(space.spaces)]
        return partial(_tuple, parts, name) if any(parts) else partial(_numbers, len(parts), name)
    if isinstance(space, Dict):
        writers = {key: observation_writer(part, f"{name}[{key!r}]") for key, part in space.spaces.items()}
        return partial(_dict, writers, name)
    if isinstance(space, Discrete) or not isinstance(space, ArraySpace):
        return None
    shape, dtype = space.shape, space.dtype
    write = partial(_array, shape, dtype, name)
    short = _BY_LENGTH.get(shape[0]) if len(shape) == 1 and dtype.kind == "f" else None
    return write if short is None else partial(short, dtype, write)


def _array(shape: tuple[int, ...], dtype: np.dtype[np.generic], name: str, seen: object) -> Array:
    try:
        found = np.array(seen)  # a copy: what rules keep stays theirs
    except ValueError:
        found = None
    if found is None or found.shape != shape:
        got = shorten(seen) if found is None else f"shape {found.shape}"
        raise ContractViolation(f"{name}: expected shape {shape} from observe, got {got}")
    if found.dtype == dtype or (dtype.kind == "f" and found.dtype.kind in "biuf"):
        return found.astype(dtype, copy=False)
    given = found.astype(dtype) if found.dtype.kind in "biu" else None
    if given is None or not np.array_equal(given, found):
        raise ContractViolation(f"{name}: expected numbers that {dtype} holds from observe, got {shorten(seen)}")
    return given


def _tuple(writers: list[Writer | None], name: str, seen: object) -> object:
    if not is_tuple(seen) or len(seen) != len(writers):
        raise ContractViolation(f"{name}: expected a tuple of {len(writers)} from observe, got {shorten(seen)}")
    return tuple(one if to is None else to(one) for to, one in zip(writers, seen, strict=True))


def _numbers(count: int, name: str, seen: Any) -> object:
    return seen if class_of(seen) is tuple and len(seen) == count else _tuple([None] * count, name, seen)


def _dict(writers: dict[str, Writer | None], name: str, seen: object) -> object:
    as_dict: Callable[[], object] | None = getattr(seen, "_asdict", None)
    given = seen if as_dict is None else as_dict()
    if not is_dict(given) or given.keys() != writers.keys():
        raise ContractViolation(
            f"{name}: expected the keys {list(writers)}, in a dictionary or a NamedTuple, from observe, "
            f"got {shorten(seen)}"
        )
    return {key: given[key] if to is None else to(given[key]) for key, to in writers.items()}


def _two(dtype: np.dtype[np.generic], otherwise: Writer, seen: Iterable[float]) -> object:
    row = empty(2, dtype)
    try:
        row[0], row[1] = seen
    except ValueError:  # too many, or too few
        return otherwise(seen)
    return row


def _three(dtype: np.dtype[np.generic], otherwise: Writer, seen: Iterable[float]) -> object:
    row = empty(3, dtype)
    try:
        row[0], row[1], row[2] = seen
    except ValueError:  # too many, or too few
        return otherwise(seen)
    return row


def _four(dtype: np.dtype[np.generic], otherwise: Writer, seen: Iterable[float]) -> object:
    row = empty(4, dtype)
    try:
        row[0], row[1], row[2], row[3] = seen
    except ValueError:  # too many, or too few
        return otherwise(seen)
    return row


def _six(dtype: np.dtype[np.generic], otherwise: Writer, seen: Iterable[float]) -> object:
    row = empty(6, dtype)
    try:
        row[0], row[1], row[2], row[3], row[4], row[5] = seen
    except ValueError:  # too many, or too few
        return otherwise(seen)
    return row


_BY_LENGTH: dict[int, Callable[[np.dtype[np.generic], Writer, Iterable[float]], object]] = {
    2: _two,
    3: _three,
    4: _four,
    6: _six,
}
