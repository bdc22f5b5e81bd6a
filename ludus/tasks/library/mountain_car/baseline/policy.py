"""Baseline: full force in the direction in which the car rolls."""


class Policy:
    """Swings up."""

    def act(self, observations: list[list[float]]) -> list[float]:
        """The sign of each velocity."""
        return [1.0 if velocity >= 0 else -1.0 for _, velocity in observations]
