"""Mastermind: a code of numbers, by black and white pegs."""

from typing import ClassVar

import numpy as np

from ludus.envs.open.textarena.game import Cell, Game, Turn, move_in
from ludus.errors import InvalidArgument

__all__ = ["Mastermind", "pegs_of"]

COLORS = ("#e03131", "#1971c2", "#2f9e44", "#f08c00", "#9c36b5", "#0c8599", "#846358", "#495057")
"""Of numbers, over and over."""
HOLE: Cell = ("", "#e9ecef", "white")
PEGS: tuple[Cell, Cell] = ("", "#212529", "white"), ("", "#ffffff", "white")


def pegs_of(secret: list[int], guess: list[int]) -> tuple[int, int]:
    """Black pegs for numbers in their places, white ones for those elsewhere.

    >>> pegs_of([1, 2, 3, 4], [1, 3, 5, 6])
    (1, 1)
    """
    black = sum(one == other for one, other in zip(secret, guess, strict=True))
    return black, sum(min(secret.count(one), guess.count(one)) for one in set(guess)) - black


class Mastermind(Game):
    """Each guess tells how many numbers are in their places, and how many are elsewhere."""

    settings: ClassVar[dict[str, object]] = {
        "code_length": 4,
        "num_numbers": 6,
        "max_turns": 12,
        "duplicate_numbers": False,
    }

    def begin(self) -> None:
        """Draw a code."""
        length, numbers, twice = self._code()
        if not 1 <= length <= 12 or not (twice or length <= numbers):
            raise InvalidArgument(
                f"Mastermind: expected a code of 1 to {numbers if not twice else 12} numbers, got {length}"
            )
        self.secret = [int(one) + 1 for one in self.rng.choice(numbers, length, replace=twice)]
        self.guesses: list[list[int]] = []

    def _code(self) -> tuple[int, int, bool]:
        """How many places it has, how many numbers there are, and whether one may be there twice."""
        return self.set["code_length"], self.set["num_numbers"], self.set["duplicate_numbers"]

    def prompt(self) -> str:
        """The rules."""
        length, numbers = self.set["code_length"], self.set["num_numbers"]
        again = "may be there twice" if self.set["duplicate_numbers"] else "are all different"
        return (
            f"You are playing Mastermind. A code of {length} numbers from 1 to {numbers} was chosen; they {again}. "
            f"You have {self.set['max_turns']} guesses. Write them in square brackets, like "
            f"[{' '.join(str(one + 1) for one in range(length))}]. A black peg is a number in its place, a white one a "
            "number that is elsewhere."
        )

    def board(self) -> str:
        """All guesses with their pegs."""
        rows = [f"{' '.join(map(str, guess))}: {self._pegs(guess)}" for guess in self.guesses]
        return "\n".join([*rows, f"{self.set['max_turns'] - len(self.guesses)} guesses left"])

    def cells(self) -> list[list[Cell]]:
        """A row for each guess: its numbers, and pegs beside them."""
        length, rows = len(self.secret), list[list[Cell]]()
        for guess in self.guesses:
            black, white = pegs_of(self.secret, guess)
            numbers: list[Cell] = [(str(one), COLORS[(one - 1) % len(COLORS)], "white") for one in guess]
            pegs = [PEGS[0]] * black + [PEGS[1]] * white + [HOLE] * (length - black - white)
            rows.append([*numbers, HOLE, *pegs])
        return rows + [[HOLE] * (2 * length + 1)] * (self.set["max_turns"] - len(rows))

    def _pegs(self, guess: list[int]) -> str:
        black, white = pegs_of(self.secret, guess)
        return f"{black} black, {white} white"

    def share(self) -> float:
        """Of the last guess: black pegs, and half of the white ones."""
        black, white = pegs_of(self.secret, self.guesses[-1]) if self.guesses else (0, 0)
        return (black + white / 2) / len(self.secret)

    def play(self, message: str) -> Turn:
        """Take a guess."""
        parts = (move_in(message) or "").replace(",", " ").split()
        length, numbers = self.set["code_length"], self.set["num_numbers"]
        if len(parts) != length or not all(part.isascii() and part.isdecimal() and len(part) < 4 for part in parts):
            return Turn.unreadable(f"[{' '.join(str(one + 1) for one in range(length))}]")
        guess = [int(part) for part in parts]
        if not all(1 <= one <= numbers for one in guess):
            return Turn.illegal(f"Numbers are from 1 to {numbers}.")
        if not self.set["duplicate_numbers"] and len(set(guess)) < length:
            return Turn.illegal("The numbers are all different.")
        self.guesses.append(guess)
        if guess == self.secret:
            return Turn.win("That is the code.")
        if len(self.guesses) >= self.set["max_turns"]:
            return Turn.loss(f"No guesses are left. The code was {' '.join(map(str, self.secret))}.")
        return Turn(f"{' '.join(map(str, guess))}: {self._pegs(guess)}.")

    def oracle(self, rng: np.random.Generator) -> str:
        """The code."""
        del rng
        return f"[{' '.join(map(str, self.secret))}]"

    def random(self, rng: np.random.Generator) -> str:
        """Any code."""
        length, numbers, twice = self._code()
        drawn = rng.choice(numbers, length, replace=twice)
        return f"[{' '.join(str(one + 1) for one in drawn)}]"
