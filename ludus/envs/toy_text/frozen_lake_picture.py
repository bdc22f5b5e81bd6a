"""The picture of FrozenLake: ice, holes, a penguin on its way to the flag."""

import numpy as np
from numpy.typing import NDArray

from ludus.envs.toy_text.figures import draw_flag, draw_penguin
from ludus.rendering import Canvas

__all__ = ["frozen_lake_picture"]

CELL, LARGEST = 64, 768
ICE, SEAM, SHINE, WATER, DEEP, RIM = "#d6e8f6", "#b5d0e6", "#eaf4fb", "#4f86bd", "#3a6a9c", "#f4f9fd"
LETTER = "#7795b3"


def frozen_lake_picture(desc: NDArray[np.bytes_], row: int, column: int) -> Canvas:
    """The map `desc`, one byte a tile, and who walks on it; in a hole only ripples are left."""
    rows, columns = desc.shape
    cell = min(CELL, LARGEST // max(rows, columns))
    canvas = Canvas(columns * cell, rows * cell, background=ICE)
    for place in range(rows * columns):
        down, right = divmod(place, columns)
        with canvas.transform(translate=((right + 0.5) * cell, (down + 0.5) * cell), scale=cell / CELL):
            _draw_tile(canvas, desc[down, right].decode(), (right * 3 + down * 5) % 7)
    with canvas.transform(translate=((column + 0.5) * cell, (row + 0.5) * cell), scale=cell / CELL):
        if desc[row, column] == b"H":
            canvas.ellipse(0, 4, 9, 4, stroke=RIM, stroke_width=2)
        else:
            draw_penguin(canvas)
    return canvas


def _draw_tile(canvas: Canvas, letter: str, texture: int) -> None:
    canvas.rectangle(-32, -32, 64, 64, stroke=SEAM, stroke_width=1.5)
    if letter == "H":
        canvas.ellipse(0, 2, 27, 24, fill=RIM)
        canvas.ellipse(0, 3, 24, 21, fill=WATER)
        canvas.ellipse(0, 6, 19, 16, fill=DEEP)
        canvas.line(-9, -2, 2, -2, color="#8fb8dd", width=2.5, cap="round")
        canvas.line(1, 7, 10, 7, color="#6f9fcb", width=2.5, cap="round")
        return
    canvas.polygon([(-26, -12), (-12, -26), (-4, -26), (-26, -4)], fill=SHINE)
    if texture < 2 and letter == "F":
        canvas.polyline([(4, 8), (10, 13), (8, 20), (16, 24)], color=SEAM, width=1.5)
        canvas.line(10, 13, 18, 10, color=SEAM, width=1.5)
    if letter in "SG":
        canvas.text(25, 25, letter, size=15, color=LETTER, anchor="bottom right", bold=True)
    if letter == "G":
        draw_flag(canvas)
