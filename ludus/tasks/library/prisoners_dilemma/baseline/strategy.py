"""Baseline: tit for tat."""


class Strategy:
    """Does what was done to it."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def move(self, mine: str, theirs: str) -> str:
        """The other's last move; cooperation first."""
        return theirs[-1:] or "C"
