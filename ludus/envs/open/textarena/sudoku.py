"""Sudoku: nine digits in every row, column and box."""

import re
from typing import ClassVar

import numpy as np

from ludus.envs.open.textarena.game import Cell, Game, Turn, bracketed, move_in
from ludus.errors import InvalidArgument

__all__ = ["OriginalSudoku", "Sudoku", "count_solutions"]

FEWEST_CLUES = 28
ALL = 0b1111111110
MOVE = re.compile(r"\[(\d+)\s(\d+)\s(\d+)\]")
MAX_NUMBER_CHARS = 50
"""Characters; what is longer is no row, column or digit, and Python refuses to read thousands."""


def _box(row: int, column: int) -> int:
    return row // 3 * 3 + column // 3


def count_solutions(grid: list[list[int]], most: int = 2) -> int:
    """How many ways there are to fill the zeros, counted up to `most`.

    >>> count_solutions([[0] * 9 for _ in range(9)])
    2
    """
    rows, columns, boxes = [0] * 9, [0] * 9, [0] * 9
    for row in range(9):
        for column in range(9):
            bit = 1 << grid[row][column] & ALL
            rows[row], columns[column] = rows[row] | bit, columns[column] | bit
            boxes[_box(row, column)] |= bit
    empty = [(row, column) for row in range(9) for column in range(9) if not grid[row][column]]

    def count(left: list[tuple[int, int]], limit: int) -> int:
        if not left:
            return 1

        def free(cell: tuple[int, int]) -> int:
            return ALL & ~(rows[cell[0]] | columns[cell[1]] | boxes[_box(*cell)])

        cell = min(left, key=lambda one: free(one).bit_count())
        others, options, found = [one for one in left if one != cell], free(cell), 0
        row, column, box = cell[0], cell[1], _box(*cell)
        while options and found < limit:
            bit = options & -options
            options ^= bit
            rows[row], columns[column], boxes[box] = rows[row] | bit, columns[column] | bit, boxes[box] | bit
            found += count(others, limit - found)
            rows[row], columns[column], boxes[box] = rows[row] ^ bit, columns[column] ^ bit, boxes[box] ^ bit
        return found

    return count(empty, most)


