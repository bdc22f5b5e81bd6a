"""Boards: the cells of a game in its text, and which key one presses for an action."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

__all__ = ["Board", "Cells", "board_of", "keys_of", "sits_above"]

Cells = list[str]
"""Rows from the top, a character for each cell."""
Rows = Sequence[Sequence[str]]
"""The same, or as numbers of several digits for each cell."""
LABELLED = re.compile(r"^\s*\d+\s*([^\s\d]+)\s*$")
EDGED = re.compile(r"^\d ((?:[-xo] ){8})\d$")
EMPTY_FEN = re.compile(r"\d")


@dataclass(frozen=True)
class Board:
    """The cells of a board, and how they look."""

    look: str
    """marks, stones, lines, discs, drop, hexagons, chess, blocks or tiles."""
    cells: Rows
    """As they are seen."""
    read: Callable[[str], Rows] = str.splitlines
    """The cells in another text of the game, as the game has them."""
    turned: bool = False
    """Whether it is seen from the other side."""

    @property
    def unturned(self) -> Rows:
        """The cells as the game has them."""
        return _turned(self.cells) if self.turned else self.cells


def _turned(cells: Rows) -> Rows:
    return [row[::-1] for row in reversed(cells)]


def _plain(text: str) -> Cells:
    """Lines of cells and nothing else."""
    lines = [line for line in text.splitlines() if line and " " not in line]
    width = max(map(len, lines), default=0)
    return [line for line in lines if len(line) == width]


def _labelled(text: str) -> Cells:
    """Lines that begin with their number."""
    return [found[1] for line in text.splitlines() if (found := LABELLED.match(line))]


def _kings(text: str) -> Cells:
    """Lines that begin with a number of one digit; there are digits among the cells, too: an 8 is a king."""
    return [line[1:].rstrip() for line in text.splitlines() if line[:1].isdigit()]


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


def _numbers(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines() if line.strip()]


LAYOUTS: dict[str, tuple[str, Callable[[str], Rows]]] = {
    "tic_tac_toe": ("marks", _plain),
    "connect_four": ("drop", _plain),
    "gomoku": ("lines", lambda text: _plain(text.partition("\n")[2])),
    "mnk": ("lines", _plain),
    "go": ("lines", _labelled),
    "othello": ("stones", _edged),
    "hex": ("hexagons", _spaced),
    "breakthrough": ("discs", _labelled),
    "checkers": ("discs", _kings),
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


ABOVE = {"chess": 0, "antichess": 0, "breakthrough": 0}
"""Whose pieces begin at the top: they see the board turned, with their own below."""


def sits_above(name: str, seat: int) -> bool:
    """Whether a seat plays from the top of a board."""
    return ABOVE.get(name) == seat


def board_of(name: str, text: str, *, turned: bool = False) -> Board | None:
    """The board in the text of a game; None where there is none, or it cannot be read."""
    look, read = LAYOUTS.get(name, ("", None))
    cells: Rows = read(text) if read is not None else []
    if read is None or not cells or len({len(row) for row in cells}) != 1:
        return None
    return Board(look, _turned(cells) if turned else cells, read, turned)


ARROWS = {"catch": {"left": 0, "right": 2, "down": 1}, "cliff_walking": {"right": 0, "up": 1, "left": 2, "down": 3},
          "2048": {"up": 0, "right": 1, "down": 2, "left": 3}}  # fmt: skip


def keys_of(name: str, actions: int) -> dict[str, int] | None:
    """Arrows where a game has directions, digits where it has few actions; None where keys make no sense."""
    if name in ARROWS:
        return ARROWS[name]
    return {str(action + 1): action for action in range(actions)} if actions <= 9 else None
