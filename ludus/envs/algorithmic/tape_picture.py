"""The picture of an algorithmic task: the input with the reading head, and what is written above what was wanted."""

from typing import NamedTuple

from ludus.rendering import Canvas, Color

__all__ = ["Sheet", "tape_picture"]

CELL, WIDTH, LEFT, TOP = 22, 832, 64, 62
LINE = 33
"""How many symbols of the output stand in one line."""
PAPER, EMPTY, EDGE, INK, PALE = "#ffffff", "#eef1f5", "#c5ccd6", "#2b3446", "#8a94a6"
RIGHT, WRONG, HEAD, RIM = "#bfe3c6", "#f3b6af", "#ffe28a", "#d99a00"


class Sheet(NamedTuple):
    """What there is to see, as letters."""

    rows: list[str]
    """The input, row by row."""
    target: str
    output: str
    """What was written; the last letter may be wrong."""
    column: int
    row: int
    longest: int
    """How long a target can be: pictures of one task have one size."""
    title: str


def tape_picture(sheet: Sheet) -> Canvas:
    """The input with two cells around it, then output and target, line by line."""
    top = TOP + CELL * (len(sheet.rows) + 1) + 16
    lines = -(-sheet.longest // LINE)
    canvas = Canvas(WIDTH, top + 36 + lines * (2 * CELL + 14), background="#f7f9fc")
    canvas.text(20, 18, "input", size=15, color=PALE)
    canvas.text(WIDTH - 20, 18, sheet.title, size=14, color=PALE, anchor="top right")
    for row, letters in enumerate(sheet.rows):
        for place, letter in enumerate(letters):
            _draw_cell(canvas, LEFT + place * CELL, TOP + row * CELL, letter, PAPER)
    _draw_head(canvas, sheet)
    canvas.text(20, top, "output, and below it the target", size=15, color=PALE)
    for place, expected in enumerate(sheet.target):
        x, y = LEFT + place % LINE * CELL, top + 28 + place // LINE * (2 * CELL + 14)
        written = sheet.output[place : place + 1]
        _draw_cell(canvas, x, y, written, EMPTY if not written else RIGHT if written == expected else WRONG)
        canvas.text(x + CELL / 2, y + CELL + 11, expected, size=13, color=PALE, anchor="center")
    return canvas


def _draw_head(canvas: Canvas, sheet: Sheet) -> None:
    """The cell being read; a head that has gone astray waits at the border."""
    rows, columns = len(sheet.rows), len(sheet.rows[0])
    inside = 0 <= sheet.row < rows and 0 <= sheet.column < columns
    x = LEFT + min(max(sheet.column, -2), columns + 1) * CELL
    y = TOP + min(max(sheet.row, -1), rows) * CELL
    _draw_cell(canvas, x, y, sheet.rows[sheet.row][sheet.column] if inside else "", HEAD)
    canvas.rectangle(x, y, CELL, CELL, radius=4, stroke=RIM, stroke_width=2.5)
    if sheet.row <= 0:
        canvas.polygon([(x + 5, y - 11), (x + CELL - 5, y - 11), (x + CELL / 2, y - 3)], fill=RIM)


def _draw_cell(canvas: Canvas, x: float, y: float, letter: str, fill: Color) -> None:
    canvas.rectangle(x + 1, y + 1, CELL - 2, CELL - 2, radius=3, fill=fill, stroke=EDGE, stroke_width=1)
    if letter:
        canvas.text(x + CELL / 2, y + CELL / 2, letter, size=14, color=INK, anchor="center", bold=True)
