"""The picture of a text game: its board in squares, or its text."""

from ludus.envs.open.chess_pieces import draw_piece
from ludus.envs.open.textarena.game import Cell
from ludus.rendering import Canvas

__all__ = ["textarena_picture"]

SIDE, WIDTH, LINE = 480, 480, 22


def textarena_picture(cells: list[list[Cell]], text: str, *, chessmen: bool = False) -> Canvas:
    """Squares where the game has some, else lines of text."""
    return _squares(cells, chessmen=chessmen) if cells else _lines(text)


def _squares(cells: list[list[Cell]], *, chessmen: bool) -> Canvas:
    rows, columns = len(cells), len(cells[0])
    size = SIDE // max(rows, columns)
    canvas = Canvas(columns * size, rows * size, background="#ced4da")
    for row, line in enumerate(cells):
        for column, (sign, field, ink) in enumerate(line):
            x, y = column * size, row * size
            canvas.rectangle(x + 1, y + 1, size - 2, size - 2, radius=3, fill=field)
            if sign and chessmen:
                draw_piece(canvas, x, y, size, sign)
            elif sign:
                canvas.text(x + size / 2, y + size / 2, sign, size=size * 0.5, color=ink, anchor="center", bold=True)
    return canvas


def _lines(text: str) -> Canvas:
    canvas = Canvas(WIDTH, 320, background="#fffdf5")
    for row, line in enumerate(text.splitlines()[-13:]):
        canvas.text(20, 20 + row * LINE, line[:60], size=17, color="#343a40")
    return canvas
