"""Pixels: a drawing as an anti-aliased RGB frame. NumPy is all it needs, and the same drawing gives the same bytes."""

from functools import lru_cache
from typing import Any

import numpy as np

from ludus.errors import InvalidArgument, shorten
from ludus.rendering.blend import Mask, blend_image, blend_mask, blend_rectangle, to_mask
from ludus.rendering.color import RGBA
from ludus.rendering.coverage import coverage
from ludus.rendering.drawing import Drawing
from ludus.rendering.font import text_outline
from ludus.rendering.frame import Floats, Frame
from ludus.rendering.mark import Mark, Path, Picture, Rectangle, Rule, Text
from ludus.rendering.matrix import Matrix
from ludus.rendering.outline import Outline, Shape, fill_outline, stroke_outline
from ludus.rendering.sampling import sampled

__all__ = ["blank", "paint", "to_pixels"]

GRAIN = 1024
"""Outlines are laid on a grid of 1/1024 pixel, so that equal shapes are found again in the caches."""
FAR = 1e6
"""Corners further out, in pixels, are drawn in to here: no frame shows the difference."""
SMALL = 1 << 14
"""Masks of at most so many pixels are kept in large number, larger ones in small number."""


def to_pixels(drawing: Drawing, scale: float = 1.0) -> Frame:
    """The drawing as (height, width, 3) bytes, `scale` times its size; a new array each time.

    >>> to_pixels(Drawing(4, 3, RGBA(255, 255, 255)), scale=2).shape
    (6, 8, 3)
    """
    size = _size(drawing, scale)
    frame = blank(*size, drawing.background)
    matrix = Matrix(size[0] / drawing.width, 0.0, 0.0, size[1] / drawing.height)
    for mark in drawing.marks:
        paint(frame, mark, matrix)
    return frame


def _size(drawing: Drawing, scale: Any) -> tuple[int, int]:
    if isinstance(scale, bool) or not isinstance(scale, int | float | np.number) or not 0.0 < scale < 1e4:
        raise InvalidArgument(f"scale: expected a number above 0, got {shorten(scale)}")
    return max(1, round(drawing.width * float(scale))), max(1, round(drawing.height * float(scale)))


def blank(width: int, height: int, background: RGBA) -> Frame:
    """A frame of one colour."""
    frame = np.empty((height, width, 3), dtype=np.uint8)
    # A row first: copying rows is much faster than copying three bytes at a time.
    frame[0] = background[:3]
    frame[1:] = frame[0]
    return frame


def paint(frame: Frame, mark: Mark, base: Matrix) -> None:
    """Draw one mark on a frame; `base` leads from the drawing's coordinates to pixels."""
    shape, colors, matrix = mark.shape, mark.paint, base.after(mark.matrix)
    if isinstance(shape, Picture):
        _paint_picture(frame, shape, matrix)
    elif isinstance(shape, Text):
        outline, place = text_outline(shape)
        _paint_outline(frame, outline, matrix.after(place), colors.fill)
    else:
        _paint_shape(frame, shape, mark, matrix)


def _paint_shape(frame: Frame, shape: Shape, mark: Mark, matrix: Matrix) -> None:
    colors, resolution = mark.paint, _resolution(matrix)
    if colors.fill is not None:
        if isinstance(shape, Rectangle) and not shape.radius and matrix.is_upright:
            left, top = matrix.map(shape.x, shape.y)
            right, bottom = matrix.map(shape.x + shape.width, shape.y + shape.height)
            blend_rectangle(frame, (left, top, right, bottom), colors.fill)
        else:
            _paint_outline(frame, fill_outline(shape, resolution), matrix, colors.fill, colors.rule)
    if colors.stroke is not None:
        box = _straight(shape, mark, matrix)
        if box is not None:
            blend_rectangle(frame, box, colors.stroke)
        else:
            _paint_outline(frame, stroke_outline(shape, colors, resolution), matrix, colors.stroke)


def _resolution(matrix: Matrix) -> float:
    """Pixels per unit, as a power of two: a slowly growing scale then finds its outlines in the cache."""
    return 2.0 ** np.ceil(np.log2(max(matrix.magnification, 1e-6)))


def _straight(shape: Shape, mark: Mark, matrix: Matrix) -> tuple[float, float, float, float] | None:
    """The rectangle that a horizontal or vertical line with plain ends is."""
    if not isinstance(shape, Path) or len(shape.points) != 2 or mark.paint.cap != "butt" or not matrix.is_upright:
        return None
    (x1, y1), (x2, y2) = shape.points
    if (x1 == x2) == (y1 == y2):
        return None
    half = mark.paint.width / 2.0
    wide, tall = (half, 0.0) if x1 == x2 else (0.0, half)
    left, top = matrix.map(min(x1, x2) - wide, min(y1, y2) - tall)
    right, bottom = matrix.map(max(x1, x2) + wide, max(y1, y2) + tall)
    return left, top, right, bottom


def _paint_outline(
    frame: Frame, outline: Outline, matrix: Matrix, color: RGBA | None, rule: Rule = "nonzero"
) -> None:
    if color is None or not len(outline.points):
        return
    points = np.clip(matrix.map_points(outline.points), -FAR, FAR)
    window = _window(points, frame)
    if window is None:
        return
    left, top, right, bottom = window
    grains = np.rint((points - (left, top)) * GRAIN).astype(np.int32)
    size = right - left, bottom - top
    masks = _small_mask if size[0] * size[1] <= SMALL else _large_mask
    mask = masks(grains.tobytes(), outline.following.tobytes(), size, rule)
    blend_mask(frame[top:bottom, left:right], mask, color)


def _window(points: Floats, frame: Frame) -> tuple[int, int, int, int] | None:
    """The pixels (left, top, right, bottom) that an outline can touch; None when it lies outside the frame."""
    low, high = points.min(axis=0), points.max(axis=0)
    left, top = max(0, int(np.floor(low[0]))), max(0, int(np.floor(low[1])))
    right, bottom = min(frame.shape[1], int(np.ceil(high[0]))), min(frame.shape[0], int(np.ceil(high[1])))
    return (left, top, right, bottom) if left < right and top < bottom else None


def _mask(grains: bytes, following: bytes, size: tuple[int, int], rule: Rule) -> Mask:
    points = np.frombuffer(grains, dtype=np.int32).reshape(-1, 2) / GRAIN
    return to_mask(coverage(points, np.frombuffer(following, dtype=np.int64), size, rule=rule))


_small_mask = lru_cache(maxsize=1024)(_mask)
_large_mask = lru_cache(maxsize=8)(_mask)


def _paint_picture(frame: Frame, picture: Picture, matrix: Matrix) -> None:
    corners = ((0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0))
    unit = matrix.after(Matrix(picture.width, 0.0, 0.0, picture.height, picture.x, picture.y))
    window = _window(np.array([unit.map(*corner) for corner in corners]), frame)
    if window is None or not unit.determinant:
        return
    left, top, right, bottom = window
    placed = Matrix(*(round(number * GRAIN) / GRAIN for number in unit._replace(e=unit.e - left, f=unit.f - top)))
    if placed.determinant:
        blend_image(frame[top:bottom, left:right], sampled(picture._replace(x=0.0, y=0.0), placed, (right - left, bottom - top)))
