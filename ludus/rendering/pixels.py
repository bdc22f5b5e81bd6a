"""Pixels: a drawing as an anti-aliased RGB frame. NumPy is all it needs, and the same drawing gives the same bytes."""

import math
from functools import lru_cache

import numpy as np

from ludus.errors import InvalidArgument, shorten
from ludus.rendering.blend import Mask, blend_image, blend_mask, blend_rectangle, to_mask
from ludus.rendering.color import RGBA
from ludus.rendering.coverage import coverage
from ludus.rendering.drawing import Drawing, DrawnText, Mark, Paint, Path, Picture, Rectangle, Rule
from ludus.rendering.font import text_outline
from ludus.rendering.frame import Frame
from ludus.rendering.matrix import IDENTITY, Matrix
from ludus.rendering.outline import Outline, Shape, fill_outline, stroke_outline
from ludus.rendering.sampling import sampled
from ludus.spaces.kinds import is_scalar

__all__ = ["blank", "paint", "to_pixels"]

Box = tuple[float, float, float, float]
"""Left, top, right, bottom."""

GRAIN = 1024
"""Shapes are moved on a grid of 1/1024 pixel, so that equal ones are found again in the caches."""
SMALL, LARGE = 1 << 14, 1 << 20
"""Masks up to so many pixels are kept in large number, in small number; still larger ones are not."""


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


def _size(drawing: Drawing, scale: object) -> tuple[int, int]:
    plain = scale.item() if is_scalar(scale) else scale
    number = float(plain) if isinstance(plain, int | float) and not isinstance(plain, bool) else 0.0
    if not 0.0 < number < 1e4:
        raise InvalidArgument(f"scale: expected a number above 0, got {shorten(scale)}")
    return max(1, round(drawing.width * number)), max(1, round(drawing.height * number))


def blank(width: int, height: int, background: RGBA) -> Frame:
    """A frame of one colour."""
    frame = np.empty((height, width, 3), dtype=np.uint8)
    # A row first: copying rows is much faster than copying three bytes at a time.
    frame[0] = background[:3]
    frame[1:] = frame[0]
    return frame


def paint(frame: Frame, mark: Mark, base: Matrix) -> None:
    """Draw one mark on a frame; `base` leads from the drawing's coordinates to pixels."""
    shape, colors = mark.shape, mark.paint
    matrix = base if mark.matrix is IDENTITY else base.after(mark.matrix)
    if isinstance(shape, Picture):
        _paint_picture(frame, shape, matrix)
    elif isinstance(shape, DrawnText):
        outline, place = text_outline(shape)
        _paint_outline(frame, outline, matrix.after(place), colors.fill)
    else:
        _paint_fill(frame, shape, colors, matrix)
        _paint_stroke(frame, shape, colors, matrix)


def _paint_fill(frame: Frame, shape: Shape, colors: Paint, matrix: Matrix) -> None:
    if colors.fill is None:
        return
    if isinstance(shape, Rectangle) and not shape.radius and matrix.is_upright:
        corner = matrix.map(shape.x, shape.y)
        blend_rectangle(frame, (*corner, *matrix.map(shape.x + shape.width, shape.y + shape.height)), colors.fill)
        return
    shape, matrix = _centered(shape, matrix)
    _paint_outline(frame, fill_outline(shape, _resolution(matrix)), matrix, colors.fill, colors.rule)


def _paint_stroke(frame: Frame, shape: Shape, colors: Paint, matrix: Matrix) -> None:
    if colors.stroke is None:
        return
    box = _straight(shape, colors, matrix)
    if box is not None:
        blend_rectangle(frame, box, colors.stroke)
        return
    shape, matrix = _centered(shape, matrix)
    # Colours do not shape a line: left out, so that lines of all colours share one outline.
    outline = stroke_outline(shape, colors._replace(fill=None, stroke=None), _resolution(matrix))
    _paint_outline(frame, outline, matrix, colors.stroke)


def _centered(shape: Shape, matrix: Matrix) -> tuple[Shape, Matrix]:
    """The shape at (0, 0) and a map that brings it back: equal shapes in many places then share one outline."""
    if isinstance(shape, Path):
        return shape, matrix
    x, y = matrix.map(shape.x, shape.y)
    return shape._replace(x=0.0, y=0.0), matrix._replace(e=x, f=y)


def _resolution(matrix: Matrix) -> float:
    """Pixels per unit, as a power of two: a slowly growing scale then finds its outlines in the cache."""
    return 2.0 ** math.ceil(math.log2(max(matrix.magnification, 1e-6)))


def _straight(shape: Shape, colors: Paint, matrix: Matrix) -> Box | None:
    """The rectangle that a horizontal or vertical line with plain ends is."""
    if not isinstance(shape, Path) or len(shape.points) != 2 or colors.cap != "butt" or not matrix.is_upright:
        return None
    (x1, y1), (x2, y2) = shape.points
    if (x1 == x2) == (y1 == y2):
        return None
    half = colors.width / 2.0
    wide, tall = (half, 0.0) if x1 == x2 else (0.0, half)
    corner = matrix.map(min(x1, x2) - wide, min(y1, y2) - tall)
    return *corner, *matrix.map(max(x1, x2) + wide, max(y1, y2) + tall)


def _paint_outline(frame: Frame, outline: Outline, matrix: Matrix, color: RGBA | None, rule: Rule = "nonzero") -> None:
    window = _window(outline.box, matrix, frame)
    if color is None or window is None:
        return
    left, top, right, bottom = window
    size = right - left, bottom - top
    area = size[0] * size[1]
    covered = _small_mask if area <= SMALL else _large_mask if area <= LARGE else _mask
    blend_mask(frame[top:bottom, left:right], covered(outline, _within(matrix, left, top), size, rule), color)


def _window(box: Box, matrix: Matrix, frame: Frame) -> tuple[int, int, int, int] | None:
    """The pixels (left, top, right, bottom) that a box can touch once it is mapped; None if there are none."""
    left, top, right, bottom = box
    corners = [matrix.map(left, top), matrix.map(right, bottom), matrix.map(right, top), matrix.map(left, bottom)]
    x, y = [corner[0] for corner in corners], [corner[1] for corner in corners]
    left, top = max(0, math.floor(min(x))), max(0, math.floor(min(y)))
    right, bottom = min(frame.shape[1], math.ceil(max(x))), min(frame.shape[0], math.ceil(max(y)))
    return (left, top, right, bottom) if left < right and top < bottom else None


def _within(matrix: Matrix, left: int, top: int) -> Matrix:
    """The map into a window of the frame, its shift laid on a fine grid."""
    return matrix._replace(e=round((matrix.e - left) * GRAIN) / GRAIN, f=round((matrix.f - top) * GRAIN) / GRAIN)


def _mask(outline: Outline, matrix: Matrix, size: tuple[int, int], rule: Rule) -> Mask:
    return to_mask(coverage(matrix.map_points(outline.points), outline.following, size, rule=rule))


_small_mask = lru_cache(maxsize=1024)(_mask)
_large_mask = lru_cache(maxsize=8)(_mask)


def _paint_picture(frame: Frame, picture: Picture, matrix: Matrix) -> None:
    unit = matrix.after(Matrix(picture.width, 0.0, 0.0, picture.height, picture.x, picture.y))
    window = _window((0.0, 0.0, 1.0, 1.0), unit, frame)
    if window is None or not unit.determinant:
        return
    left, top, right, bottom = window
    image = sampled(picture._replace(x=0.0, y=0.0), _within(unit, left, top), (right - left, bottom - top))
    blend_image(frame[top:bottom, left:right], image)
