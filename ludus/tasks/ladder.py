"""`Ladder`: what `validate` tells: the best normalised score in steps of the resolution, and nothing finer.

Shown exactly, the score of a public split can be climbed: change one prediction, keep it if the score rises. Shown only
when it beats the best by a whole step, as the Ladder of Blum and Hardt has it, a few validations say almost nothing of
single rows.
"""

import math

import msgspec

__all__ = ["Ladder"]


class Ladder(msgspec.Struct):
    """The best rung that was reached.

    >>> ladder = Ladder(0.1)
    >>> ladder.update(0.37), ladder.update(0.39), ladder.update(0.2), ladder.update(0.42)
    (0.3, 0.3, 0.3, 0.4)
    """

    resolution: float
    best: float = 0.0

    def update(self, normalised: float) -> float:
        """What is shown of a score: the best so far, or a higher rung where this one reaches it."""
        rung = math.floor(normalised / self.resolution + 1e-9) * self.resolution if self.resolution > 0 else normalised
        self.best = round(max(self.best, rung), 9)
        return self.best
