"""The font: text as outlines. The same letters appear in pixels, SVG and window, on every machine."""

import math
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ludus.rendering.drawing import ANCHORS, DrawnText
from ludus.rendering.frame import Floats
from ludus.rendering.glyphs import DIGIT_WIDTH, GLYPHS, MISSING, SNUG_LEFT, SNUG_RIGHT, SPACES
from ludus.rendering.matrix import Matrix
from ludus.rendering.outline import Outline, join_contours
from ludus.rendering.stroke import stroke

__all__ = [
    "CAP_HEIGHT",
    "LINE_HEIGHT",
    "Glyph",
    "glyph",
    "placed_characters",
    "text_outline",
    "text_place",
    "text_width",
]

EM = 22.0
"""Units of the glyphs to a text of size 1."""
PENS = {False: 1.9, True: 3.1}
"""The pen's width, plain and bold."""
BEARING, SNUG = 1.5, 0.8
"""What is left free on each side of a glyph, upright or round."""
CAP_HEIGHT = (14.0 + PENS[False]) / EM
"""The height of capitals and digits in a text of size 1."""
LINE_HEIGHT = 1.3
"""From line to line, in sizes."""
STEP = math.radians(12.0)
MAX_REMEMBERED_CHARS = 64
"""Texts up to this length are remembered; longer ones rarely come back as they were."""
ROUND = 64.0
"""The resolution at which the pen's round ends are smooth: pixels per em, beyond most texts."""


class Glyph(NamedTuple):
    """The contours of one character, in units with y up, and how far the next one is."""

    contours: tuple[Floats, ...]
    advance: float


class Stroke(NamedTuple):
    """One pass of the pen."""

    points: Floats
    closed: bool
    filled: bool


def text_width(text: str, size: float = 16.0, *, bold: bool = False) -> float:
    """How wide a text will be; of several lines, the widest.

    >>> text_width("00", size=32) == 2 * text_width("0", size=32)
    True
    """
    return max(_advance(line, bold) for line in text.split("\n")) * size / EM


def _advance(line: str, bold: bool) -> float:
    return sum(glyph(character, bold).advance for character in line)


def text_outline(text: DrawnText) -> tuple[Outline, Matrix]:
    """The outline of a text, and the map from it to the text's place."""
    place, across = text_place(text)
    lay = _remembered_layout if len(text.text) <= MAX_REMEMBERED_CHARS else layout
    return lay(text.text, text.bold, across), place


def text_place(text: DrawnText) -> tuple[Matrix, float]:
    """The map from the glyphs' units to a text's place, and the part of each line that lies left of it."""
    across, down = ANCHORS[text.anchor]
    height = CAP_HEIGHT + LINE_HEIGHT * text.text.count("\n")
    unit, baseline = text.size / EM, text.y + text.size * (CAP_HEIGHT - down * height)
    return Matrix(unit, 0.0, 0.0, -unit, text.x, baseline), across


def layout(text: str, bold: bool, across: float) -> Outline:
    """The outline of a text in units: the first baseline at 0, lines shifted to the left by `across` of their width."""
    return join_contours(
        [
            contour + np.array((x, y))
            for character, x, y in placed_characters(text, bold, across)
            for contour in glyph(character, bold).contours
        ]
    )


_remembered_layout = lru_cache(maxsize=512)(layout)


def placed_characters(text: str, bold: bool, across: float) -> Iterator[tuple[str, float, float]]:
    """Each character of a text, and where its glyph stands, in units."""
    for number, line in enumerate(text.split("\n")):
        x, y = -across * _advance(line, bold), -number * LINE_HEIGHT * EM
        for character in line:
            yield character, x, y
            x += glyph(character, bold).advance


@lru_cache(maxsize=512)
def glyph(character: str, bold: bool) -> Glyph:
    """One character, drawn with the pen."""
    pen = PENS[bold]
    if character in SPACES:
        return Glyph((), SPACES[character])
    strokes = list(_strokes(GLYPHS.get(character, MISSING), pen))
    low = min(float(one.points[:, 0].min()) for one in strokes)
    width = max(float(one.points[:, 0].max()) for one in strokes) - low
    if character.isdecimal():
        low, width = low + (width - DIGIT_WIDTH) / 2.0, DIGIT_WIDTH
    left = SNUG if character in SNUG_LEFT else BEARING
    right = SNUG if character in SNUG_RIGHT else BEARING
    if character.isdecimal():
        left, right = BEARING, SNUG
    # The pen's edge, not its middle, stands on the baseline and at the side bearing.
    shift = (left + pen / 2.0 - low, pen / 2.0)
    contours = [contour + shift for one in strokes for contour in _inked(one, pen)]
    return Glyph(tuple(contours), left + width + pen + right)


def _inked(one: Stroke, pen: float) -> list[Floats]:
    if one.filled:
        return [one.points if _area(one.points) < 0.0 else one.points[::-1]]
    return stroke(one.points, pen, closed=one.closed, cap="round", join="round", resolution=ROUND / EM)


def _area(points: Floats) -> float:
    """Twice the signed area; outlines of strokes have a negative one, and fills must agree with them to unite."""
    following = np.roll(points, -1, axis=0)
    return float(np.sum(points[:, 0] * following[:, 1] - points[:, 1] * following[:, 0]))


def _strokes(path: str, pen: float) -> Iterator[Stroke]:
    """The passes of the pen that a glyph's path describes."""
    points: list[tuple[float, float]] = []
    filled = False
    for command, numbers in _commands(path):
        if command in "MDZF":
            if points:
                yield Stroke(np.array(points), command == "Z", filled)
            points, filled = [], command == "F" or (filled and command == "M")
        if command == "D":
            yield Stroke(np.array(_arc([*numbers, pen * 0.62, pen * 0.62, 0.0, 360.0])), True, True)
        elif command in "ML":
            points.append((numbers[0], numbers[1]))
        elif command == "C":
            points += _cubic(points[-1], numbers)
        elif command == "A":
            points += _arc(numbers)
    if points:
        yield Stroke(np.array(points), False, False)


def _commands(path: str) -> Iterator[tuple[str, list[float]]]:
    for command, numbers in re.findall(r"([A-Z])([^A-Z]*)", path):
        yield command, [float(number) for number in numbers.split()]


def _arc(numbers: list[float]) -> list[tuple[float, float]]:
    x, y, across, up, start, stop = numbers
    first, sweep = math.radians(start), math.radians(stop - start)
    steps = max(2, math.ceil(abs(sweep) / STEP))
    angles = [first + sweep * step / steps for step in range(steps + 1)]
    return [(x + across * math.cos(angle), y + up * math.sin(angle)) for angle in angles]


def _cubic(start: tuple[float, float], numbers: list[float]) -> list[tuple[float, float]]:
    (x0, y0), (x1, y1, x2, y2, x3, y3) = start, numbers
    found: list[tuple[float, float]] = []
    for step in range(1, 13):
        t, u = step / 12.0, 1.0 - step / 12.0
        weights = u * u * u, 3.0 * u * u * t, 3.0 * u * t * t, t * t * t
        x = weights[0] * x0 + weights[1] * x1 + weights[2] * x2 + weights[3] * x3
        y = weights[0] * y0 + weights[1] * y1 + weights[2] * y2 + weights[3] * y3
        found.append((x, y))
    return found
