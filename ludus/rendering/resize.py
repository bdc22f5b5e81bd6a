"""Resizing: area averaging where an image shrinks, bilinear where it grows, each axis for itself."""

from collections.abc import Iterable
from functools import lru_cache
from operator import index
from typing import SupportsIndex, TypeVar

import numpy as np
from numpy.typing import NDArray

from ludus.errors import InvalidArgument, shorten
from ludus.spaces.array_space import Array

__all__ = ["resample", "resize"]

ScalarT = TypeVar("ScalarT", bound=np.generic)
Reals = NDArray[np.floating]
Taps = tuple[tuple[NDArray[np.int64], NDArray[np.float32]], ...]


def resize(frame: NDArray[ScalarT], size: tuple[int, int]) -> NDArray[ScalarT]:
    """`frame` at `size` = (width, height), of the same dtype; bytes are rounded to the nearest.

    Shapes: (height, width), (height, width, channels), or a batch (n, height, width, channels). The answer is always a
    new array.

    >>> resize(np.array([[0, 100], [200, 100]], dtype=np.uint8), (1, 1))
    array([[100]], dtype=uint8)
    """
    width, height = _checked_size(size)
    array = np.asarray(frame)
    if array.ndim not in (2, 3, 4) or array.dtype.kind not in "uf" or 0 in array.shape:
        raise InvalidArgument(
            "resize: expected an image (height, width[, channels]) or a batch (n, height, width, channels) of bytes "
            f"or floats, got {array.dtype} of shape {array.shape}"
        )
    rows = 1 if array.ndim == 4 else 0
    if array.shape[rows : rows + 2] == (height, width):
        return array.copy()
    return _as_before(resample(array, (width, height), rows), array.dtype)


def _checked_size(size: Iterable[SupportsIndex]) -> tuple[int, int]:
    try:
        width, height = (index(length) for length in size)
    except (TypeError, ValueError):
        width = height = 0
    if width < 1 or height < 1:
        raise InvalidArgument(f"size: expected (width, height) in whole pixels, at least 1 each, got {shorten(size)}")
    return width, height


def _as_before(values: Reals, dtype: np.dtype[ScalarT]) -> NDArray[ScalarT]:
    if dtype.kind == "f":
        return values.astype(dtype)
    values += 0.5
    return np.clip(values, 0, np.iinfo(dtype.str).max).astype(dtype)


def resample(array: NDArray[np.generic], size: tuple[int, int], rows: int = 0) -> Reals:
    """`array` at (width, height) in floats, axis `rows` being the vertical one and the next the horizontal."""
    # The axis that shrinks most goes first: the second pass then has less to do.
    lengths = (size[1], rows), (size[0], rows + 1)
    made: Array = array
    for length, axis in sorted(lengths, key=lambda pair: pair[0] / array.shape[pair[1]]):
        made = _along(made, length, axis)
    return made


def _along(array: Array, length: int, axis: int) -> Reals:
    kind = np.float64 if array.dtype.itemsize > 2 and array.dtype != np.float32 else np.float32
    if array.shape[axis] == length:
        return array.astype(kind, copy=False)
    shape = [1] * array.ndim
    shape[axis] = length
    total: Reals = np.zeros((*array.shape[:axis], length, *array.shape[axis + 1 :]), dtype=kind)
    # One weighted gather for each tap, not a matrix product: taps are few, and a BLAS rounds in an order of its own.
    for source, weight in _taps(array.shape[axis], length):
        total += array.take(source, axis=axis) * weight.reshape(shape).astype(kind, copy=False)
    return total


@lru_cache(maxsize=128)
def _taps(before: int, after: int) -> Taps:
    """Which source pixels make each new one, and with what weights: one pair of arrays for each tap."""
    return _area_taps(before, after) if after < before else _linear_taps(before, after)


def _area_taps(before: int, after: int) -> Taps:
    start = np.arange(after) * before / after
    stop = np.arange(1, after + 1) * before / after
    first = np.floor(start).astype(np.int64)
    taps: list[tuple[NDArray[np.int64], NDArray[np.float32]]] = []
    for tap in range(int(np.max(np.ceil(stop - 1e-9) - first))):
        source = first + tap
        overlap = np.clip(np.minimum(stop, source + 1) - np.maximum(start, source), 0.0, None)
        taps.append((np.minimum(source, before - 1), (overlap * after / before).astype(np.float32)))
    return tuple(taps)


def _linear_taps(before: int, after: int) -> Taps:
    place = np.clip((np.arange(after) + 0.5) * before / after - 0.5, 0.0, before - 1)
    first = np.floor(place).astype(np.int64)
    part = (place - first).astype(np.float32)
    return (first, np.float32(1.0) - part), (np.minimum(first + 1, before - 1), part)
