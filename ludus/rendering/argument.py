"""Arguments of drawing calls, checked: numbers, points, sizes and paints; each message begins with where it was."""

import math
from collections.abc import Iterable
from operator import index
from typing import SupportsFloat, SupportsIndex, TypeVar, get_args

import numpy as np

from ludus.errors import InvalidArgument, listing, shorten
from ludus.rendering.color import RGBA, parse_color
from ludus.rendering.drawing import Cap, Join, Paint
from ludus.rendering.frame import Floats, Frame

__all__ = [
    "as_image",
    "as_length",
    "as_number",
    "as_pair",
    "as_paint",
    "as_pen",
    "as_point",
    "as_points",
    "as_size",
    "one_of",
]

KnownT = TypeVar("KnownT")
Real = SupportsFloat | SupportsIndex
"""What `float` takes for a number: of Python, of NumPy, or of one's own."""
FAR = 1e9
"""No coordinate may be further from 0: beyond, floats have no room left for parts of a pixel."""
MAX_SIDE_PIXELS = 1 << 14


def as_number(where: str, value: Real) -> float:
    """A finite number.

    >>> as_number("radius", np.float32(0.5))
    0.5
    """
    try:
        # What counts has one value: text that looks like a number is a mistake, and so is an array.
        number = math.nan if isinstance(value, str | bytes) or getattr(value, "ndim", 0) else float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not -FAR <= number <= FAR:
        raise InvalidArgument(f"{where}: expected a finite number, at most {FAR:g} in size, got {shorten(value)}")
    return number


def as_size(where: str, value: Real) -> float:
    """A number that is not negative."""
    number = as_number(where, value)
    if number < 0.0:
        raise InvalidArgument(f"{where}: expected a number of at least 0, got {shorten(value)}")
    return number


def as_length(where: str, value: SupportsIndex) -> int:
    """A number of pixels that a picture can have on one side."""
    try:
        length = index(value)
    except TypeError:
        length = 0
    if not 1 <= length <= MAX_SIDE_PIXELS:
        raise InvalidArgument(f"{where}: expected a whole number from 1 to {MAX_SIDE_PIXELS}, got {shorten(value)}")
    return length


def as_point(where: str, x: Real, y: Real) -> tuple[float, float]:
    """Two coordinates."""
    return as_number(f"{where} x", x), as_number(f"{where} y", y)


def as_pair(where: str, value: Iterable[Real]) -> tuple[float, float]:
    """Two numbers given as one argument."""
    try:
        first, second = value
    except (TypeError, ValueError) as error:
        raise InvalidArgument(f"{where}: expected two numbers (x, y), got {shorten(value)}") from error
    return as_number(where, first), as_number(where, second)


def as_points(where: str, value: object, least: int) -> tuple[tuple[float, float], ...]:
    """At least so many points, as an array or a sequence of pairs."""
    try:
        array: Floats = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.empty((0, 2))
    if array.ndim != 2 or array.shape[1] != 2 or len(array) < least:
        raise InvalidArgument(f"{where}: expected at least {least} points (x, y), got {shorten(value)}")
    near = np.all(np.abs(array) <= FAR, axis=1)
    if not near.all():
        wrong = int(np.argmin(near))
        raise InvalidArgument(f"{where}: expected finite numbers, got {array[wrong].tolist()} as point {wrong}")
    pairs: list[list[float]] = array.tolist()
    return tuple((x, y) for x, y in pairs)


def one_of(where: str, value: KnownT, known: tuple[KnownT, ...]) -> KnownT:
    """`value` if it is one of the known ones."""
    if value not in known:
        raise InvalidArgument(f"{where}: expected one of {listing(map(repr, known))}, got {shorten(value)}")
    return value


def as_pen(where: str, color: object, width: Real, cap: Cap, join: Join) -> Paint:
    """The paint of a line."""
    cap, join = one_of(f"{where} cap", cap, get_args(Cap)), one_of(f"{where} join", join, get_args(Join))
    return Paint(None, parse_color(color, f"{where} color"), as_size(f"{where} width", width), cap, join)


def as_paint(where: str, fill: object, stroke: object, width: Real) -> Paint:
    """The paint of a closed shape, which must show something."""
    if fill is None and stroke is None:
        raise InvalidArgument(f"{where}: expected a fill or a stroke color, got neither")
    colors = _optional_color(f"{where} fill", fill), _optional_color(f"{where} stroke", stroke)
    return Paint(*colors, as_size(f"{where} stroke_width", width))


def _optional_color(where: str, color: object) -> RGBA | None:
    return None if color is None else parse_color(color, where)


def as_image(pixels: object) -> Frame:
    """RGB or RGBA bytes."""
    image = np.asarray(pixels)
    if image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] not in (3, 4) or image.size == 0:
        raise InvalidArgument(
            f"image: expected uint8 pixels of shape (height, width, 3 or 4), got {image.dtype} of shape {image.shape}"
        )
    return image
