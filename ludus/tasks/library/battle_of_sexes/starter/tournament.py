"""Play strategy.py against four simple ones, as the grader does, without noise."""

from strategy import Strategy

POINTS = {"AA": 2, "BB": 1, "AB": 0, "BA": 0}


def opponent(name: str, own: str, other: str) -> str:
    """The choice of a simple opponent."""
    if name == "follows":
        return other[-1:] or "B"
    if name == "takes turns":
        return "BA"[len(own) % 2]
    return "A" if name == "yields" else "B"


def points(name: str, rounds: int = 80) -> float:
    """Mean points against it."""
    player, mine, theirs = Strategy(0), "", ""
    for _ in range(rounds):
        one, other = player.move(mine, theirs), opponent(name, theirs, mine)
        mine, theirs = mine + one, theirs + other
    return sum(POINTS[one + other] for one, other in zip(mine, theirs, strict=True)) / rounds


if __name__ == "__main__":
    for each in ("yields", "insists", "follows", "takes turns"):
        print(f"{each:12} {points(each):.2f}")  # noqa: T201
