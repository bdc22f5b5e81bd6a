"""Play strategy.py against three simple ones, as the grader does."""

import random

from strategy import Strategy


def opponent(name: str, turn: int) -> list[int]:
    """The division of a simple opponent."""
    if name == "concentrates":
        return [20, 20, 20, 0, 0, 0]
    parts = [18, 15, 12, 9, 5, 1]
    if name == "rotates":
        return parts[turn % 6 :] + parts[: turn % 6]
    return random.sample(parts, 6)


def score(name: str, rounds: int = 30) -> float:
    """The mean result against it."""
    player = Strategy(0)
    mine: list[list[int]] = []
    theirs: list[list[int]] = []
    total = 0
    for turn in range(rounds):
        one, other = player.allocate(mine, theirs), opponent(name, turn)
        mine.append(one)
        theirs.append(other)
        taken = sum((a > b) - (a < b) for a, b in zip(one, other, strict=True))
        total += (taken > 0) - (taken < 0)
    return total / rounds


if __name__ == "__main__":
    for each in ("concentrates", "rotates", "shuffles"):
        print(f"{each:12} {score(each):+.2f}")  # noqa: T201
