"""Reference: a force that grows with the speed, by weights that were searched for."""

import json
import math
from pathlib import Path


class Policy:
    """Two numbers and a bias."""

    def __init__(self) -> None:
        self.weights: list[float] = json.loads(Path(__file__).with_name("weights.json").read_text())

    def act(self, observations: list[list[float]]) -> list[float]:
        """As `solution.py` has trained it."""
        speed, place, bias = self.weights
        return [math.tanh(speed * velocity + place * (position + 0.5) + bias) for position, velocity in observations]
