"""Bits per character: the submitted model is asked for one character of every text at a time."""

import json

import numpy as np
import numpy.typing as npt

from ludus.tasks.inside.case import Case, Rejected

SECONDS, LEAST = 60.0, 1e-6
ALPHABET = "abcdefghijklmnopqrstuvwxyz ."


def grade(case: Case) -> dict[str, float]:
    """Ask for all texts of the split side by side."""
    case.read_json("weights.json")
    texts: list[str] = json.loads((case.hidden / "texts.json").read_text())[case.split]
    bits: list[float] = []
    with case.program("model.py", seconds=SECONDS) as program:
        model = program.make("Model")
        for at in range(max(len(text) for text in texts)):
            asked = [text for text in texts if len(text) > at]
            chances = checked(model.call("next", [text[:at] for text in asked]), len(asked))
            came = [ALPHABET.index(text[at]) for text in asked]
            bits += [-float(np.log2(max(LEAST, row[one]))) for row, one in zip(chances, came, strict=True)]
    return {"bits_per_character": float(np.mean(bits)), "perplexity": float(2 ** np.mean(bits))}


def checked(given: npt.ArrayLike, count: int) -> np.ndarray:
    """The chances; Rejected where they are none."""
    try:
        chances = np.array(given, np.float64)
    except (TypeError, ValueError, OverflowError):
        raise Rejected("model.py: expected next to return lists of numbers, got something else") from None
    if chances.shape != (count, len(ALPHABET)):
        raise Rejected(f"model.py: expected {len(ALPHABET)} chances for each of {count} texts, got something else")
    if not np.isfinite(chances).all() or (chances < 0).any() or (np.abs(chances.sum(axis=1) - 1) > 1e-3).any():
        raise Rejected("model.py: expected chances that are not negative and add up to 1, got others")
    return chances / chances.sum(axis=1, keepdims=True)
