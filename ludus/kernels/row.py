"""Rows: what a rule observes, as a new array. Filling one by hand is twice as fast as `np.array` on a short tuple."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import empty

__all__ = ["row_writer"]

Writer = Callable[[Any, Any], Any]


def row_writer(length: int) -> Writer:
    """The function that writes a tuple of that many numbers into a new array of a dtype.

    >>> row_writer(2)((1.0, 2.0), np.float32)
    array([1., 2.], dtype=float32)
    """
    return _BY_LENGTH.get(length, np.array)


def _two(seen: Any, dtype: Any) -> Any:
    row = empty(2, dtype)
    row[0], row[1] = seen
    return row


def _three(seen: Any, dtype: Any) -> Any:
    row = empty(3, dtype)
    row[0], row[1], row[2] = seen
    return row


def _four(seen: Any, dtype: Any) -> Any:
    row = empty(4, dtype)
    row[0], row[1], row[2], row[3] = seen
    return row


def _six(seen: Any, dtype: Any) -> Any:
    row = empty(6, dtype)
    row[0], row[1], row[2], row[3], row[4], row[5] = seen
    return row


_BY_LENGTH: dict[int, Writer] = {2: _two, 3: _three, 4: _four, 6: _six}
