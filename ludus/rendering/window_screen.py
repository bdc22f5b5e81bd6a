"""`WindowScreen`: play in a window."""

import time
from collections.abc import Sequence
from types import TracebackType
from typing import Self

import numpy as np

from ludus.errors import RenderError
from ludus.rendering.canvas import Canvas
from ludus.rendering.drawing import Drawing
from ludus.rendering.font import text_width
from ludus.rendering.frame import Frame, as_frame
from ludus.rendering.pixels import to_pixels
from ludus.rendering.screen import Picture
from ludus.rendering.window import Window

__all__ = ["WindowScreen"]

MIN_WIDTH_PX = 480
"""Pixels: smaller pictures are enlarged by a whole factor."""
TEXT, LINE, MARGIN = 15.0, 22, 10
EVENT_WAIT_S = 0.01


class WindowScreen:
    """A window with the picture on top and the lines of text below it.

    >>> WindowScreen("CartPole-v1").gone
    False
    """

    def __init__(self, title: str = "Ludus") -> None:
        self._window = Window(title)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._window.close()

    @property
    def gone(self) -> bool:
        """Whether the player closed the window."""
        return self._window.dismissed

    def show(self, picture: Picture, lines: Sequence[str]) -> None:
        """Show the picture, with the lines in a bar below."""
        if isinstance(picture, str):
            raise RenderError("window: expected a picture, got text; this environment can be played in the terminal")
        frame = _enlarged(picture)
        self._window.show(np.concatenate((frame, _bar(lines, frame.shape[1]))))

    def keys(self, timeout: float | None) -> list[str]:
        """The keys pressed since the last call."""
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            found = self._window.keys()
            left = EVENT_WAIT_S if end is None else end - time.monotonic()
            if found or left <= 0.0 or self.gone:
                return found
            time.sleep(min(EVENT_WAIT_S, left))

    def held(self) -> frozenset[str]:
        """The keys that are down."""
        return self._window.held()


def _enlarged(picture: Drawing | Frame) -> Frame:
    width = picture.width if isinstance(picture, Drawing) else picture.shape[1]
    factor = max(1, -(-MIN_WIDTH_PX // width)) if width < MIN_WIDTH_PX else 1
    if isinstance(picture, Drawing):
        return to_pixels(picture, factor)
    return as_frame(picture).repeat(factor, axis=0).repeat(factor, axis=1)


def _bar(lines: Sequence[str], width: int) -> Frame:
    wrapped = [part for line in lines for part in _wrapped(line, width - 2 * MARGIN)]
    bar = Canvas(width, 2 * MARGIN + LINE * max(1, len(wrapped)) - 8, background="#212529")
    for number, line in enumerate(wrapped):
        bar.text(MARGIN, MARGIN + LINE * number, line, size=TEXT, color="#f1f3f5", bold=number == 0)
    return bar.to_rgb()


def _wrapped(line: str, width: float) -> list[str]:
    """The line broken between its entries, which stand three blanks apart."""
    found: list[str] = []
    for entry in line.split("   "):
        longer = f"{found[-1]}   {entry}" if found else entry
        if found and text_width(longer, TEXT, bold=True) <= width:
            found[-1] = longer
        else:
            found.append(entry)
    return found
