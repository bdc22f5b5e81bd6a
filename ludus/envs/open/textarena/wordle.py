"""Wordle: a word of five letters in six guesses."""

import re
from typing import ClassVar

import numpy as np

from ludus.envs.open.textarena.game import Cell, Game, Turn, bracketed, move_in
from ludus.envs.open.textarena.words import FIVE

__all__ = ["OriginalWordle", "Wordle", "marks_of"]

WORD = re.compile(r"\[(\w+)\]")
LETTERS = 5

TILES = {"G": "#2f9e44", "Y": "#e8a200", "X": "#868e96"}


def marks_of(secret: str, guess: str) -> str:
    """G for a letter in its place, Y for one elsewhere, X for one that is not there; repeated letters are counted.

    >>> marks_of("crane", "eerie")
    'XXYXG'
    """
    marks = ["G" if one == other else "X" for one, other in zip(secret, guess, strict=True)]
    left = [one for one, mark in zip(secret, marks, strict=True) if mark != "G"]
    for at, letter in enumerate(guess):
        if marks[at] != "G" and letter in left:
            left.remove(letter)
            marks[at] = "Y"
    return "".join(marks)


class Wordle(Game):
    """Each guess tells which letters are right, and which are elsewhere."""

    settings: ClassVar[dict[str, object]] = {"num_guesses": 6}

    def begin(self) -> None:
        """Draw a word."""
        self.secret = FIVE[int(self.rng.integers(len(FIVE)))]
        self.guesses: list[str] = []

    def prompt(self) -> str:
        """The rules."""
        return (
            f"You are playing Wordle. A secret word of five letters has been chosen; you have "
            f"{self.set['num_guesses']} guesses. Write your guess in square brackets, like [apple]. The answer marks "
            "each letter: G is in its place, Y is in the word but elsewhere, X is not in the word."
        )

    def board(self) -> str:
        """All guesses with their marks."""
        rows = [f"{' '.join(guess.upper())}\n{' '.join(marks_of(self.secret, guess))}" for guess in self.guesses]
        return "\n".join([*rows, f"{self.set['num_guesses'] - len(self.guesses)} guesses left"])

    def cells(self) -> list[list[Cell]]:
        """A tile for each letter."""
        rows = [
            [
                (letter.upper(), TILES[mark], "white")
                for letter, mark in zip(guess, marks_of(self.secret, guess), strict=True)
            ]
            for guess in self.guesses
        ]
        return rows + [[("", "#e9ecef", "white")] * 5] * (self.set["num_guesses"] - len(rows))

    def share(self) -> float:
        """Of the last guess: letters in their places, and half of those elsewhere."""
        marks = marks_of(self.secret, self.guesses[-1]) if self.guesses else ""
        return (marks.count("G") + marks.count("Y") / 2) / 5

    def play(self, message: str) -> Turn:
        """Take a guess."""
        guess = (move_in(message) or "").lower()
        if len(guess) != 5 or not guess.isascii() or not guess.isalpha():
            return Turn.unreadable("[crane], a word of five letters")
        if guess in self.guesses:
            return Turn.illegal(f"{guess.upper()} was guessed before.")
        signals, marks = self._guessed(guess)
        if guess == self.secret:
            return Turn.win(f"{guess.upper()} is the word.", signals=signals)
        if len(self.guesses) >= self.set["num_guesses"]:
            return Turn.loss(f"No guesses are left. The word was {self.secret.upper()}.", signals=signals)
        return Turn(f"{' '.join(guess.upper())}\n{' '.join(marks)}", signals=signals)

    def _guessed(self, guess: str) -> tuple[dict[str, float], str]:
        """Count it; what OpenEnv's signals tell of it, and its marks."""
        self.guesses.append(guess)
        marks = marks_of(self.secret, guess)
        signals = {
            "wordle.greens": marks.count("G") / 5,
            "wordle.yellows": marks.count("Y") / 5,
            "wordle.correct": float(guess == self.secret),
        }
        return signals, marks

    def oracle(self, rng: np.random.Generator) -> str:
        """The word."""
        del rng
        return f"[{self.secret}]"

    def random(self, rng: np.random.Generator) -> str:
        """Any word."""
        return f"[{rng.choice(FIVE)}]"


class OriginalWordle(Wordle):
    """As OpenEnv's clients know it: the package's rules and rows in our own words, but five letters are a word here.

    The first word in brackets counts.
    """

    voice: ClassVar[str | None] = "GAME"

    def prompt(self) -> str:
        """The rules."""
        return (
            f"Wordle: find the secret word of {LETTERS} letters within {self.set['num_guesses']} guesses.\n"
            "Write a guess in square brackets, like [crane]. Below its letters you are shown, for each of them:\n"
            "  G: it stands at this place\n  Y: it stands at another place\n  X: the word does not have it\n"
            "Begin with your first guess.\n"
        )

    def play(self, message: str) -> Turn:
        """Take a guess; nothing is said where it is the word."""
        found = WORD.search(bracketed(message))
        if found is None:
            return Turn("No word stands in square brackets.", invalid_format=True)
        guess = found[1].lower()
        if len(guess) != LETTERS:
            return Turn(f"A guess has {LETTERS} letters.", illegal_move=True)
        if guess in self.guesses:
            return Turn(f"{guess.upper()} was guessed before.", illegal_move=True)
        if not guess.isascii() or not guess.isalpha():
            return Turn(f"{guess.upper()} is no word.", illegal_move=True)
        signals, marks = self._guessed(guess)
        if guess == self.secret:
            return Turn.win("", signals=signals)
        left = self.set["num_guesses"] - len(self.guesses)
        feedback = f"Feedback:\n{' '.join(guess.upper())}\n{' '.join(marks)}\nGuesses left: {left}"
        return Turn(feedback, signals=signals) if left else Turn.loss(feedback, signals=signals)
