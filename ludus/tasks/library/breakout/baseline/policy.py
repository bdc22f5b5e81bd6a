"""Baseline: be below the ball."""


class Policy:
    """Follows."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def act(self, picture: list[list[int]]) -> int:
        """Towards the column of the ball."""
        ball = next((row.index(2) for row in picture if 2 in row), 5)
        paddle = [at for at, cell in enumerate(picture[-1]) if cell == 3]
        middle = sum(paddle) / max(1, len(paddle))
        return 0 if abs(ball - middle) < 0.5 else 1 if ball < middle else 2
