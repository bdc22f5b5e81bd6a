"""Strokes: a line of some width is a shape; here are its contours.

A contour runs along the left side and back along the right one. Corners get one point on the inside where there is room
for it, so the two sides of a line never cover a pixel twice.
"""

import math
from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from ludus.rendering.drawing import Cap, Join
from ludus.rendering.frame import Floats

__all__ = ["arc_steps", "stroke"]

TOLERANCE_PX = 0.03
"""How far, in pixels, straight pieces may stray from the curve that they stand for."""
MITER_LIMIT = 4.0
GENTLE = 0.95
"""The cosine of the turn up to which a pointed corner cannot be told from a round one."""


def arc_steps(radius: float, sweep: float, resolution: float) -> int:
    """How many straight pieces make an arc of `sweep` radians look round at `resolution` pixels per unit."""
    sagitta = min(TOLERANCE_PX / max(radius * resolution, TOLERANCE_PX), 1.0)
    return max(1, math.ceil(abs(sweep) / (2.0 * math.acos(1.0 - sagitta)) - 1e-9))


def stroke(
    points: Floats, width: float, *, closed: bool, cap: Cap = "butt", join: Join = "miter", resolution: float = 1.0
) -> list[Floats]:
    """The contours of a line through `points`, all of one orientation, so that lines of one drawing unite.

    >>> stroke(np.array([[0.0, 0.0], [4.0, 0.0]]), 2.0, closed=False)[0].tolist()
    [[0.0, 1.0], [4.0, 1.0], [4.0, -1.0], [0.0, -1.0]]
    """
    points = _distinct(points, closed)
    half = width / 2.0
    if len(points) == 1:
        return _dot(points[0], half, cap, resolution)
    if len(points) == 2:
        closed = False
    line = _Line(points, half, closed, join, resolution)
    left, right = line.side(1.0), line.side(-1.0)
    if closed:
        return [left, right[::-1]]
    return [np.concatenate((left, line.cap(-1, 1.0, cap), right[::-1], line.cap(0, -1.0, cap)))]


def _distinct(points: Floats, closed: bool) -> Floats:
    kept = np.ones(len(points), dtype=bool)
    kept[1:] = np.any(points[1:] != points[:-1], axis=1)
    points = points[kept]
    if closed and len(points) > 1 and np.array_equal(points[0], points[-1]):
        return points[:-1]
    return points


def _dot(point: Floats, half: float, cap: Cap, resolution: float) -> list[Floats]:
    """A line of no length: nothing, a disc or a square, as its caps are."""
    if cap == "butt":
        return []
    if cap == "square":
        return [point + half * np.array([[-1.0, 1.0], [1.0, 1.0], [1.0, -1.0], [-1.0, -1.0]])]
    # Clockwise, as the outlines of lines are.
    return [point + half * _arc(0.0, -2.0 * math.pi, arc_steps(half, 2.0 * math.pi, resolution))[:-1]]


@lru_cache(maxsize=256)
def _arc(start: float, sweep: float, steps: int) -> Floats:
    angles = [start + sweep * step / steps for step in range(steps + 1)]
    return np.array([(math.cos(angle), math.sin(angle)) for angle in angles])


class _Line:
    """Directions, normals and corners of one line, worked out once for both sides."""

    def __init__(self, points: Floats, half: float, closed: bool, join: Join, resolution: float) -> None:
        self.points, self.half, self.closed, self.join, self.resolution = points, half, closed, join, resolution
        steps = np.diff(points, axis=0, append=points[:1]) if closed else np.diff(points, axis=0)
        self.lengths = np.sqrt(steps[:, 0] * steps[:, 0] + steps[:, 1] * steps[:, 1])
        self.directions = steps / self.lengths[:, np.newaxis]
        self.normals = self.directions[:, ::-1] * (-1.0, 1.0)

    def side(self, sign: float) -> Floats:
        """The points along one side: left for 1, right for -1."""
        before, after = self._around()
        first, second = self.normals[before], self.normals[after]
        cosine = first[:, 0] * second[:, 0] + first[:, 1] * second[:, 1]
        turn = (first[:, 0] * second[:, 1] - first[:, 1] * second[:, 0]) * sign
        corners = self.points if self.closed else self.points[1:-1]
        # The corner of the two shifted lines lies at the sum of the normals over (1 + cosine).
        bent = np.maximum(1.0 + cosine, 1e-12)
        mitered = corners + (first + second) * (sign * self.half / bent)[:, np.newaxis]
        # Each end of a segment may use half of it: else the inner side of a thick, small polygon turns inside out.
        room = 0.5 * np.minimum(self.lengths[before], self.lengths[after])
        fits = self.half * np.sqrt(np.maximum(1.0 - cosine, 0.0) / bent) <= room
        inside = (turn > 0.0) | ((turn == 0.0) & (sign < 0.0))
        pointed = (cosine > GENTLE) | ((self.join == "miter") & (bent >= 2.0 / MITER_LIMIT**2))
        simple = np.where(inside, fits, pointed)
        inner = mitered if simple.all() else self._bent(sign, corners, mitered, simple, inside)
        if self.closed:
            return inner
        shift = sign * self.half
        return np.concatenate(
            (self.points[:1] + shift * self.normals[:1], inner, self.points[-1:] + shift * self.normals[-1:])
        )

    def _around(self) -> tuple[slice | np.ndarray, slice | np.ndarray]:
        """The segments before and after each corner."""
        if self.closed:
            return np.arange(-1, len(self.points) - 1), np.arange(len(self.points))
        return slice(0, -1), slice(1, None)

    def _bent(self, sign: float, corners: Floats, mitered: Floats, simple: np.ndarray, inside: np.ndarray) -> Floats:
        """As `mitered`, with sharp corners rounded or cut, and tight inner ones led through the corner itself."""
        before, after = self._around()
        found: list[Floats] = []
        for place, (first, second) in enumerate(zip(self.normals[before], self.normals[after], strict=True)):
            if simple[place]:
                found.append(mitered[place : place + 1])
                continue
            shift = sign * self.half
            ends = corners[place] + shift * first, corners[place] + shift * second
            if inside[place]:
                found.append(np.array([ends[0], corners[place], ends[1]]))
            elif self.join == "round":
                found.append(corners[place] + np.array(list(self._fan(shift * first, shift * second, -sign))))
            else:
                found.append(np.array(ends))
        return np.concatenate(found)

    def _fan(self, start: Floats, end: Floats, way: float) -> Iterator[tuple[float, float]]:
        """Points around a corner from `start` to `end`, turning left for `way` 1 and right for -1."""
        angle = math.atan2(start[1], start[0])
        sweep = way * ((way * (math.atan2(end[1], end[0]) - angle)) % (2.0 * math.pi))
        steps = arc_steps(self.half, sweep, self.resolution)
        for step in range(steps + 1):
            at = angle + sweep * step / steps
            yield self.half * math.cos(at), self.half * math.sin(at)

    def cap(self, place: int, way: float, cap: Cap) -> Floats:
        """The points between the two sides at the first (0, way -1) or last (-1, way 1) point, without the ends."""
        point, ahead, aside = self.points[place], self.directions[place] * way, self.normals[place] * way
        if cap == "butt":
            return np.empty((0, 2))
        if cap == "square":
            return point + self.half * np.array([ahead + aside, ahead - aside])
        return point + np.array(list(self._fan(self.half * aside, -self.half * aside, -1.0))[1:-1]).reshape(-1, 2)
