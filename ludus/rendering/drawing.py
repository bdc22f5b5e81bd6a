"""`Drawing`: a size, a background and a list of marks, of these kinds; every output reads it, a canvas writes it."""

from typing import Literal, NamedTuple

from ludus.rendering.color import RGBA
from ludus.rendering.matrix import Matrix

__all__ = [
    "ANCHORS",
    "Anchor",
    "Cap",
    "Drawing",
    "Ellipse",
    "Join",
    "Mark",
    "Paint",
    "Path",
    "Picture",
    "Rectangle",
    "Rule",
    "DrawnText",
]

Cap = Literal["butt", "round", "square"]
Join = Literal["miter", "round"]
Rule = Literal["nonzero", "evenodd"]
Anchor = Literal[
    "top left", "top", "top right", "left", "center", "right", "bottom left", "bottom", "bottom right"
]  # fmt: skip
ANCHORS: dict[Anchor, tuple[float, float]] = {
    "top left": (0.0, 0.0), "top": (0.5, 0.0), "top right": (1.0, 0.0),
    "left": (0.0, 0.5), "center": (0.5, 0.5), "right": (1.0, 0.5),
    "bottom left": (0.0, 1.0), "bottom": (0.5, 1.0), "bottom right": (1.0, 1.0),
}  # fmt: skip
"""Each anchor as the part of the width and of the height that lies before it."""


class Paint(NamedTuple):
    """How a shape is filled and its line drawn; None for not at all."""

    fill: RGBA | None = None
    stroke: RGBA | None = None
    width: float = 1.0
    cap: Cap = "butt"
    join: Join = "miter"
    rule: Rule = "nonzero"


class Path(NamedTuple):
    """Corners joined by straight lines, from the last back to the first if `closed`."""

    points: tuple[tuple[float, float], ...]
    closed: bool


class Ellipse(NamedTuple):
    """A centre and two radii; a circle when they are equal."""

    x: float
    y: float
    radius_x: float
    radius_y: float


class Rectangle(NamedTuple):
    """The top left corner, the size, and the radius of the corners."""

    x: float
    y: float
    width: float
    height: float
    radius: float = 0.0


class Picture(NamedTuple):
    """An image of `rows` × `columns` pixels of `channels` bytes, shown in a rectangle."""

    x: float
    y: float
    width: float
    height: float
    rows: int
    columns: int
    channels: int
    data: bytes
    smooth: bool


class DrawnText(NamedTuple):
    """One or more lines of text, `size` being the height of a line of the font."""

    x: float
    y: float
    text: str
    size: float
    anchor: Anchor
    bold: bool


class Mark(NamedTuple):
    """One drawing call: what, in which colours, through which map."""

    shape: Path | Ellipse | Rectangle | Picture | DrawnText
    paint: Paint
    matrix: Matrix


class Drawing:
    """What was drawn, before it becomes pixels, SVG or characters.

    >>> Drawing(4, 3, RGBA(255, 255, 255)).marks
    []
    """

    def __init__(self, width: int, height: int, background: RGBA) -> None:
        self.width = width
        self.height = height
        self.background = background
        self.marks: list[Mark] = []

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Drawing) and _content(self) == _content(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.width}×{self.height}, {len(self.marks)} marks>"


def _content(drawing: Drawing) -> tuple[int, int, RGBA, list[Mark]]:
    return drawing.width, drawing.height, drawing.background, drawing.marks
