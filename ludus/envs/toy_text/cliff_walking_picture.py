"""The picture of CliffWalking: a meadow, its edge, and somebody who should keep away from it."""

from ludus.envs.toy_text.figures import draw_flag, draw_person
from ludus.rendering import Canvas

__all__ = ["cliff_walking_picture"]

CELL = 64
MEADOW, SEAM, BLADE, ROCK, DARK, EDGE = "#bcd79b", "#a9c886", "#8fb36b", "#a37b54", "#4d3a2b", "#c9a880"


def cliff_walking_picture(place: int, rows: int, columns: int) -> Canvas:
    """The walker at `place`; the cliff is the last row between its corners."""
    canvas = Canvas(columns * CELL, rows * CELL, background=MEADOW)
    for cell in range(rows * columns):
        row, column = divmod(cell, columns)
        canvas.rectangle(column * CELL, row * CELL, CELL, CELL, stroke=SEAM, stroke_width=1.5)
        if (row * 7 + column * 5) % 6 == 0:
            x, y = column * CELL + 18 + 5 * (column % 4), row * CELL + 44 - 6 * (row % 3)
            canvas.polyline([(x - 4, y - 6), (x, y), (x + 1, y - 8), (x + 2, y), (x + 6, y - 5)], color=BLADE, width=2)
    _draw_cliff(canvas, (rows - 1) * CELL, CELL, (columns - 1) * CELL)
    for letter, column in (("S", 0), ("G", columns - 1)):
        canvas.text(column * CELL + 8, (rows - 1) * CELL + 8, letter, size=15, color="#6f8f4e", bold=True)
    with canvas.transform(translate=((columns - 0.5) * CELL, (rows - 0.5) * CELL)):
        draw_flag(canvas)
    with canvas.transform(translate=((place % columns + 0.5) * CELL, (place // columns + 0.5) * CELL)):
        draw_person(canvas)
    return canvas


def _draw_cliff(canvas: Canvas, top: float, left: float, right: float) -> None:
    canvas.rectangle(left, top, right - left, CELL, fill=DARK)
    count = round((right - left) / 32)
    for tooth in range(count):
        x, deep = left + tooth * 32, 30 + 9 * (tooth * 5 % 3)
        canvas.polygon([(x, top), (x + 32, top), (x + 26, top + deep - 6), (x + 15, top + deep)], fill=ROCK)
        canvas.polygon([(x, top), (x + 13, top), (x + 11, top + deep - 12)], fill=EDGE)
    canvas.line(left, top, right, top, color="#7d9c58", width=5)
