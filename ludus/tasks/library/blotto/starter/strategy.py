"""Your strategy. This one divides evenly; you can do better."""


class Strategy:
    """One match."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def allocate(self, mine: list[list[int]], theirs: list[list[int]]) -> list[int]:
        """Six numbers that add up to 60; the histories are empty in the first round."""
        return [10, 10, 10, 10, 10, 10]
