"""Grids: the frames of a batch side by side in one."""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from ludus.errors import InvalidArgument, shorten
from ludus.rendering.color import Color, parse_color
from ludus.rendering.frame import Frame, as_frame

__all__ = ["grid"]


def grid(frames: Iterable[Any], *, columns: int | None = None, gap: int = 2, background: Color = "#343a40") -> Frame:
    """One frame that shows equal ones in rows, with thin gaps; without `columns`, about as wide as high.

    >>> grid([np.zeros((10, 20, 3), np.uint8)] * 4, gap=2).shape
    (22, 42, 3)
    """
    tiles = [as_frame(frame, f"frame {number}") for number, frame in enumerate(frames)]
    if not tiles:
        raise InvalidArgument("grid: expected at least one frame, got none")
    height, width, _ = tiles[0].shape
    different = next((number for number, tile in enumerate(tiles) if tile.shape != tiles[0].shape), None)
    if different is not None:
        got = tiles[different].shape
        raise InvalidArgument(
            f"grid: expected frames of one size, {width}×{height}, got {got[1]}×{got[0]} as frame {different}"
        )
    across = _columns(columns, len(tiles), width, height)
    down = math.ceil(len(tiles) / across)
    sheet = np.empty((down * (height + gap) - gap, across * (width + gap) - gap, 3), dtype=np.uint8)
    sheet[:] = parse_color(background, "background")[:3]
    for number, tile in enumerate(tiles):
        top, left = number // across * (height + gap), number % across * (width + gap)
        sheet[top : top + height, left : left + width] = tile
    return sheet


def _columns(columns: object, count: int, width: int, height: int) -> int:
    if columns is None:
        return min(count, max(1, math.ceil(math.sqrt(count * height / width) - 1e-9)))
    if not isinstance(columns, int) or isinstance(columns, bool) or columns < 1:
        raise InvalidArgument(f"columns: expected a whole number of at least 1, got {shorten(columns)}")
    return min(columns, count)
