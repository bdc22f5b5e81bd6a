"""Sentences of a small logic of kinds, in words that mean something else in every run; labels by its laws."""

import csv
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np

TRAIN, TEST, WRONG = 700, 600, 0.04
LABELS = ("entailment", "contradiction", "neutral")
SOUNDS = ("bdfgklmnprstvz", "aeiou", "bdgklmnprstz", "aeiou", "lmnrs")
Sentence = tuple[str, int, int]
OPPOSITE = {"all": "some_not", "some_not": "all", "none": "some", "some": "none"}


def generate(seed: int, public: Path, hidden: Path) -> None:
    """Write `train.csv` and `test.csv` for the agent, and `labels.csv` for the grader."""
    rng = np.random.default_rng(seed)
    words = _names(rng, 8)
    meanings = dict(zip(rng.permutation(words).tolist(), list(OPPOSITE) * 2, strict=True))
    count = TRAIN + TEST
    labels = rng.permutation([LABELS[at % 3] for at in range(count)]).tolist()
    rows = [_example(rng, meanings, label) for label in labels]
    ids = [f"n{number:05d}" for number in rng.permutation(100_000)[:count]]
    noisy = [str(rng.choice(LABELS)) if rng.random() < WRONG * 1.5 else label for label in labels]
    with (public / "train.csv").open("w", newline="") as train, (public / "test.csv").open("w", newline="") as test:
        csv.writer(train).writerow(["id", "premise", "hypothesis", "label"])
        csv.writer(test).writerow(["id", "premise", "hypothesis"])
        csv.writer(train).writerows([ids[at], *rows[at], noisy[at]] for at in range(TRAIN))
        csv.writer(test).writerows([ids[at], *rows[at]] for at in range(TRAIN, count))
    splits = rng.permutation(["validation"] * (TEST // 2) + ["test"] * (TEST // 2))
    with (hidden / "labels.csv").open("w", newline="") as file:
        csv.writer(file).writerow(["id", "label", "split"])
        csv.writer(file).writerows(zip(ids[TRAIN:], labels[TRAIN:], splits, strict=True))


@cache
def possible(sentences: frozenset[Sentence], kinds: int) -> bool:
    """Whether all can be true at once, with a member in every kind.

    Of a thing only the kinds that it is of matter. `all` and `none` forbid some of these combinations, `some`,
    `some_not` and the members of a kind each need one that is not forbidden; they do not get into each other's way.
    """
    allowed = [
        thing
        for thing in product((False, True), repeat=kinds)
        if not any(
            how in ("all", "none") and thing[one] and thing[other] == (how == "none") for how, one, other in sentences
        )
    ]
    needs = [(one, other, how == "some") for how, one, other in sentences if how in ("some", "some_not")]
    members = all(any(thing[one] for thing in allowed) for one in range(kinds))
    return members and all(any(thing[one] and thing[other] == both for thing in allowed) for one, other, both in needs)


def label_of(premise: frozenset[Sentence], claim: Sentence, kinds: int) -> str:
    """What the premise says about the claim."""
    how, one, other = claim
    if not possible(premise | {(OPPOSITE[how], one, other)}, kinds):
        return "entailment"
    return "neutral" if possible(premise | {claim}, kinds) else "contradiction"


def _example(rng: np.random.Generator, meanings: dict[str, str], label: str) -> tuple[str, str]:
    """A premise and a claim with this label, found by trying."""
    while True:
        count = int(rng.integers(2, 4))
        drawn = [_sentence(rng, meanings, count + 1) for _ in range(count + 1)]
        premise, claim = frozenset(one[1] for one in drawn[:-1]), drawn[-1][1]
        if claim in premise or not possible(premise, count + 1) or label_of(premise, claim, count + 1) != label:
            continue
        names = _names(rng, count + 1)
        texts = [f"{word} {names[one]} {names[other]}" for word, (_, one, other) in drawn]
        return " ".join(f"{text}." for text in texts[:-1]), texts[-1]


def _sentence(rng: np.random.Generator, meanings: dict[str, str], kinds: int) -> tuple[str, Sentence]:
    drawn, one, step = (int(number) for number in rng.integers(0, (len(meanings), kinds, kinds - 1)))
    word = list(meanings)[drawn]
    return word, (meanings[word], one, (one + step + 1) % kinds)


def _names(rng: np.random.Generator, count: int) -> list[str]:
    found: dict[str, None] = {}
    while len(found) < count:
        drawn = rng.integers(0, [len(one) for one in SOUNDS])
        parts = [sounds[one] for sounds, one in zip(SOUNDS, drawn, strict=True)]
        found["".join(parts[: 5 if rng.random() < 0.5 else 3])] = None
    return list(found)
