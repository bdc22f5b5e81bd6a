"""Countdown: reach a number with the four operations."""

import re
from typing import ClassVar

import numpy as np

from ludus.envs.open.textarena.game import Game, Turn, move_in
from ludus.errors import InvalidArgument

__all__ = ["Countdown", "value_of"]

TOKEN = re.compile(r"\s*(\d{1,6}|[-+*/()×x÷])")
STRENGTH = {"+": 1, "-": 1, "*": 2, "/": 2}
SAME = {"×": "*", "x": "*", "÷": "/"}
LARGE = (25, 50, 75, 100)


def value_of(formula: str) -> tuple[int, list[int]] | None:
    """The value of a formula of whole numbers and what it uses; None where it is none, or does not come out even.

    >>> value_of("(100 - 4) / 2 + 1"), value_of("7 / 2"), value_of("1 +")
    ((49, [100, 4, 2, 1]), None, None)
    """
    values: list[int] = []
    signs: list[str] = []
    used: list[int] = []
    at, wants_value = 0, True
    while at < len(formula.rstrip()):
        found = TOKEN.match(formula, at)
        if found is None:
            return None
        at, part = found.end(), SAME.get(found[1], found[1])
        if (part.isdigit() or part == "(") != wants_value:
            return None
        if part.isdigit():
            used.append(int(part))
            values.append(int(part))
            wants_value = False
        elif part == "(":
            signs.append(part)
        elif part == ")":
            if not _reduce(values, signs, 0) or not signs or signs.pop() != "(":
                return None
        else:
            if not _reduce(values, signs, STRENGTH[part]):
                return None
            signs.append(part)
            wants_value = True
    if wants_value or not _reduce(values, signs, 0) or signs:
        return None
    return values[0], used


def _reduce(values: list[int], signs: list[str], least: int) -> bool:
    """Work off operations of at least a strength, back to a bracket; False where one does not come out even."""
    while signs and signs[-1] != "(" and STRENGTH[signs[-1]] >= least:
        right, left, sign = values.pop(), values.pop(), signs.pop()
        if sign == "/" and (right == 0 or left % right):
            return False
        values.append({"+": left + right, "-": left - right, "*": left * right}.get(sign, left // (right or 1)))
    return True


class Countdown(Game):
    """Six numbers, each used once at most, and a target that they can make."""

    settings: ClassVar[dict[str, object]] = {"max_turns": 8, "large": 2}

    def begin(self) -> None:
        """Draw numbers, and a target with a formula that makes it."""
        if not 0 <= self.set["large"] <= 4:
            raise InvalidArgument(f"Countdown large: expected 0 to 4, got {self.set['large']}")
        drawn: int = self.set["large"]
        large = [LARGE[int(at)] for at in self.rng.choice(4, drawn, replace=False)]
        small = [int(one) for one in self.rng.integers(1, 11, 6 - len(large))]
        self.numbers = sorted(large + small, reverse=True)
        self.target, self.solution = 0, ""
        while not 101 <= self.target <= 999:
            self.target, self.solution = self._drawn()
        self.tries = 0
        self.best: int | None = None

    def _drawn(self) -> tuple[int, str]:
        parts = [(one, str(one)) for one in self.numbers]
        for _ in range(int(self.rng.integers(3, 6))):
            first, second = (int(at) for at in self.rng.choice(len(parts), 2, replace=False))
            (left, left_text), (right, right_text) = parts[first], parts[second]
            options = [(left + right, "+"), (left * right, "*")] + ([(left - right, "-")] if left > right else [])
            value, sign = options[int(self.rng.integers(len(options)))]
            parts = [part for at, part in enumerate(parts) if at not in (first, second)]
            parts.append((value, f"({left_text}{sign}{right_text})"))
        return parts[-1]

    def prompt(self) -> str:
        """The rules."""
        return (
            f"You are playing Countdown. Make {self.target} of the numbers {', '.join(map(str, self.numbers))}, each "
            f"used once at most, with + - * / and brackets; divisions come out even. You have "
            f"{self.set['max_turns']} tries. Write a formula in square brackets, like [(100 - 4) * 2]."
        )

    def board(self) -> str:
        """Numbers, target, and the best so far."""
        best = "-" if self.best is None else str(self.best)
        left = self.set["max_turns"] - self.tries
        return f"numbers: {' '.join(map(str, self.numbers))}\ntarget: {self.target}\nbest: {best}\n{left} tries left"

    def play(self, message: str) -> Turn:
        """Take a formula."""
        formula = move_in(message)
        found = None if formula is None else value_of(formula)
        if found is None:
            return Turn.unreadable("[(100 - 4) * 2], in whole numbers")
        value, used = found
        wrong = [one for one in set(used) if used.count(one) > self.numbers.count(one)]
        if wrong:
            return Turn.illegal(f"{wrong[0]} is not there, or not so often.")
        self.tries += 1
        if self.best is None or abs(value - self.target) < abs(self.best - self.target):
            self.best = value
        signals = {"countdown.distance": float(abs(value - self.target))}
        if value == self.target:
            return Turn.win(f"{formula} is {value}.", signals=signals)
        if self.tries >= self.set["max_turns"]:
            return Turn.loss(f"{formula} is {value}. No tries are left.", signals=signals)
        return Turn(f"{formula} is {value}, not {self.target}.", signals=signals)

    def oracle(self, rng: np.random.Generator) -> str:
        """A formula that makes it."""
        del rng
        return f"[{self.solution}]"

    def random(self, rng: np.random.Generator) -> str:
        """Two numbers, and an operation."""
        first, second = rng.choice(self.numbers, 2, replace=False)
        return f"[{first} {rng.choice(['+', '-', '*'])} {second}]"
