"""Coverage: the exact part of each pixel that lies inside an outline, as font rasterisers compute it.

Every edge is cut at the pixel rows it crosses. What one cut piece covers to its right, column by column, is a closed
formula; summed over all edges with the direction as sign, it is the winding number averaged over the pixel. No samples
are taken, so nothing flickers when a shape moves by a hundredth of a pixel.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ludus.rendering.drawing import Rule
from ludus.rendering.frame import Floats

__all__ = ["coverage"]

Ints = NDArray[np.int64]


class Slices(NamedTuple):
    """Edges cut at pixel rows: the row, the signed height, and the leftmost and rightmost x of each piece."""

    row: Ints
    height: Floats
    left: Floats
    right: Floats


def coverage(
    points: Floats, following: Ints, size: tuple[int, int], *, rule: Rule = "nonzero", x: float = 0.0, y: float = 0.0
) -> Floats:
    """The covered part, 0 to 1, of each pixel of a (width, height) window whose top left corner is at (x, y).

    An edge leads from each point to the point numbered `following`, so several contours fit in one call. Where contours
    overlap inside one pixel their parts add up and are cut at 1.

    >>> square = np.array([[0.5, 0.0], [2.0, 0.0], [2.0, 1.0], [0.5, 1.0]])
    >>> coverage(square, np.array([1, 2, 3, 0]), (3, 1))
    array([[0.5, 1. , 0. ]])
    """
    width, height = size
    start = points - (x, y)
    winding = _winding(_slices(start, start[following], height), width, height)
    if rule == "nonzero":
        return np.minimum(np.abs(winding), 1.0)
    folded = np.abs(winding) % 2.0
    return np.minimum(folded, 2.0 - folded)


def _slices(start: Floats, end: Floats, height: int) -> Slices:
    """The pieces of edges inside the rows of the window."""
    down = start[:, 1] < end[:, 1]
    upper, lower = np.where(down[:, np.newaxis], start, end), np.where(down[:, np.newaxis], end, start)
    top, bottom = np.maximum(upper[:, 1], 0.0), np.minimum(lower[:, 1], height)
    kept = top < bottom
    x, y, top, bottom = upper[kept, 0], upper[kept, 1], top[kept], bottom[kept]
    slope = (lower[kept, 0] - x) / (lower[kept, 1] - y)
    sign = np.where(down[kept], 1.0, -1.0)
    first = np.floor(top).astype(np.int64)
    edge, offset = _spread(np.ceil(bottom).astype(np.int64) - first)
    row = first[edge] + offset
    upper_y, lower_y = np.maximum(top[edge], row), np.minimum(bottom[edge], row + 1)
    x, y, slope = x[edge], y[edge], slope[edge]
    upper_x, lower_x = x + (upper_y - y) * slope, x + (lower_y - y) * slope
    return Slices(row, (lower_y - upper_y) * sign[edge], np.minimum(upper_x, lower_x), np.maximum(upper_x, lower_x))


def _spread(counts: Ints) -> tuple[Ints, Ints]:
    """For `counts` [2, 1]: which item each copy belongs to, [0, 0, 1], and its number among them, [0, 1, 0]."""
    item = np.repeat(np.arange(len(counts)), counts)
    return item, np.arange(len(item)) - np.repeat(np.cumsum(counts) - counts, counts)


def _winding(slices: Slices, width: int, height: int) -> Floats:
    """The winding number of each pixel, averaged over it."""
    seen = slices.left < width
    left, right = slices.left[seen], slices.right[seen]
    first = np.clip(np.floor(left).astype(np.int64), 0, width - 1)
    last = np.clip(np.floor(right).astype(np.int64) + 1, first, width - 1)
    piece, offset = _spread(last - first + 1)
    column, left, right = first[piece] + offset, left[piece], right[piece]
    covered = _area_up_to(column + 1, left, right) - _area_up_to(column, left, right)
    # Only the change from column to column is noted, and summed up at the end: past its last column a piece is silent.
    covered[1:] -= np.where(offset[1:] > 0, covered[:-1], 0.0)
    cell, weights = slices.row[seen][piece] * width + column, covered * slices.height[seen][piece]
    noted: Floats = np.bincount(cell, weights=weights, minlength=width * height).astype(np.float64, copy=False)
    return np.cumsum(noted.reshape(height, width), axis=1)


def _area_up_to(x: Ints, left: Floats, right: Floats) -> Floats:
    """The area between a piece of height 1 that runs from `left` to `right` and the vertical at `x`, if beyond it."""
    reach = np.maximum(x - left, 0.0)
    # A triangle where the vertical cuts the piece, and a rectangle beyond it; upright pieces have no triangle.
    run = np.maximum(right - left, 1e-300)
    cut = np.minimum(reach, run)
    return cut * (cut / run) * 0.5 + (reach - cut)
