"""`Canvas`: where an environment draws. It remembers the calls; each output reads them in its own way."""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from operator import index
from pathlib import Path as FilePath
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike

from ludus.errors import InvalidArgument, InvalidType, listing, shorten
from ludus.rendering.color import RGBA, Color, parse_color
from ludus.rendering.drawing import Drawing
from ludus.rendering.frame import Frame
from ludus.rendering.mark import ANCHORS, Anchor, Cap, Ellipse, Join, Mark, Paint, Path, Picture, Rectangle, Rule, Text
from ludus.rendering.matrix import IDENTITY, Matrix
from ludus.rendering.pixels import to_pixels
from ludus.rendering.png import to_png
from ludus.rendering.svg import SVG, to_svg
from ludus.rendering.terminal import Colors, to_ansi

__all__ = ["Canvas"]

FAR = 1e9
"""No coordinate may be further from 0: beyond, floats have no room left for parts of a pixel."""
LARGEST = 1 << 14


class Canvas(Drawing):
    """A drawing of `width` × `height` units, one pixel each at scale 1; x points right, y points down.

    Colours are `(r, g, b)`, `(r, g, b, a)`, `"#rrggbb"` or a name. A closed shape has a `fill`, a `stroke` or both; a line has
    a `color` and a `width`. What lies outside is cut off.

    >>> canvas = Canvas(60, 40, background="white")
    >>> canvas.rectangle(10, 10, 20, 20, fill="blue")
    >>> with canvas.transform(translate=(45, 20), rotate=math.pi / 4):
    ...     canvas.polygon([(-8, -8), (8, -8), (8, 8), (-8, 8)], fill="#f08c00", stroke="black")
    >>> canvas.text(30, 36, "hello", size=8, anchor="bottom")
    >>> canvas.to_rgb().shape
    (40, 60, 3)
    """

    def __init__(self, width: int, height: int, background: Color = (255, 255, 255)) -> None:
        color = parse_color(background, "background")
        if color.alpha != 255:
            raise InvalidArgument(f"background: expected an opaque color, got alpha {color.alpha} in {shorten(background)}")
        super().__init__(_length(width, "width"), _length(height, "height"), color)
        self._matrix = IDENTITY

    # --- lines ---

    def line(
        self, x1: float, y1: float, x2: float, y2: float, *, color: Color = "black", width: float = 1.0, cap: Cap = "butt"
    ) -> None:
        """A straight line; `cap` says whether it ends at its last point ("butt") or half a width later."""
        start, end = _point("line", x1, y1), _point("line", x2, y2)
        self._add(Path((start, end), False), _pen("line", color, width, cap, "round"))

    def polyline(
        self, points: ArrayLike, *, color: Color = "black", width: float = 1.0, cap: Cap = "butt", join: Join = "round"
    ) -> None:
        """Lines from point to point, (n, 2) numbers."""
        self._add(Path(_points("polyline", points, 2), False), _pen("polyline", color, width, cap, join))

    def arc(
        self, x: float, y: float, radius: float, start: float, stop: float, *,
        color: Color = "black", width: float = 1.0, cap: Cap = "butt",
    ) -> None:  # fmt: skip
        """A part of a circle, from the angle `start` to `stop` in radians: 0 points right, π/2 points down."""
        x, y = _point("arc", x, y)
        radius, first, last = _size("arc radius", radius), _number("arc start", start), _number("arc stop", stop)
        sweep = max(-2.0 * math.pi, min(2.0 * math.pi, last - first))
        # Enough for any scale that a picture is drawn at; the exact resolution is known only later.
        steps = max(2, math.ceil(abs(sweep) * math.sqrt(radius + 1.0) * 6.0))
        angles = [first + sweep * step / steps for step in range(steps + 1)]
        points = tuple((x + radius * math.cos(angle), y + radius * math.sin(angle)) for angle in angles)
        self._add(Path(points, False), _pen("arc", color, width, cap, "round"))

    # --- closed shapes ---

    def polygon(
        self, points: ArrayLike, *, fill: Color | None = None, stroke: Color | None = None, stroke_width: float = 1.0,
        join: Join = "miter", rule: Rule = "nonzero",
    ) -> None:  # fmt: skip
        """A shape with these corners, (n, 2) numbers; `rule` says what is inside where its sides cross."""
        paint = _paint("polygon", fill, stroke, stroke_width)
        paint = paint._replace(join=_one_of("join", join, get_args(Join)), rule=_one_of("rule", rule, get_args(Rule)))
        self._add(Path(_points("polygon", points, 3), True), paint)

    def circle(
        self, x: float, y: float, radius: float, *,
        fill: Color | None = None, stroke: Color | None = None, stroke_width: float = 1.0,
    ) -> None:  # fmt: skip
        """A circle around (x, y)."""
        (x, y), radius = _point("circle", x, y), _size("circle radius", radius)
        self._add(Ellipse(x, y, radius, radius), _paint("circle", fill, stroke, stroke_width))

    def ellipse(
        self, x: float, y: float, radius_x: float, radius_y: float, *,
        fill: Color | None = None, stroke: Color | None = None, stroke_width: float = 1.0,
    ) -> None:  # fmt: skip
        """An ellipse around (x, y) with upright axes."""
        (x, y), across, down = _point("ellipse", x, y), _size("radius_x", radius_x), _size("radius_y", radius_y)
        self._add(Ellipse(x, y, across, down), _paint("ellipse", fill, stroke, stroke_width))

    def rectangle(
        self, x: float, y: float, width: float, height: float, *, radius: float = 0.0,
        fill: Color | None = None, stroke: Color | None = None, stroke_width: float = 1.0,
    ) -> None:  # fmt: skip
        """A rectangle whose top left corner is (x, y), with corners rounded by `radius`."""
        (x, y), wide, tall = _point("rectangle", x, y), _size("rectangle width", width), _size("rectangle height", height)
        box = Rectangle(x, y, wide, tall, _size("rectangle radius", radius))
        self._add(box, _paint("rectangle", fill, stroke, stroke_width))

    # --- images and text ---

    def image(
        self, x: float, y: float, pixels: Any, *,
        width: float | None = None, height: float | None = None, smooth: bool = True,
    ) -> None:  # fmt: skip
        """An RGB or RGBA image of bytes with its top left corner at (x, y).

        With only one of `width` and `height` the other follows; with neither one pixel is one unit. `smooth=False` keeps the
        pixels of pixel art sharp. The image is copied: changing the array later changes no drawing.
        """
        image = _image(pixels)
        rows, columns, channels = image.shape
        wide = None if width is None else _size("image width", width)
        tall = None if height is None else _size("image height", height)
        if wide is None:
            wide = float(columns) if tall is None else tall * columns / rows
        if tall is None:
            tall = wide * rows / columns
        x, y = _point("image", x, y)
        self._add(Picture(x, y, wide, tall, rows, columns, channels, image.tobytes(), bool(smooth)), Paint())

    def text(
        self, x: float, y: float, text: str, *,
        size: float = 16.0, color: Color = "black", anchor: Anchor = "top left", bold: bool = False,
    ) -> None:  # fmt: skip
        """Text, of several lines if it has line breaks, with its `anchor` at (x, y).

        Up and down, anchors refer to capital letters: "top" is their top, "bottom" the baseline, "center" their middle.
        """
        if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidType(f"text: expected a string, got {shorten(text)}; use str() or an f-string")
        (x, y), size = _point("text", x, y), _size("text size", size)
        anchor = _one_of("anchor", anchor, tuple(ANCHORS))
        self._add(Text(x, y, text, size, anchor, bool(bold)), Paint(fill=parse_color(color, "text color")))

    # --- transforms ---

    @contextmanager
    def transform(
        self, *, translate: Sequence[float] = (0.0, 0.0), rotate: float = 0.0, scale: float | Sequence[float] = 1.0
    ) -> Iterator[None]:
        """Inside the `with` block shapes are scaled, then turned by `rotate` radians (clockwise), then moved.

        Blocks nest: an inner one acts in the coordinates of the outer one.
        """
        shift = _pair("translate", translate)
        factors = _pair("scale", (scale, scale) if isinstance(scale, int | float | np.number) else scale)
        if 0.0 in factors:
            raise InvalidArgument(f"scale: expected factors other than 0, got {shorten(scale)}; draw nothing instead")
        outer = self._matrix
        self._matrix = outer.after(Matrix.of(shift, _number("rotate", rotate), factors))
        try:
            yield
        finally:
            self._matrix = outer

    def _add(self, shape: Path | Ellipse | Rectangle | Picture | Text, paint: Paint) -> None:
        self.marks.append(Mark(shape, paint, self._matrix))

    # --- outputs ---

    def to_rgb(self, scale: float = 1.0) -> Frame:
        """Anti-aliased pixels, uint8 of shape (height, width, 3); a new array each time."""
        return to_pixels(self, scale)

    def to_svg(self) -> SVG:
        """The drawing as an SVG document; a string that notebooks show as a picture."""
        return to_svg(self)

    def to_ansi(self, columns: int = 80, *, colors: Colors = "auto") -> str:
        """The drawing in half blocks for a terminal, `columns` wide; small text stays text."""
        return to_ansi(self, columns, colors=colors)

    def save(self, path: str | FilePath, *, scale: float = 1.0) -> None:
        """Write the drawing to a `.png` or `.svg` file."""
        target = FilePath(path)
        if target.suffix.lower() == ".svg":
            target.write_text(self.to_svg(), encoding="utf8")
        elif target.suffix.lower() == ".png":
            target.write_bytes(to_png(self.to_rgb(scale)))
        else:
            raise InvalidArgument(f"save: expected a file name that ends in .png or .svg, got {shorten(str(path))}")

    def _repr_svg_(self) -> str:
        return self.to_svg()

    def _repr_html_(self) -> str:
        return self.to_svg()


