"""One drawing, four outputs: an environment draws on a canvas, and pixels, SVG, terminal and window follow from it.

Not here: wrappers that record or show pictures, which are in `ludus.wrappers`.
"""

from ludus.rendering.canvas import Canvas
from ludus.rendering.color import Color
from ludus.rendering.drawn import Drawn
from ludus.rendering.font import text_width
from ludus.rendering.frame import Frame
from ludus.rendering.grid import grid
from ludus.rendering.key_map import KeyMap
from ludus.rendering.pixels import to_pixels
from ludus.rendering.play import play
from ludus.rendering.png import to_png
from ludus.rendering.resize import resize
from ludus.rendering.svg import SVG
from ludus.rendering.terminal import frame_to_ansi
from ludus.rendering.terminal_screen import TerminalScreen
from ludus.rendering.video import VideoWriter, write_video
from ludus.rendering.window import Window
from ludus.rendering.window_screen import WindowScreen

__all__ = [
    "Canvas",
    "Color",
    "Drawn",
    "Frame",
    "KeyMap",
    "SVG",
    "TerminalScreen",
    "VideoWriter",
    "Window",
    "WindowScreen",
    "frame_to_ansi",
    "grid",
    "play",
    "resize",
    "text_width",
    "to_pixels",
    "to_png",
    "write_video",
]
