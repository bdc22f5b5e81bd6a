"""Your strategy. This one always cooperates; you can do better."""


class Strategy:
    """One match."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def move(self, mine: str, theirs: str) -> str:
        """The next move, "C" or "D"; the histories are empty in the first round."""
        return "C"
