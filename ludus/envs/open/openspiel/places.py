"""Places: where on the picture of a board one clicks for a move: once, or on a piece and then on where it goes."""

import re
from collections.abc import Callable

from ludus.envs.open.openspiel.boards import Board, Rows

__all__ = ["places_of"]

Square = tuple[int, int]
"""A row from the top, and a column."""
SQUARE = re.compile(r"([a-z])(\d+)")
POINT = re.compile(r"\((\d+), ?(\d+)\)")
FROM_ABOVE, FROM_BELOW = ("tic_tac_toe", "gomoku", "mnk", "othello", "hex"), ("go",)
"""Games whose actions number their cells row by row, from the top or from the bottom."""
PIECES = ("breakthrough", "checkers", "clobber", "lines_of_action")
"""Games that write a move as the squares it goes from and to, numbered from the bottom."""


def places_of(name: str, board: Board, action: int, label: str, after: Callable[[], str]) -> list[list[float]]:
    """The places of an action, in their order; none where a picture has no place for it. `after` is the next position.

    >>> places_of("tic_tac_toe", Board("marks", ["...", "...", "..."]), 3, "x(1,0)", str)[0][1] == 1 / 3
    True
    """
    rows, columns = len(board.cells), len(board.cells[0])
    if name == "connect_four":
        return [[action / columns, 0.0, 1 / columns, 1.0]]
    if name == "catch":
        return [[action / 3, 0.0, 1 / 3, 1.0]]
    squares = _squares(name, board, action, label, after)
    if board.turned:
        squares = [(rows - 1 - row, columns - 1 - column) for row, column in squares]
    place = _slanted if board.look == "hexagons" else _straight
    return [place(row, column, rows, columns) for row, column in squares]


def _squares(name: str, board: Board, action: int, label: str, after: Callable[[], str]) -> list[Square]:
    rows, columns = len(board.cells), len(board.cells[0])
    if name in FROM_ABOVE or name in FROM_BELOW:
        row, column = divmod(action, columns)
        return [(row if name in FROM_ABOVE else rows - 1 - row, column)] if row < rows else []
    if name in PIECES:
        return [(rows - int(number), ord(letter) - ord("a")) for letter, number in SQUARE.findall(label)]
    if name == "amazons":
        return [(int(row) - 1, int(column) - 1) for row, column in POINT.findall(label)]
    return _changed(board.unturned, board.read(after())) if board.look == "chess" else []


def _changed(before: Rows, after: Rows) -> list[Square]:
    """Where a piece of chess went from and to, by what changed: the game's own words leave out where it stood."""
    found = [(row, column) for row, line in enumerate(before) for column in range(len(line))]
    found = [(row, column) for row, column in found if before[row][column] != after[row][column]]
    to = [(row, column) for row, column in found if after[row][column] != "."]
    if not to:
        return []
    to.sort(key=lambda at: after[at[0]][at[1]] not in "kK")  # castling is a move of the king's
    ours = str.isupper if after[to[0][0]][to[0][1]].isupper() else str.islower
    left = [(row, column) for row, column in found if after[row][column] == "." and ours(before[row][column])]
    left.sort(key=lambda at: before[at[0]][at[1]] not in "kK")
    return [left[0], to[0]] if left else to[:1]


def _straight(row: int, column: int, rows: int, columns: int) -> list[float]:
    return [column / columns, row / rows, 1 / columns, 1 / rows]


def _slanted(row: int, column: int, rows: int, columns: int) -> list[float]:
    """Rows of hexagons are shifted by half a cell."""
    wide = columns + (rows - 1) / 2
    return [(column + row / 2) / wide, row / rows, 1 / wide, 1 / rows]
