"""Reference: contexts of many lengths, each blended into the shorter one (Witten and Bell), and the text itself."""

import json
from pathlib import Path

import numpy as np

ALPHABET = "abcdefghijklmnopqrstuvwxyz ."
ORDER, OWN = 8, 4
PLACE = {letter: at for at, letter in enumerate(ALPHABET)}


class Model:
    """Counts of the training text, and those of the text so far."""

    def __init__(self) -> None:
        self.counts: dict[str, str] = json.loads(Path(__file__).with_name("weights.json").read_text())

    def next(self, texts: list[str]) -> list[list[float]]:
        """The chances of what comes next, for each text."""
        return [self.one(text).tolist() for text in texts]

    def one(self, text: str) -> np.ndarray:
        """From the shortest context to the longest: each takes a part that grows with how sure it is."""
        text = f". {text}" if text else ". "
        chances = np.full(len(ALPHABET), 1 / len(ALPHABET))
        for order in range(min(ORDER, len(text)) + 1):
            context = text[len(text) - order :]
            seen = self.row(context)
            if seen is None:
                break
            kinds, total = (seen > 0).sum(), seen.sum()
            chances = (seen + 0.8 * kinds * chances) / (total + 0.8 * kinds)
        return self.own(text, chances)

    def own(self, text: str, chances: np.ndarray) -> np.ndarray:
        """The text so far repeats itself more than the language does: topics."""
        context = text[-OWN:]
        seen = np.zeros(len(ALPHABET))
        at = text.find(context)
        while at >= 0 and at + OWN < len(text):
            seen[PLACE[text[at + OWN]]] += 1
            at = text.find(context, at + 1)
        return (seen + 6 * chances) / (seen.sum() + 6)

    def row(self, context: str) -> np.ndarray | None:
        """What followed a context; None where it was hardly seen."""
        found = self.counts.get(context)
        if found is None:
            return None
        row = np.zeros(len(ALPHABET))
        for one in found.split(",")[:-1]:
            row[PLACE[one[0]]] = float(one[1:])
        return row
