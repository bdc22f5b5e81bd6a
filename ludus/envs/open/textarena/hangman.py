"""Hangman: a word, letter by letter."""

from typing import ClassVar

import numpy as np

from ludus.envs.open.textarena.game import Cell, Game, Turn, move_in
from ludus.envs.open.textarena.words import LONG
from ludus.rendering import Choice, choice

__all__ = ["Hangman"]

LETTERS = "abcdefghijklmnopqrstuvwxyz"
COLUMNS, FIRST_ROW = 10, 3
"""Of the picture, and where its letters begin: above them are the word and the tries."""
EMPTY: Cell = ("", "#f8f9fa", "white")


class Hangman(Game):
    """A letter that is there is shown in all its places; one that is not costs a try."""

    settings: ClassVar[dict[str, object]] = {"tries": 6}

    def begin(self) -> None:
        """Draw a word."""
        self.secret = LONG[int(self.rng.integers(len(LONG)))]
        self.guesses: list[str] = []
        self.wrong = 0

    def prompt(self) -> str:
        """The rules."""
        return (
            f"You are playing Hangman. A secret word of {len(self.secret)} letters has been chosen; "
            f"{self.set['tries']} wrong guesses lose. Write a letter in square brackets, like [e], or the "
            "whole word, like [planet]."
        )

    def board(self) -> str:
        """The word as far as it is known."""
        shown = " ".join(letter.upper() if letter in self.guesses else "_" for letter in self.secret)
        return f"{shown}\nguessed: {' '.join(self.guesses) or '-'}\n{self.set['tries'] - self.wrong} tries left"

    def cells(self) -> list[list[Cell]]:
        """The word, the tries that are left and lost, and all letters."""
        word: list[Cell] = [(one.upper() if one in self.guesses else "", "#fff3bf", "#343a40") for one in self.secret]
        lost: list[Cell] = [("x", "#fa5252", "white")] * self.wrong
        left: list[Cell] = [("", "#8ce99a", "white")] * (self.set["tries"] - self.wrong)
        letters = [self._letter(one) for one in LETTERS] + [EMPTY] * (-len(LETTERS) % COLUMNS)
        rows = [_row(word), [EMPTY] * COLUMNS, _row([*lost, *left])]
        return rows + [letters[at : at + COLUMNS] for at in range(0, len(letters), COLUMNS)]

    def _letter(self, one: str) -> Cell:
        if one not in self.guesses:
            return one.upper(), "#dee2e6", "#343a40"
        return one.upper(), "#51cf66" if one in self.secret else "#adb5bd", "white"

    def choices(self) -> list[Choice]:
        """Letters that were not guessed, where they are in the picture."""
        rows = len(self.cells())
        return [
            choice(
                one.upper(),
                {"message": f"[{one}]"},
                places=[(at % COLUMNS / COLUMNS, (FIRST_ROW + at // COLUMNS) / rows, 1 / COLUMNS, 1 / rows)],
            )
            for at, one in enumerate(LETTERS)
            if one not in self.guesses
        ]

    def share(self) -> float:
        """Letters that are shown."""
        return sum(letter in self.guesses for letter in self.secret) / len(self.secret)

    def play(self, message: str) -> Turn:
        """Take a letter or a word."""
        guess = (move_in(message) or "").lower()
        if not guess.isascii() or not guess.isalpha():
            return Turn.unreadable("[e], or a whole word")
        if guess in self.guesses:
            return Turn.illegal(f"{guess.upper()} was guessed before.")
        if len(guess) not in (1, len(self.secret)):
            return Turn.illegal(f"{guess.upper()} is neither a letter nor a word of {len(self.secret)} letters.")
        self.guesses.append(guess)
        if guess == self.secret or all(letter in self.guesses for letter in self.secret):
            return Turn.win(f"The word is {self.secret.upper()}.")
        if guess in self.secret:
            return Turn(f"{guess.upper()} is in the word.")
        self.wrong += 1
        if self.wrong >= self.set["tries"]:
            return Turn.loss(f"No tries are left. The word was {self.secret.upper()}.")
        return Turn(f"{guess.upper()} is not {'in ' if len(guess) == 1 else ''}the word.")

    def oracle(self, rng: np.random.Generator) -> str:
        """The word."""
        del rng
        return f"[{self.secret}]"

    def random(self, rng: np.random.Generator) -> str:
        """A letter that was not guessed yet."""
        left = [letter for letter in LETTERS if letter not in self.guesses]
        return f"[{rng.choice(left)}]"


def _row(cells: list[Cell]) -> list[Cell]:
    return [*cells, *[EMPTY] * COLUMNS][:COLUMNS]
