"""The picture of a game: its board where it is one of the well-known, else its text, cell by cell."""

from collections.abc import Callable

from ludus.envs.open.chess_pieces import draw_piece
from ludus.envs.open.openspiel.backgammon import backgammon_picture
from ludus.envs.open.openspiel.boards import Board
from ludus.envs.open.openspiel.cards import blackjack_picture
from ludus.rendering import Canvas

__all__ = ["openspiel_picture"]

SIDE = 480
"""Of the longer side of a board, about."""
WOOD, LINE, GREEN = "#dcb35c", "#5b4520", "#2f8f5b"
DARK, LIGHT = "#a07c55", "#e6d5b3"
SIDES = {"x": ("#212529", "#495057"), "o": ("#f8f9fa", "#adb5bd"), "b": ("#212529", "#495057"),
         "w": ("#f8f9fa", "#adb5bd"), "+": ("#c92a2a", "#fa5252")}  # fmt: skip
TILES = {2: "#eee4da", 4: "#ede0c8", 8: "#f2b179", 16: "#f59563", 32: "#f67c5f", 64: "#f65e3b", 128: "#edcf72",
         256: "#edcc61", 512: "#edc850", 1024: "#edc53f", 2048: "#edc22e"}  # fmt: skip
BOXES = str.maketrans("┌┐└┘├┤┬┴┼─│╴╶╵╷", "+++++++++-|--||")
"""Signs that the built-in font does not have, and those that look most like them."""
ROWS, COLUMNS = 34, 96


def openspiel_picture(name: str, text: str, board: Board | None) -> Canvas:
    """The board that was read in a game's text, or the text itself."""
    if name == "backgammon" and (drawn := backgammon_picture(text)) is not None:
        return drawn
    if name == "blackjack" and (drawn := blackjack_picture(text)) is not None:
        return drawn
    return _text_picture(text) if board is None else LOOKS[board.look](board)


