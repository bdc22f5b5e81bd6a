"""Boards: the cells of a game in its text, and where on a picture one clicks or which key one presses for an action."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["Board", "board_of", "keys_of", "regions_of"]

Cells = list[str]
"""Rows from the top, a character for each cell."""
LABELLED = re.compile(r"^\s*\d+\s*([^\s\d]+)\s*$")
EDGED = re.compile(r"^\d ((?:[-xo] ){8})\d$")
EMPTY_FEN = re.compile(r"\d")


@dataclass(frozen=True)
class Board:
    """The cells of a board, and how they look."""

    look: str
    """marks, stones, lines, discs, drop, hexagons, chess, blocks or tiles."""
    cells: Cells
    last: str = ""
    """What else there is to say, under the board."""


def _plain(text: str) -> Cells:
    """Lines of cells and nothing else."""
    lines = [line for line in text.splitlines() if line and " " not in line]
    width = max(map(len, lines), default=0)
    return [line for line in lines if len(line) == width]


def _labelled(text: str) -> Cells:
    """Lines that begin with their number."""
    return [found[1] for line in text.splitlines() if (found := LABELLED.match(line))]


def _spaced(text: str) -> Cells:
    """Cells with spaces between them."""
    return ["".join(line.split()) for line in text.splitlines() if line.strip()]


def _edged(text: str) -> Cells:
    """Cells between two numbers."""
    return ["".join(found[1].split()) for line in text.splitlines() if (found := EDGED.match(line))]


def _fen(text: str) -> Cells:
    """A position of chess."""
    rows = text.split(" ", 1)[0].split("/")
    return [EMPTY_FEN.sub(lambda found: "." * int(found[0]), row) for row in rows] if len(rows) == 8 else []


def _numbers(text: str) -> list[Any]:
    return [line.split() for line in text.splitlines() if line.strip()]


LAYOUTS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "tic_tac_toe": ("marks", _plain),
    "connect_four": ("drop", _plain),
    "gomoku": ("lines", lambda text: _plain(text.partition("\n")[2])),
    "mnk": ("lines", _plain),
    "go": ("lines", _labelled),
    "othello": ("stones", _edged),
    "hex": ("hexagons", _spaced),
    "breakthrough": ("discs", _labelled),
    "checkers": ("discs", _labelled),
    "clobber": ("discs", _labelled),
    "lines_of_action": ("discs", _labelled),
    "amazons": ("discs", _plain),
    "chess": ("chess", _fen),
    "antichess": ("chess", _fen),
    "catch": ("blocks", _plain),
    "cliff_walking": ("blocks", _plain),
    "2048": ("tiles", _numbers),
}
"""How a game's board looks, and where its cells are in its text; the others are shown as text."""


def board_of(name: str, text: str) -> Board | None:
    """The board in the text of a game; None where there is none, or it cannot be read."""
    look, read = LAYOUTS.get(name, ("", None))
    cells = read(text) if read is not None else []
    if not cells or len({len(row) for row in cells}) != 1:
        return None
    return Board(look, cells)


ARROWS = {"catch": {"left": 0, "right": 2, "down": 1}, "cliff_walking": {"right": 0, "up": 1, "left": 2, "down": 3},
          "2048": {"up": 0, "right": 1, "down": 2, "left": 3}}  # fmt: skip


def keys_of(name: str, actions: int) -> dict[str, int] | None:
    """Arrows where a game has directions, digits where it has few actions; None where keys make no sense."""
    if name in ARROWS:
        return ARROWS[name]
    return {str(action + 1): action for action in range(actions)} if actions <= 9 else None


def regions_of(name: str, cells: Cells) -> list[dict[str, Any]]:
    """The parts of a board's picture that one may click, in fractions of its sides, with the number of the action."""
    rows, columns = len(cells), len(cells[0]) if cells else 0
    if name == "connect_four":
        return [_region(column, 0, columns, 1, column) for column in range(columns)]
    if name == "catch":
        return [_region(place, 0, 3, 1, place) for place in range(3)]
    if name in ("tic_tac_toe", "gomoku", "mnk", "othello"):
        return [
            _region(column, row, columns, rows, row * columns + column)
            for row in range(rows)
            for column in range(columns)
        ]
    if name == "go":
        return [
            _region(column, row, columns, rows, (rows - 1 - row) * columns + column)
            for row in range(rows)
            for column in range(columns)
        ]
    if name == "hex":
        wide = columns + (rows - 1) / 2
        return [
            {"x": (column + row / 2) / wide, "y": row / rows, "width": 1 / wide, "height": 1 / rows,
             "action": row * columns + column}
            for row in range(rows)
            for column in range(columns)
        ]  # fmt: skip
    return []


def _region(column: int, row: int, columns: int, rows: int, action: int) -> dict[str, Any]:
    return {"x": column / columns, "y": row / rows, "width": 1 / columns, "height": 1 / rows, "action": action}