class Sudoku(Game):
    """A grid with one solution; digits that break a rule are refused, others may be changed again."""

    settings: ClassVar[dict[str, object]] = {"clues": 45}

    def begin(self) -> None:
        """Shuffle a full grid, and empty cells for as long as one solution is left."""
        if not FEWEST_CLUES <= self.set["clues"] <= 80:
            raise InvalidArgument(f"Sudoku clues: expected {FEWEST_CLUES} to 80, got {self.set['clues']}")
        self.solution = self._full()
        self.grid = [list(row) for row in self.solution]
        left = 81
        for place in self.rng.permutation(81):
            if left == self.set["clues"]:
                break
            row, column = divmod(int(place), 9)
            digit, self.grid[row][column] = self.grid[row][column], 0
            if count_solutions(self.grid) == 1:
                left -= 1
            else:
                self.grid[row][column] = digit
        self.given = {(row, column) for row in range(9) for column in range(9) if self.grid[row][column]}

    def _full(self) -> list[list[int]]:
        digits = (self.rng.permutation(9) + 1).tolist()
        rows, columns = (
            [int(3 * band + line) for band in self.rng.permutation(3) for line in self.rng.permutation(3)]
            for _ in range(2)
        )
        return [[digits[(3 * (row % 3) + row // 3 + column) % 9] for column in columns] for row in rows]

    def prompt(self) -> str:
        """The rules."""
        return (
            "You are playing Sudoku. Fill the empty cells so that every row, column and box of 3 x 3 has the digits 1 "
            "to 9 once. Write row, column (counted from 1) and digit in square brackets, like [5 3 7]; the digit 0 "
            "empties a cell that you filled."
        )

    def board(self) -> str:
        """The grid, with dots for empty cells; rows and columns have the names R1 to R9 and C1 to C9."""
        lines = ["   " + "   ".join(" ".join(f"C{at + 1}" for at in range(start, start + 3)) for start in (0, 3, 6))]
        for at, row in enumerate(self.grid):
            signs = [f"{one or '.':>2}" for one in row]
            lines += ["   ---------+----------+---------"] if at in (3, 6) else []
            lines.append(f"R{at + 1} " + " | ".join(" ".join(signs[start : start + 3]) for start in (0, 3, 6)))
        return "\n".join(lines)

    def cells(self) -> list[list[Cell]]:
        """Boxes in two shades; what was given in black."""
        return [
            [
                (
                    str(digit or ""),
                    "#e7f0fa" if _box(row, column) % 2 else "#ffffff",
                    "black" if (row, column) in self.given else "#1971c2",
                )
                for column, digit in enumerate(line)
            ]
            for row, line in enumerate(self.grid)
        ]

    def share(self) -> float:
        """Cells that were empty and are right."""
        empty = 81 - len(self.given)
        return (empty - len(self._wrong())) / empty

    def play(self, message: str) -> Turn:
        """Fill a cell."""
        parts = (move_in(message) or "").replace(",", " ").split()
        if len(parts) != 3 or not all(part.isascii() and part.isdecimal() and len(part) < 3 for part in parts):
            return Turn.unreadable("[5 3 7]: row, column and digit")
        row, column, digit = int(parts[0]) - 1, int(parts[1]) - 1, int(parts[2])
        if not (0 <= row < 9 and 0 <= column < 9 and digit <= 9):
            return Turn.illegal("Rows and columns are 1 to 9, digits 0 to 9.")
        if (row, column) in self.given:
            return Turn.illegal("This cell was given.")
        if digit and digit in self._seen(row, column):
            return Turn.illegal(f"{digit} is in this row, column or box.")
        self.grid[row][column] = digit
        if all(all(line) for line in self.grid):
            return Turn.win("The grid is full, and right.")
        return Turn(f"{sum(line.count(0) for line in self.grid)} cells are empty.")

    def _seen(self, row: int, column: int) -> set[int]:
        top, left = row // 3 * 3, column // 3 * 3
        cells = {(row, at) for at in range(9)} | {(at, column) for at in range(9)}
        cells |= {(y, x) for y in range(top, top + 3) for x in range(left, left + 3)}
        return {self.grid[y][x] for y, x in cells - {(row, column)}}

    def _wrong(self) -> list[tuple[int, int]]:
        cells = ((row, column) for row in range(9) for column in range(9))
        return [cell for cell in cells if self.grid[cell[0]][cell[1]] != self.solution[cell[0]][cell[1]]]

    def oracle(self, rng: np.random.Generator) -> str:
        """The digit of the solution, once no wrong one stands in its way."""
        del rng
        filled = [cell for cell in self._wrong() if self.grid[cell[0]][cell[1]]]
        row, column = filled[0] if filled else self._wrong()[0]
        return f"[{row + 1} {column + 1} {0 if filled else self.solution[row][column]}]"

    def random(self, rng: np.random.Generator) -> str:
        """Any digit in any cell that was not given."""
        row, column, digit = (int(one) + 1 for one in rng.integers(9, size=3))
        return f"[{row} {column} {digit}]"


class OriginalSudoku(Sudoku):
    """Sudoku as the package `textarena` plays it, board by board: an empty cell takes its digit of the solution, once.

    The first move of a message counts, written with single spaces; after `max_turns` moves the next one is the last.
    """

    settings: ClassVar[dict[str, object]] = {"clues": 60, "max_turns": 100}

    def begin(self) -> None:
        """Draw a grid; no move was taken yet."""
        super().begin()
        self.taken = 0

    def prompt(self) -> str:
        """The rules."""
        return (
            "You are playing Sudoku. Fill the empty cells so that every row, column and box of 3 x 3 has the digits 1 "
            "to 9 once. Write row, column (counted from 1) and digit in square brackets, like [5 3 7]. A cell that is "
            f"filled stays as it is. After {self.set['max_turns']} turns the next one is the last."
        )

    def play(self, message: str) -> Turn:
        """Fill a cell for good."""
        last = self.taken >= self.set["max_turns"]
        turn = self._placed(message)
        if turn.illegal_move or turn.invalid_format:
            turn.over = last
            return turn
        self.taken += 1
        return Turn.loss(f"{turn.message} The turns are over.") if last and not turn.over else turn

    def _placed(self, message: str) -> Turn:
        found = MOVE.search(bracketed(message))
        if not found:
            return Turn.unreadable("[5 3 7]: row, column and digit")
        row, column, digit = (int(one) if len(one) <= MAX_NUMBER_CHARS else 0 for one in found.groups())
        if not all(1 <= one <= 9 for one in (row, column, digit)):
            return Turn.illegal("Rows, columns and digits are 1 to 9.")
        if self.grid[row - 1][column - 1]:
            return Turn.illegal("This cell is filled.")
        if digit != self.solution[row - 1][column - 1]:
            return Turn.illegal(f"{digit} breaks a rule there, now or later.")
        return super().play(f"[{row} {column} {digit}]")
