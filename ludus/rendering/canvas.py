"""`Canvas`: where an environment draws. It remembers the calls; each output reads them in its own way."""

import math
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, get_args

import numpy as np
from numpy.typing import ArrayLike

from ludus.errors import InvalidArgument, InvalidType, shorten
from ludus.rendering.argument import (
    as_image,
    as_length,
    as_number,
    as_paint,
    as_pair,
    as_pen,
    as_point,
    as_points,
    as_size,
    one_of,
)
from ludus.rendering.color import Color, parse_color
from ludus.rendering.drawing import (
    ANCHORS,
    Anchor,
    Cap,
    Drawing,
    DrawnText,
    Ellipse,
    Join,
    Mark,
    Paint,
    Path,
    Picture,
    Rectangle,
    Rule,
)
from ludus.rendering.frame import Frame, to_png
from ludus.rendering.matrix import IDENTITY, Matrix

if TYPE_CHECKING:
    from ludus.rendering.svg import SVG
    from ludus.rendering.terminal import Colors

__all__ = ["Canvas"]


class Canvas(Drawing):
    """A drawing of `width` × `height` units, one pixel each at scale 1; x points right, y points down.

    Colours are `(r, g, b)`, `(r, g, b, a)`, `"#rrggbb"` or a name. A closed shape has a `fill`, a `stroke` or both; a
    line has a `color` and a `width`. What lies outside is cut off.

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
            raise InvalidArgument(f"background: expected an opaque color, got {shorten(background)}; leave alpha out")
        super().__init__(as_length("Canvas width", width), as_length("Canvas height", height), color)
        self._matrix = IDENTITY

    # --- lines ---

    def line(
        self, x1: float, y1: float, x2: float, y2: float, *,
        color: Color = "black", width: float = 1.0, cap: Cap = "butt",
    ) -> None:  # fmt: skip
        """A straight line; `cap` says whether it ends at its last point ("butt") or half a width later."""
        ends = as_point("line", x1, y1), as_point("line", x2, y2)
        self._add(Path(ends, False), as_pen("line", color, width, cap, "round"))

    def polyline(
        self, points: ArrayLike, *, color: Color = "black", width: float = 1.0, cap: Cap = "butt", join: Join = "round"
    ) -> None:
        """Lines from point to point, (n, 2) numbers."""
        self._add(Path(as_points("polyline", points, 2), False), as_pen("polyline", color, width, cap, join))

    def arc(
        self, x: float, y: float, radius: float, start: float, stop: float, *,
        color: Color = "black", width: float = 1.0, cap: Cap = "butt",
    ) -> None:  # fmt: skip
        """A part of a circle, from the angle `start` to `stop` in radians: 0 points right, π/2 points down."""
        (x, y), radius = as_point("arc", x, y), as_size("arc radius", radius)
        first, last = as_number("arc start", start), as_number("arc stop", stop)
        sweep = max(-2.0 * math.pi, min(2.0 * math.pi, last - first))
        # Enough for any scale that a picture is drawn at; the exact resolution is known only later.
        steps = max(2, math.ceil(abs(sweep) * math.sqrt(min(radius, 1e4) + 1.0) * 6.0))
        angles = [first + sweep * step / steps for step in range(steps + 1)]
        points = tuple((x + radius * math.cos(angle), y + radius * math.sin(angle)) for angle in angles)
        self._add(Path(points, False), as_pen("arc", color, width, cap, "round"))

    # --- closed shapes ---

    def polygon(
        self, points: ArrayLike, *, fill: Color | None = None, stroke: Color | None = None, stroke_width: float = 1.0,
        join: Join = "miter", rule: Rule = "nonzero",
    ) -> None:  # fmt: skip
        """A shape with these corners, (n, 2) numbers; `rule` says what is inside where its sides cross."""
        join, rule = one_of("polygon join", join, get_args(Join)), one_of("polygon rule", rule, get_args(Rule))
        paint = as_paint("polygon", fill, stroke, stroke_width)._replace(join=join, rule=rule)
        self._add(Path(as_points("polygon", points, 3), True), paint)

    def circle(
        self, x: float, y: float, radius: float, *,
        fill: Color | None = None, stroke: Color | None = None, stroke_width: float = 1.0,
    ) -> None:  # fmt: skip
        """A circle around (x, y)."""
        (x, y), radius = as_point("circle", x, y), as_size("circle radius", radius)
        self._add(Ellipse(x, y, radius, radius), as_paint("circle", fill, stroke, stroke_width))

    def ellipse(
        self, x: float, y: float, radius_x: float, radius_y: float, *,
        fill: Color | None = None, stroke: Color | None = None, stroke_width: float = 1.0,
    ) -> None:  # fmt: skip
        """An ellipse around (x, y) with upright axes."""
        radii = as_size("ellipse radius_x", radius_x), as_size("ellipse radius_y", radius_y)
        self._add(Ellipse(*as_point("ellipse", x, y), *radii), as_paint("ellipse", fill, stroke, stroke_width))

    def rectangle(
        self, x: float, y: float, width: float, height: float, *, radius: float = 0.0,
        fill: Color | None = None, stroke: Color | None = None, stroke_width: float = 1.0,
    ) -> None:  # fmt: skip
        """A rectangle whose top left corner is (x, y), with corners rounded by `radius`."""
        sides = as_size("rectangle width", width), as_size("rectangle height", height)
        box = Rectangle(*as_point("rectangle", x, y), *sides, as_size("rectangle radius", radius))
        self._add(box, as_paint("rectangle", fill, stroke, stroke_width))

    # --- images and text ---

    def image(
        self, x: float, y: float, pixels: object, *,
        width: float | None = None, height: float | None = None, smooth: bool = True,
    ) -> None:  # fmt: skip
        """An RGB or RGBA image of bytes with its top left corner at (x, y).

        With only one of `width` and `height` the other follows; with neither one pixel is one unit. `smooth=False`
        keeps the pixels of pixel art sharp. The image is copied: changing the array later changes no drawing.
        """
        image = as_image(pixels)
        rows, columns, channels = image.shape
        tall = None if height is None else as_size("image height", height)
        wide = float(columns) if tall is None else tall * columns / rows
        if width is not None:
            wide = as_size("image width", width)
        if tall is None:
            tall = wide * rows / columns
        x, y = as_point("image", x, y)
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
        (x, y), size = as_point("text", x, y), as_size("text size", size)
        anchor = one_of("text anchor", anchor, tuple(ANCHORS))
        self._add(DrawnText(x, y, text, size, anchor, bool(bold)), Paint(fill=parse_color(color, "text color")))

    # --- transforms ---

    @contextmanager
    def transform(
        self, *, translate: Sequence[float] = (0.0, 0.0), rotate: float = 0.0, scale: float | Sequence[float] = 1.0
    ) -> Generator[None]:
        """Inside the `with` block shapes are scaled, then turned by `rotate` radians (clockwise), then moved.

        Blocks nest: an inner one acts in the coordinates of the outer one.
        """
        shift = as_pair("translate", translate)
        factors = as_pair("scale", (scale, scale) if isinstance(scale, int | float | np.number) else scale)
        if 0.0 in factors:
            raise InvalidArgument(f"scale: expected factors other than 0, got {shorten(scale)}; draw nothing instead")
        outer = self._matrix
        self._matrix = outer.after(Matrix.of(shift, as_number("rotate", rotate), factors))
        try:
            yield
        finally:
            self._matrix = outer

    def _add(self, shape: Path | Ellipse | Rectangle | Picture | DrawnText, paint: Paint) -> None:
        self.marks.append(Mark(shape, paint, self._matrix))

    # --- outputs ---

    def to_rgb(self, scale: float = 1.0) -> Frame:
        """Anti-aliased pixels, uint8 of shape (height, width, 3); a new array each time."""
        from ludus.rendering.pixels import to_pixels  # fonts and filters are loaded by the first picture

        return to_pixels(self, scale)

    def to_svg(self) -> "SVG":
        """The drawing as an SVG document; a string that notebooks show as a picture."""
        from ludus.rendering.svg import to_svg  # as above

        return to_svg(self)

    def to_ansi(self, columns: int = 80, *, colors: "Colors" = "auto") -> str:
        """The drawing in half blocks for a terminal, `columns` wide; small text stays text."""
        from ludus.rendering.terminal import to_ansi  # as above

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