def _sized(board: Board, background: str, most: int = 80) -> tuple[Canvas, int, int, int]:
    rows, columns = len(board.cells), len(board.cells[0])
    size = max(16, min(most, SIDE // max(rows, columns)))
    return Canvas(columns * size, rows * size, background=background), size, rows, columns


def _places(board: Board, size: int) -> list[tuple[float, float, str, int, int]]:
    return [
        (column * size, row * size, sign, row, column)
        for row, line in enumerate(board.cells)
        for column, sign in enumerate(line)
    ]


def _stone(canvas: Canvas, x: float, y: float, size: float, sign: str) -> None:
    fill, rim = SIDES.get(sign.lower(), ("#868e96", "#495057"))
    canvas.circle(x + size / 2, y + size / 2, size * 0.43, fill=fill, stroke=rim, stroke_width=max(1.0, size * 0.05))


def _marks(board: Board) -> Canvas:
    canvas, size, rows, columns = _sized(board, "white", 160)
    for at in range(1, columns):
        canvas.line(at * size, 8, at * size, rows * size - 8, color="#ced4da", width=4)
    for at in range(1, rows):
        canvas.line(8, at * size, columns * size - 8, at * size, color="#ced4da", width=4)
    for x, y, sign, _, _ in _places(board, size):
        a, b, width = size * 0.24, size * 0.76, size * 0.1
        if sign == "x":
            canvas.line(x + a, y + a, x + b, y + b, color="#1971c2", width=width)
            canvas.line(x + a, y + b, x + b, y + a, color="#1971c2", width=width)
        elif sign == "o":
            canvas.circle(x + size / 2, y + size / 2, size * 0.28, stroke="#e03131", stroke_width=width)
    return canvas


def _lines(board: Board) -> Canvas:
    """Stones where lines cross."""
    canvas, size, rows, columns = _sized(board, WOOD)
    half = size / 2
    for column in range(columns):
        canvas.line((column + 0.5) * size, half, (column + 0.5) * size, rows * size - half, color=LINE, width=1)
    for row in range(rows):
        canvas.line(half, (row + 0.5) * size, columns * size - half, (row + 0.5) * size, color=LINE, width=1)
    for x, y, sign, _, _ in _places(board, size):
        if sign not in ".+":
            _stone(canvas, x, y, size, sign)
    return canvas


def _stones(board: Board) -> Canvas:
    """Stones on a green cloth."""
    canvas, size, _, _ = _sized(board, "#1d6b41")
    for x, y, sign, _, _ in _places(board, size):
        canvas.rectangle(x + 1, y + 1, size - 2, size - 2, fill=GREEN)
        if sign in "xo":
            _stone(canvas, x, y, size, sign)
    return canvas


def _checkered(board: Board) -> tuple[Canvas, int]:
    canvas, size, rows, _ = _sized(board, LIGHT)
    for x, y, _, row, column in _places(board, size):
        if (rows - 1 - row + column) % 2 == 0:
            canvas.rectangle(x, y, size, size, fill=DARK)
    return canvas, size


def _discs(board: Board) -> Canvas:
    canvas, size = _checkered(board)
    for x, y, sign, _, _ in _places(board, size):
        if sign == "#":
            canvas.rectangle(x + size * 0.2, y + size * 0.2, size * 0.6, size * 0.6, radius=4, fill="#495057")
        elif sign != ".":
            _stone(canvas, x, y, size, "o" if sign == "8" else "+" if sign == "*" else sign)
            if sign in "8*":  # kings of checkers
                canvas.circle(x + size / 2, y + size / 2, size * 0.2, stroke="#fab005", stroke_width=3)
    return canvas


def _chess(board: Board) -> Canvas:
    canvas, size = _checkered(board)
    for x, y, sign, _, _ in _places(board, size):
        if sign != ".":
            draw_piece(canvas, x, y, size, sign)
    return canvas


def _drop(board: Board) -> Canvas:
    canvas, size, _, _ = _sized(board, "#2f62b8")
    for x, y, sign, _, _ in _places(board, size):
        fill = {"x": "#e03131", "o": "#fab005"}.get(sign, "#e9eef7")
        canvas.circle(x + size / 2, y + size / 2, size * 0.39, fill=fill)
    return canvas


def _hexagons(board: Board) -> Canvas:
    """Rows shifted by half a cell; red joins top and bottom, blue the sides."""
    rows, columns = len(board.cells), len(board.cells[0])
    size = max(16.0, SIDE / (columns + rows / 2))
    width, height = (columns + (rows - 1) / 2) * size, rows * size
    canvas = Canvas(round(width), round(height), background="#f8f9fa")
    for row, line in enumerate(board.cells):
        for column, sign in enumerate(line):
            x, y = (column + row / 2 + 0.5) * size, (row + 0.5) * size
            low, high, half = size * 0.31, size * 0.62, size / 2
            corners = [
                (x, y - high), (x + half, y - low), (x + half, y + low), (x, y + high), (x - half, y + low),
                (x - half, y - low),
            ]  # fmt: skip
            fill = "#e03131" if sign in "xyzX" else "#1971c2" if sign in "opqO" else "#ffffff"
            canvas.polygon(corners, fill=fill, stroke="#adb5bd", stroke_width=1)
    return canvas


def _blocks(board: Board) -> Canvas:
    """Grids that one walks or falls on."""
    canvas, size, _, _ = _sized(board, "#f1f3f5", 56)
    colors = {"x": "#1971c2", "X": "#495057", "G": "#2f9e44", "P": "#e03131"}
    for x, y, sign, _, _ in _places(board, size):
        canvas.rectangle(x + 1, y + 1, size - 2, size - 2, radius=3, fill=colors.get(sign, "#ffffff"))
        if sign in "oP":
            canvas.circle(x + size / 2, y + size / 2, size * 0.32, fill="#e8590c" if sign == "o" else "#ffe3e3")
    return canvas


def _tiles(board: Board) -> Canvas:
    canvas, size, _, _ = _sized(board, "#bbada0", 110)
    for x, y, sign, _, _ in _places(board, size):
        number = int(sign)
        canvas.rectangle(x + 5, y + 5, size - 10, size - 10, radius=6, fill=TILES.get(number, "#cdc1b4"))
        if number:
            ink = "#776e65" if number < 8 else "#f9f6f2"
            canvas.text(x + size / 2, y + size / 2, sign, size=size * (0.4 if number < 1000 else 0.3), color=ink,
                        anchor="center", bold=True)  # fmt: skip
    return canvas


LOOKS: dict[str, Callable[[Board], Canvas]] = {
    "marks": _marks, "lines": _lines, "stones": _stones, "discs": _discs, "chess": _chess, "drop": _drop,
    "hexagons": _hexagons, "blocks": _blocks, "tiles": _tiles,
}  # fmt: skip


def _text_picture(text: str) -> Canvas:
    """Text in columns, as a terminal has it: each sign in its own cell."""
    lines = [line.rstrip()[:COLUMNS] for line in text.translate(BOXES).splitlines()][:ROWS] or [""]
    columns = max(12, *map(len, lines))
    width = max(6.0, min(14.0, 900 / columns))
    canvas = Canvas(round(columns * width) + 40, round(len(lines) * width * 1.8) + 40, background="#fffdf5")
    for row, line in enumerate(lines):
        for column, sign in enumerate(line):
            if sign != " ":
                x, y = 20 + (column + 0.5) * width, 20 + (row + 0.5) * width * 1.8
                canvas.text(x, y, sign, size=width * 1.45, color=INK.get(sign, "#343a40"), anchor="center")
    return canvas


INK = {".": "#adb5bd", "x": "#1971c2", "X": "#1971c2", "o": "#e03131", "O": "#e03131", "@": "#1971c2"}
