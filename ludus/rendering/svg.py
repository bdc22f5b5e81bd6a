"""SVG: a drawing as a document for pages and notebooks. Text becomes paths, so it looks the same everywhere."""

from base64 import b64encode
from collections.abc import Iterable, Iterator

import numpy as np

from ludus.rendering.color import RGBA
from ludus.rendering.drawing import Drawing, DrawnText, Ellipse, Mark, Paint, Path, Picture, Rectangle
from ludus.rendering.font import glyph, placed_characters, text_place
from ludus.rendering.frame import Floats, to_png
from ludus.rendering.matrix import IDENTITY, Matrix

__all__ = ["SVG", "to_svg"]

ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\ufffe": "\ufffd", "\uffff": "\ufffd"})


class SVG(str):
    """An SVG document; a string that shows itself as a picture in notebooks.

    >>> SVG("<svg/>")._repr_svg_()
    '<svg/>'
    """

    __slots__ = ()

    def _repr_svg_(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return str(self)


def to_svg(drawing: Drawing) -> SVG:
    """The drawing as an SVG document of the same size.

    >>> to_svg(Drawing(4, 3, RGBA(255, 255, 255)))[:47]
    '<svg xmlns="http://www.w3.org/2000/svg" width="'
    """
    width, height = drawing.width, drawing.height
    head = _tag("svg", xmlns="http://www.w3.org/2000/svg", width=width, height=height, viewBox=f"0 0 {width} {height}")
    ground = _tag("rect", width=width, height=height, fill=_hex(drawing.background), closed=True)
    body = [_element(mark) for mark in drawing.marks]
    return SVG("\n".join([head, *_definitions(drawing.marks), ground, *body, "</svg>"]) + "\n")


def _tag(name: str, *, closed: bool = False, **attributes: object) -> str:
    """A tag with its attributes; those that are None are left out."""
    given = {key.replace("_", "-"): value for key, value in attributes.items() if value is not None}
    text = "".join(f' {key}="{_value(value)}"' for key, value in given.items())
    return f"<{name}{text}{'/' if closed else ''}>"


def _value(value: object) -> str:
    """A number or text as the value of an attribute.

    Escaped by hand, since `xml.sax.saxutils` opens half of the network library.
    """
    if isinstance(value, float):
        return _figure(value)
    return "".join(character if character >= " " else " " for character in str(value)).translate(ESCAPES)


def _figure(number: float, digits: int = 3) -> str:
    """A number in as few characters as it needs; a thousandth of a pixel is more than enough."""
    text = f"{number:.{digits}f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _hex(color: RGBA) -> str:
    return f"#{color.red:02x}{color.green:02x}{color.blue:02x}"


def _opacity(color: RGBA | None) -> float | None:
    return None if color is None or color.alpha == 255 else color.alpha / 255.0


def _matrix(matrix: Matrix) -> str | None:
    if matrix == IDENTITY:
        return None
    return f"matrix({' '.join(_figure(number, 6) for number in matrix)})"


def _element(mark: Mark) -> str:
    shape, matrix = mark.shape, _matrix(mark.matrix)
    if isinstance(shape, DrawnText):
        return _text(shape, mark.paint, mark.matrix)
    if isinstance(shape, Picture):
        return _image(shape, matrix)
    if isinstance(shape, Path):
        name, place = "polygon" if shape.closed else "polyline", {"points": _listed(shape.points)}
    elif isinstance(shape, Rectangle):
        # Of a radius that is too large, SVG alone would make two, one for each side.
        corner = min(shape.radius, shape.width / 2.0, shape.height / 2.0) or None
        name, place = "rect", {"x": shape.x, "y": shape.y, "width": shape.width, "height": shape.height, "rx": corner}
    else:
        name, place = _ellipse(shape)
    return _tag(name, **place, **_style(mark.paint), transform=matrix, closed=True)


def _ellipse(shape: Ellipse) -> tuple[str, dict[str, float]]:
    if shape.radius_x == shape.radius_y:
        return "circle", {"cx": shape.x, "cy": shape.y, "r": shape.radius_x}
    return "ellipse", {"cx": shape.x, "cy": shape.y, "rx": shape.radius_x, "ry": shape.radius_y}


def _listed(points: Iterable[tuple[float, float]]) -> str:
    return " ".join(f"{_figure(x)},{_figure(y)}" for x, y in points)


def _style(paint: Paint) -> dict[str, object]:
    """Fill and stroke as attributes; what is SVG's default is left out."""
    fill, stroke = paint.fill, paint.stroke
    style: dict[str, object] = {
        "fill": "none" if fill is None else _hex(fill),
        "fill_opacity": _opacity(fill),
        "fill_rule": None if paint.rule == "nonzero" or fill is None else paint.rule,
    }
    if stroke is None:
        return style
    return style | {
        "stroke": _hex(stroke),
        "stroke_opacity": _opacity(stroke),
        "stroke_width": float(paint.width),
        "stroke_linecap": None if paint.cap == "butt" else paint.cap,
        "stroke_linejoin": None if paint.join == "miter" else paint.join,
    }


def _image(picture: Picture, matrix: str | None) -> str:
    pixels = np.frombuffer(picture.data, dtype=np.uint8).reshape(picture.rows, picture.columns, picture.channels)
    return _tag(
        "image",
        x=picture.x,
        y=picture.y,
        width=picture.width,
        height=picture.height,
        preserveAspectRatio="none",
        style=None if picture.smooth else "image-rendering:pixelated",
        transform=matrix,
        href=f"data:image/png;base64,{b64encode(to_png(pixels)).decode()}",
        closed=True,
    )


def _definitions(marks: list[Mark]) -> Iterator[str]:
    """Each glyph that occurs, once; the ids are the same in every document, and so is what they stand for."""
    texts = [mark.shape for mark in marks if isinstance(mark.shape, DrawnText)]
    used = {(character, text.bold): None for text in texts for character in text.text if character != "\n"}
    shapes = [(_glyph_id(character, bold), glyph(character, bold).contours) for character, bold in used]
    if shapes:
        paths = [_tag("path", id=name, d=_outlined(contours), closed=True) for name, contours in shapes if contours]
        yield "\n".join(["<defs>", *paths, "</defs>"])


def _glyph_id(character: str, bold: bool) -> str:
    return f"ludus-{'bold' if bold else 'plain'}-{ord(character):x}"


def _outlined(contours: Iterable[Floats]) -> str:
    parts = ("L".join(f"{_figure(x, 2)} {_figure(y, 2)}" for x, y in contour.tolist()) for contour in contours)
    return "".join(f"M{part}Z" for part in parts)


def _text(text: DrawnText, paint: Paint, matrix: Matrix) -> str:
    place, across = text_place(text)
    head = _tag(
        "g", role="img", aria_label=text.text, transform=_matrix(matrix.after(place)),
        fill=None if paint.fill is None else _hex(paint.fill), fill_opacity=_opacity(paint.fill),
    )  # fmt: skip
    uses = [
        _tag("use", href=f"#{_glyph_id(character, text.bold)}", x=x, y=y or None, closed=True)
        for character, x, y in placed_characters(text.text, text.bold, across)
        if glyph(character, text.bold).contours
    ]
    return "".join([head, *uses, "</g>"])
