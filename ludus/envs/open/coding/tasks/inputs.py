"""Inputs of problems: each function draws the arguments of one call."""

from collections.abc import Callable, Sequence

import numpy as np

__all__ = ["choice_of", "edges", "grid", "integer", "letters", "matrix", "number_lists", "numbers", "together", "words"]

Draw = Callable[[np.random.Generator], object]
SYLLABLES = ("ba", "ce", "di", "fo", "gu", "ha", "ki", "lo", "me", "nu", "pa", "ri", "so", "ta", "vu", "we", "ya", "zo")


def together(*draws: Draw) -> Callable[[np.random.Generator], tuple[object, ...]]:
    """Several arguments, each drawn by its own."""
    return lambda rng: tuple(draw(rng) for draw in draws)


def integer(low: int, high: int) -> Draw:
    """A number from low to high."""
    return lambda rng: int(rng.integers(low, high + 1))


def numbers(low: int = -20, high: int = 20, shortest: int = 0, longest: int = 9) -> Draw:
    """A list of numbers."""
    return lambda rng: [int(one) for one in rng.integers(low, high + 1, int(rng.integers(shortest, longest + 1)))]


def number_lists(low: int = 0, high: int = 9) -> Draw:
    """A list of lists of numbers."""
    return lambda rng: [numbers(low, high, 0, 4)(rng) for _ in range(int(rng.integers(0, 5)))]


def letters(alphabet: str = "abcde", shortest: int = 0, longest: int = 10) -> Draw:
    """Text over an alphabet."""
    return lambda rng: "".join(rng.choice(list(alphabet), int(rng.integers(shortest, longest + 1))).tolist())


def words(shortest: int = 0, longest: int = 6) -> Draw:
    """A list of words of one to three syllables, now and then one twice."""

    def draw(rng: np.random.Generator) -> list[str]:
        size = int(rng.integers(shortest, longest + 1))
        return ["".join(rng.choice(SYLLABLES[:9], int(rng.integers(1, 4))).tolist()) for _ in range(size)]

    return draw


def choice_of(options: Sequence[object]) -> Draw:
    """One of the options."""
    return lambda rng: options[int(rng.integers(len(options)))]


def matrix(low: int = 0, high: int = 9, square: bool = False) -> Draw:
    """Rows of one length, at least one."""

    def draw(rng: np.random.Generator) -> list[list[int]]:
        rows = int(rng.integers(1, 5))
        columns = rows if square else int(rng.integers(1, 5))
        return [[int(one) for one in row] for row in rng.integers(low, high + 1, (rows, columns))]

    return draw


def grid(symbols: str = "..#") -> Draw:
    """Rows of text of one length, as a map."""

    def draw(rng: np.random.Generator) -> list[str]:
        columns = int(rng.integers(2, 7))
        return ["".join(rng.choice(list(symbols), columns).tolist()) for _ in range(int(rng.integers(2, 7)))]

    return draw


def edges(nodes: int = 6, most: int = 9, weighted: bool = False) -> Draw:
    """Pairs of different nodes, with a weight from 1 to 9 where asked for."""

    def draw(rng: np.random.Generator) -> list[list[int]]:
        found: list[list[int]] = []
        for _ in range(int(rng.integers(0, most + 1))):
            start, end = (int(one) for one in rng.choice(nodes, 2, replace=False))
            if all({start, end} != {one[0], one[1]} for one in found):
                found.append([start, end, int(rng.integers(1, 10))] if weighted else [start, end])
        return found

    return draw
