"""Minesweeper: open every cell that has no mine."""

from typing import ClassVar

import numpy as np

from ludus.envs.open.textarena.game import Cell, Game, Turn, move_in
from ludus.errors import InvalidArgument
from ludus.rendering import Choice, choice

__all__ = ["Minesweeper"]

Place = tuple[int, int]
INK = ("black", "#1971c2", "#2f9e44", "#e03131", "#5f3dc4", "#862e9c", "#0b7285", "black", "#495057")


class Minesweeper(Game):
    """A cell tells how many mines are around it; the first one opened, and those around it, have none."""

    settings: ClassVar[dict[str, object]] = {"rows": 8, "cols": 8, "num_mines": 10}

    def begin(self) -> None:
        """Nothing is open; mines are laid when the first cell is opened."""
        rows, columns, mines = (self.set[name] for name in ("rows", "cols", "num_mines"))
        if not (2 <= rows <= 30 and 2 <= columns <= 30 and 1 <= mines <= rows * columns - 9):
            raise InvalidArgument(
                f"Minesweeper: expected 2 to 30 rows and cols, and mines with nine cells to spare, got {self.set}"
            )
        self.mines: frozenset[Place] = frozenset()
        self.counts: dict[Place, int] = {}
        self.open: set[Place] = set()
        self.flags: set[Place] = set()

    def prompt(self) -> str:
        """The rules."""
        rows, columns, mines = (self.set[name] for name in ("rows", "cols", "num_mines"))
        return (
            f"You are playing Minesweeper on {rows} rows and {columns} columns with {mines} mines. Open a cell by its "
            "row and column, counted from 0, in square brackets, like [3 2]; [flag 3 2] marks one, or takes the mark "
            "away. A number says how many mines are around a cell. Open all cells without a mine, and none with one."
        )

    def board(self) -> str:
        """The field as far as it is open."""
        rows, columns = self.set["rows"], self.set["cols"]
        head = "   " + " ".join(str(column % 10) for column in range(columns))
        lines = [f"{row:2d} {' '.join(self._sign((row, column)) for column in range(columns))}" for row in range(rows)]
        return "\n".join([head, *lines])

    def choices(self) -> list[Choice]:
        """Every cell, where it is in the picture."""
        rows, columns = self.set["rows"], self.set["cols"]
        return [
            choice("", {"message": f"[{row} {column}]"}, places=[(column / columns, row / rows, 1 / columns, 1 / rows)])
            for row in range(rows)
            for column in range(columns)
        ]

    def cells(self) -> list[list[Cell]]:
        """Grey where it is closed."""
        rows, columns = range(self.set["rows"]), range(self.set["cols"])
        return [[self._shown((row, column)) for column in columns] for row in rows]

    def _shown(self, place: Place) -> Cell:
        sign = self._sign(place)
        if place in self.open:
            return (
                "" if sign == "0" else sign,
                "#f8f9fa" if sign != "*" else "#ffa8a8",
                INK[int(sign) if sign != "*" else 0],
            )
        return ("" if sign == "." else sign, "#adb5bd", "#c92a2a")

    def _sign(self, cell: Place) -> str:
        if cell in self.open:
            return "*" if cell in self.mines else str(self._count(cell))
        return "F" if cell in self.flags else "."

    def _around(self, cell: Place) -> list[Place]:
        row, column = cell
        return [
            (y, x)
            for y in range(max(0, row - 1), min(self.set["rows"], row + 2))
            for x in range(max(0, column - 1), min(self.set["cols"], column + 2))
            if (y, x) != cell
        ]

    def _count(self, cell: Place) -> int:
        return self.counts.get(cell, 0)

    def play(self, message: str) -> Turn:
        """Open or mark a cell."""
        parts = (move_in(message) or "").lower().replace(",", " ").split()
        flag = parts[:1] == ["flag"]
        numbers = parts[1:] if flag else parts
        if len(numbers) != 2 or not all(one.isascii() and one.isdecimal() and len(one) < 4 for one in numbers):
            return Turn.unreadable("[3 2], or [flag 3 2]")
        cell = int(numbers[0]), int(numbers[1])
        if not (cell[0] < self.set["rows"] and cell[1] < self.set["cols"]):
            return Turn.illegal(f"There is no cell {cell[0]} {cell[1]}.")
        if cell in self.open:
            return Turn.illegal(f"The cell {cell[0]} {cell[1]} is open.")
        if flag:
            self.flags ^= {cell}
            return Turn("Marked." if cell in self.flags else "The mark is gone.")
        return self._opened(cell)

    def _opened(self, cell: Place) -> Turn:
        if not self.open:
            self._lay_mines(cell)
        if cell in self.mines:
            self.open |= self.mines
            return Turn.loss(f"The cell {cell[0]} {cell[1]} had a mine.")
        before, front = len(self.open), [cell]
        while front:
            one = front.pop()
            if one not in self.open:
                self.open.add(one)
                self.flags.discard(one)
                front += self._around(one) if self._count(one) == 0 else []
        if len(self.open) == self.set["rows"] * self.set["cols"] - len(self.mines):
            return Turn.win("All cells without a mine are open.")
        return Turn(f"Opened {len(self.open) - before} cells.")

    def _lay_mines(self, first: Place) -> None:
        spared = {first, *self._around(first)}
        rows, columns = self.set["rows"], self.set["cols"]
        free = [(row, column) for row in range(rows) for column in range(columns) if (row, column) not in spared]
        mines: int = self.set["num_mines"]
        chosen = self.rng.choice(len(free), mines, replace=False)
        self.mines = frozenset(free[int(at)] for at in chosen)
        for mine in self.mines:
            for place in self._around(mine):
                self.counts[place] = self.counts.get(place, 0) + 1

    def _closed(self) -> list[Place]:
        rows, columns = self.set["rows"], self.set["cols"]
        return [(row, column) for row in range(rows) for column in range(columns) if (row, column) not in self.open]

    def oracle(self, rng: np.random.Generator) -> str:
        """A cell without a mine."""
        del rng
        row, column = next(cell for cell in self._closed() if cell not in self.mines)
        return f"[{row} {column}]"

    def random(self, rng: np.random.Generator) -> str:
        """Any closed cell."""
        closed = self._closed()
        row, column = closed[int(rng.integers(len(closed)))]
        return f"[{row} {column}]"
