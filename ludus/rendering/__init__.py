"""One drawing, four outputs: an environment draws on a canvas, and pixels, SVG, terminal and window follow from it.

Not here: wrappers that record or show pictures, which are in `ludus.wrappers`.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from ludus.rendering.canvas import Canvas
from ludus.rendering.choices import Choice, choice
from ludus.rendering.color import Color
from ludus.rendering.drawn import Drawn
from ludus.rendering.frame import Frame, grid
from ludus.rendering.resize import resize

if TYPE_CHECKING:
    from ludus.rendering.font import text_width
    from ludus.rendering.frame import from_png, to_png
    from ludus.rendering.key_map import KeyMap
    from ludus.rendering.pixels import to_pixels
    from ludus.rendering.player import play
    from ludus.rendering.svg import SVG
    from ludus.rendering.terminal import frame_to_ansi
    from ludus.rendering.terminal_screen import TerminalScreen
    from ludus.rendering.video import VideoWriter, write_video
    from ludus.rendering.window import Window
    from ludus.rendering.window_screen import WindowScreen

# Loaded when used: a batch of environments that could draw, and does not, needs none of them.
_HOME = {
    "KeyMap": "key_map",
    "SVG": "svg",
    "TerminalScreen": "terminal_screen",
    "VideoWriter": "video",
    "Window": "window",
    "WindowScreen": "window_screen",
    "frame_to_ansi": "terminal",
    "from_png": "frame",
    "play": "player",
    "text_width": "font",
    "to_pixels": "pixels",
    "to_png": "frame",
    "write_video": "video",
}

__all__ = [
    "Canvas",
    "Choice",
    "Color",
    "Drawn",
    "Frame",
    "KeyMap",
    "SVG",
    "TerminalScreen",
    "VideoWriter",
    "Window",
    "WindowScreen",
    "choice",
    "frame_to_ansi",
    "from_png",
    "grid",
    "play",
    "resize",
    "text_width",
    "to_pixels",
    "to_png",
    "write_video",
]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