# --- checks ---


def _number(where: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not -FAR <= number <= FAR:
        raise InvalidArgument(f"{where}: expected a finite number, at most {FAR:g} in size, got {shorten(value)}")
    return number


def _size(where: str, value: Any) -> float:
    number = _number(where, value)
    if number < 0.0:
        raise InvalidArgument(f"{where}: expected a number of at least 0, got {shorten(value)}")
    return number


def _length(value: Any, where: str) -> int:
    try:
        length = index(value)
    except TypeError:
        length = 0
    if not 1 <= length <= LARGEST:
        raise InvalidArgument(f"Canvas {where}: expected a whole number from 1 to {LARGEST}, got {shorten(value)}")
    return length


def _point(where: str, x: Any, y: Any) -> tuple[float, float]:
    return _number(f"{where} x", x), _number(f"{where} y", y)


def _pair(where: str, value: Any) -> tuple[float, float]:
    try:
        first, second = value
    except (TypeError, ValueError) as error:
        raise InvalidArgument(f"{where}: expected two numbers (x, y), got {shorten(value)}") from error
    return _number(where, first), _number(where, second)


def _points(where: str, points: Any, least: int) -> tuple[tuple[float, float], ...]:
    try:
        array = np.asarray(points, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.empty(0)
    if array.ndim != 2 or array.shape[1] != 2 or len(array) < least:
        raise InvalidArgument(f"{where}: expected at least {least} points (x, y), got {shorten(points)}")
    if not np.all(np.abs(array) <= FAR):
        wrong = int(np.argmin(np.all(np.abs(array) <= FAR, axis=1)))
        raise InvalidArgument(f"{where}: expected finite numbers, got {array[wrong].tolist()} as point {wrong}")
    return tuple(map(tuple, array.tolist()))


def _one_of(where: str, value: Any, known: tuple[Any, ...]) -> Any:
    if value not in known:
        raise InvalidArgument(f"{where}: expected one of {listing(map(repr, known))}, got {shorten(value)}")
    return value


def _pen(where: str, color: Any, width: Any, cap: Any, join: Any) -> Paint:
    ends, corners = _one_of("cap", cap, get_args(Cap)), _one_of("join", join, get_args(Join))
    return Paint(None, parse_color(color, f"{where} color"), _size(f"{where} width", width), ends, corners)


def _paint(where: str, fill: Any, stroke: Any, width: Any) -> Paint:
    if fill is None and stroke is None:
        raise InvalidArgument(f"{where}: expected a fill or a stroke color, got neither")
    return Paint(_optional(f"{where} fill", fill), _optional(f"{where} stroke", stroke), _size(f"{where} stroke_width", width))


def _optional(where: str, color: Any) -> RGBA | None:
    return None if color is None else parse_color(color, where)


def _image(pixels: Any) -> Frame:
    image = np.asarray(pixels)
    if image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] not in (3, 4) or image.size == 0:
        raise InvalidArgument(
            f"image: expected uint8 pixels of shape (height, width, 3 or 4), got {image.dtype} of shape {image.shape}"
        )
    return image
