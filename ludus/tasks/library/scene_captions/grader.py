"""BLEU of captions: words, pairs and triples, against all captions that are right, averaged over pictures."""

import json
from collections import Counter
from typing import TypedDict

import numpy as np

from ludus.tasks.inside.case import Case

LONGEST, SMOOTH = 3, 0.1


class CaptionedPicture(TypedDict):
    """A picture and all captions of it that are right, as the generator wrote them."""

    id: str
    split: str
    captions: list[str]


def grade(case: Case) -> dict[str, float]:
    """Score the pictures of one split; a submission has to caption all of them."""
    rows: list[CaptionedPicture] = json.loads((case.hidden / "captions.json").read_text())
    predicted = case.predictions("submission.csv", [row["id"] for row in rows])
    pairs = [(one, row["captions"]) for one, row in zip(predicted, rows, strict=True) if row["split"] == case.split]
    scores = [max(bleu(one.split(), caption.split()) for caption in captions) for one, captions in pairs]
    return {"bleu": float(np.mean(scores)), "exact": float(np.mean([one in captions for one, captions in pairs]))}


def bleu(told: list[str], right: list[str]) -> float:
    """The geometric mean of the shares of words, pairs and triples that are right; short captions are punished."""
    if not told:
        return 0.0
    shares: list[float] = []
    for size in range(1, LONGEST + 1):
        mine, theirs = grams(told, size), grams(right, size)
        both = sum((mine & theirs).values())
        shares.append(max(both, SMOOTH) / max(1, sum(mine.values())))
    brevity = min(1.0, float(np.exp(1 - len(right) / len(told))))
    return brevity * float(np.exp(np.mean(np.log(shares))))


def grams(words: list[str], size: int) -> Counter[tuple[str, ...]]:
    """Neighbouring words, counted."""
    return Counter(tuple(words[at : at + size]) for at in range(len(words) - size + 1))
