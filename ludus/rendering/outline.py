"""Outlines: every shape and every line as closed contours of straight edges, in the shape's own coordinates."""

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ludus.rendering.drawing import Ellipse, Paint, Path, Rectangle
from ludus.rendering.frame import Floats
from ludus.rendering.stroke import arc_steps, stroke

__all__ = ["Outline", "corners", "fill_outline", "join_contours", "stroke_outline"]

Shape = Path | Ellipse | Rectangle


class Outline:
    """Corners, and for each the number of the corner that follows it in its contour; equal only to itself.

    >>> Outline(np.array([[1.0, 2.0], [5.0, 2.0], [5.0, 4.0]]), np.array([1, 2, 0])).box
    (1.0, 2.0, 5.0, 4.0)
    """

    def __init__(self, points: Floats, following: NDArray[np.int64]) -> None:
        self.points = points
        self.following = following
        self.box = (
            (0.0, 0.0, 0.0, 0.0) if not len(points) else (*points.min(axis=0).tolist(), *points.max(axis=0).tolist())
        )


def join_contours(contours: Sequence[Floats]) -> Outline:
    """Several contours as one outline.

    >>> join_contours([np.zeros((3, 2)), np.zeros((2, 2))]).following.tolist()
    [1, 2, 0, 4, 3]
    """
    if not contours:
        return Outline(np.empty((0, 2)), np.empty(0, dtype=np.int64))
    ends = np.cumsum([len(contour) for contour in contours])
    following = np.arange(1, int(ends[-1]) + 1)
    following[ends - 1] = np.concatenate(([0], ends[:-1]))
    return Outline(np.concatenate(contours), following)


# Cached: scenery is the same in every frame, and what moves mostly moves through the matrix.
@lru_cache(maxsize=512)
def fill_outline(shape: Shape, resolution: float) -> Outline:
    """The outline of what is filled; curves are fine enough for `resolution` pixels per unit."""
    return join_contours([corners(shape, resolution)])


@lru_cache(maxsize=512)
def stroke_outline(shape: Shape, paint: Paint, resolution: float) -> Outline:
    """The outline of the line that is drawn along a shape."""
    if isinstance(shape, Ellipse) and shape.radius_x == shape.radius_y:
        return join_contours(_ring(shape, paint.width, resolution))
    closed = not isinstance(shape, Path) or shape.closed
    points = corners(shape, resolution)
    cap, join = paint.cap, paint.join
    return join_contours(stroke(points, paint.width, closed=closed, cap=cap, join=join, resolution=resolution))


def corners(shape: Shape, resolution: float) -> Floats:
    """The corners of a shape, one contour, with curves as many short sides."""
    if isinstance(shape, Path):
        return np.array(shape.points)
    if isinstance(shape, Ellipse):
        sides = _sides(max(shape.radius_x, shape.radius_y), resolution)
        return (shape.x, shape.y) + _circle(sides) * (shape.radius_x, shape.radius_y)
    return _rounded(shape, resolution)


def _sides(radius: float, resolution: float) -> int:
    # A multiple of four: circles stay symmetric in every way that pixels are.
    return 4 * max(2, math.ceil(arc_steps(radius, 2.0 * math.pi, resolution) / 4))


@lru_cache(maxsize=256)
def _circle(sides: int) -> Floats:
    """A regular polygon with the area of the unit circle: what a disc covers is exact, however few its sides."""
    radius = math.sqrt(2.0 * math.pi / (sides * math.sin(2.0 * math.pi / sides)))
    quarter = [2.0 * math.pi * side / sides for side in range(sides // 4)]
    first = [(radius * math.cos(angle), radius * math.sin(angle)) for angle in quarter]
    second = [(-y, x) for x, y in first]
    return np.array(first + second + [(-x, -y) for x, y in first] + [(-x, -y) for x, y in second])


def _ring(circle: Ellipse, width: float, resolution: float) -> list[Floats]:
    outer, inner = circle.radius_x + width / 2.0, circle.radius_x - width / 2.0
    unit = _circle(_sides(outer, resolution))
    rings = [unit * outer, unit[::-1] * inner] if inner > 0.0 else [unit * outer]
    return [ring + np.array((circle.x, circle.y)) for ring in rings]


def _rounded(box: Rectangle, resolution: float) -> Floats:
    left, top, right, bottom = box.x, box.y, box.x + box.width, box.y + box.height
    radius = min(box.radius, box.width / 2.0, box.height / 2.0)
    if radius == 0.0:
        return np.array([(left, top), (right, top), (right, bottom), (left, bottom)])
    steps = arc_steps(radius, math.pi / 2.0, resolution)
    angles = [math.pi / 2.0 * step / steps for step in range(steps + 1)]
    arc = radius * np.array([(math.cos(angle), math.sin(angle)) for angle in angles])
    left, top, right, bottom = left + radius, top + radius, right - radius, bottom - radius
    return np.concatenate(
        (
            arc + np.array((right, bottom)),
            arc[:, ::-1] * (-1.0, 1.0) + (left, bottom),
            (left, top) - arc,
            arc[:, ::-1] * (1.0, -1.0) + (right, top),
        )
    )
