"""GuessTheNumber: higher or lower."""

import re
from typing import ClassVar

import numpy as np

from ludus.envs.open.textarena.game import Cell, Game, Turn, bracketed, move_in
from ludus.rendering import Choice, choice

__all__ = ["GuessTheNumber", "OriginalGuessTheNumber"]

NUMBER = re.compile(r"\[(\d+)\]")
COLUMNS, MOST_SQUARES = 10, 100
"""Of the picture; more numbers are written in words."""
LONGEST_NUMBER = 12
"""Digits; what has more lies outside any range."""


class GuessTheNumber(Game):
    """A number between two bounds; each guess tells whether it is higher or lower."""

    settings: ClassVar[dict[str, object]] = {"min_number": 1, "max_number": 20, "max_turns": 10}

    def begin(self) -> None:
        """Draw a number."""
        low, high = int(self.set["min_number"]), int(self.set["max_number"])
        self.secret = int(self.rng.integers(low, high + 1))
        self.guesses: list[int] = []

    def prompt(self) -> str:
        """The rules."""
        low, high, turns = (self.set[name] for name in ("min_number", "max_number", "max_turns"))
        return (
            f"You are playing Guess the Number. It lies between {low} and {high}, both included; you have {turns} "
            "guesses. Write one in square brackets, like [7]; you are told whether the number is higher or lower."
        )

    def board(self) -> str:
        """All guesses."""
        rows = [f"{guess}: the number is {self._hint(guess)}" for guess in self.guesses]
        return "\n".join([*rows, f"{self.set['max_turns'] - len(self.guesses)} guesses left"])

    def cells(self) -> list[list[Cell]]:
        """All numbers, grey where the hints leave no room."""
        numbers = self._numbers()
        low = max((one for one in self.guesses if one < self.secret), default=self.set["min_number"] - 1)
        high = min((one for one in self.guesses if one > self.secret), default=self.set["max_number"] + 1)
        cells: list[Cell] = [
            (str(one), *_colors(guessed=one in self.guesses, right=one == self.secret, inside=low < one < high))
            for one in numbers
        ]
        cells += [("", "#f8f9fa", "white")] * (-len(cells) % COLUMNS)
        return [cells[at : at + COLUMNS] for at in range(0, len(cells), COLUMNS)]

    def _numbers(self) -> list[int]:
        """As many as the picture has room for, or none."""
        low, high = self.set["min_number"], self.set["max_number"]
        return list(range(low, high + 1)) if high - low < MOST_SQUARES else []

    def choices(self) -> list[Choice]:
        """Numbers that were not guessed, where they are in the picture."""
        numbers = self._numbers()
        rows = -(-len(numbers) // COLUMNS)
        return [
            choice(
                str(one),
                {"message": f"[{one}]"},
                places=[(at % COLUMNS / COLUMNS, at // COLUMNS / rows, 1 / COLUMNS, 1 / rows)],
            )
            for at, one in enumerate(numbers)
            if one not in self.guesses
        ]

    def _hint(self, guess: int) -> str:
        return "higher" if self.secret > guess else "lower" if self.secret < guess else "that"

    def share(self) -> float:
        """How near the last guess was."""
        span = self.set["max_number"] - self.set["min_number"]
        return 1 - abs(self.guesses[-1] - self.secret) / span if self.guesses and span else 0.0

    def play(self, message: str) -> Turn:
        """Take a guess."""
        text = move_in(message) or ""
        if not text.lstrip("-").isdecimal() or not text.isascii() or len(text) > LONGEST_NUMBER:
            return Turn.unreadable("[7]")
        guess = int(text)
        if not self.set["min_number"] <= guess <= self.set["max_number"]:
            return Turn.illegal(f"{guess} is not between {self.set['min_number']} and {self.set['max_number']}.")
        if guess in self.guesses:
            return Turn.illegal(f"{guess} was guessed before.")
        self.guesses.append(guess)
        if guess == self.secret:
            return Turn.win(f"{guess} is the number.")
        if len(self.guesses) >= self.set["max_turns"]:
            return Turn.loss(f"No guesses are left. The number was {self.secret}.")
        return Turn(f"The number is {self._hint(guess)} than {guess}.")

    def oracle(self, rng: np.random.Generator) -> str:
        """The number."""
        del rng
        return f"[{self.secret}]"

    def random(self, rng: np.random.Generator) -> str:
        """Any number."""
        return f"[{rng.integers(self.set['min_number'], self.set['max_number'] + 1)}]"


class OriginalGuessTheNumber(GuessTheNumber):
    """As OpenEnv's clients know it: the package's rules in our own words; the first number in brackets counts.

    After `max_turns` guesses the next one is the last.
    """

    voice: ClassVar[str | None] = "Player"

    def prompt(self) -> str:
        """The rules."""
        low, high, turns = (self.set[name] for name in ("min_number", "max_number", "max_turns"))
        return (
            f"Guess the number: it lies between {low} and {high}, and you have {turns} turns.\n"
            "Write a guess in square brackets, like [5]; whatever else you write is not read. The answer to each is "
            "'higher' or 'lower'.\nBegin with your first guess."
        )

    def play(self, message: str) -> Turn:
        """Take a guess; nothing is said where it ends the game."""
        found = NUMBER.search(bracketed(message))
        if found is None:
            return _refused("No number stands in square brackets.", readable=False)
        last = len(self.guesses) >= self.set["max_turns"]
        digits = found[1].lstrip("0")
        guess = int(digits or 0) if len(digits) <= LONGEST_NUMBER else self.set["max_number"] + 1
        if not self.set["min_number"] <= guess <= self.set["max_number"]:
            return _refused("The number lies outside the range.", over=last)
        if guess in self.guesses:
            return _refused("The number was guessed before.", over=last)
        self.guesses.append(guess)
        if guess == self.secret:
            return Turn.win("")
        hint = f"The target number is {self._hint(guess)}."  # the words that programs search for
        return Turn.loss(hint) if last else Turn(hint)


def _colors(*, guessed: bool, right: bool, inside: bool) -> tuple[str, str]:
    """Of the field and of the number in it."""
    if guessed:
        return "#2f9e44" if right else "#e8590c", "white"
    return ("#ffffff", "#343a40") if inside else ("#ced4da", "#868e96")


def _refused(reason: str, *, readable: bool = True, over: bool = False) -> Turn:
    return Turn(reason, over=over, illegal_move=readable, invalid_format=not readable)
