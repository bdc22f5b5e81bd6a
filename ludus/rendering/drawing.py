"""`Drawing`: a size, a background and a list of marks; what every output reads and a canvas writes."""

from ludus.rendering.color import RGBA
from ludus.rendering.mark import Mark

__all__ = ["Drawing"]


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
