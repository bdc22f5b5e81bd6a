"""Reference: guess what the words mean, change what explains too little, one word at a time; then reason."""

import csv
import random
from functools import cache
from itertools import product

OPPOSITE = {"all": "some_not", "some_not": "all", "none": "some", "some": "none"}
Sentence = tuple[str, int, int]


def read(path: str) -> list[dict[str, str]]:
    """The rows of a CSV."""
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def parsed(row: dict[str, str]) -> tuple[Sentence, ...]:
    """The sentences, the claim last, with kinds as numbers in the order in which they are named."""
    kinds: dict[str, int] = {}
    sentences: list[Sentence] = []
    for text in [*row["premise"].rstrip(".").split(". "), row["hypothesis"]]:
        how, one, other = text.split()
        sentences.append((how, kinds.setdefault(one, len(kinds)), kinds.setdefault(other, len(kinds))))
    return tuple(sentences)


def possible(sentences: tuple[Sentence, ...]) -> bool:
    """Whether all can be true at once, with a member in every kind."""
    kinds = 1 + max(max(one, other) for _, one, other in sentences)
    allowed = list(product((False, True), repeat=kinds))
    for how, one, other in sentences:
        if how in ("all", "none"):
            allowed = [thing for thing in allowed if not (thing[one] and thing[other] == (how == "none"))]
    needs = [(one, other, how == "some") for how, one, other in sentences if how in ("some", "some_not")]
    return all(any(thing[one] for thing in allowed) for one in range(kinds)) and all(
        any(thing[one] and thing[other] == both for thing in allowed) for one, other, both in needs
    )


@cache
def judged(sentences: tuple[Sentence, ...]) -> str:
    """What the premise says about the claim, which is the last."""
    *premise, (how, one, other) = sentences
    if not possible((*premise, (OPPOSITE[how], one, other))):
        return "entailment"
    return "neutral" if possible(sentences) else "contradiction"


def meant(sentences: tuple[Sentence, ...], meanings: dict[str, str]) -> tuple[Sentence, ...]:
    """The sentences with the meanings of their words."""
    return tuple((meanings[how], one, other) for how, one, other in sentences)


def explained(examples: list[tuple[tuple[Sentence, ...], str]], meanings: dict[str, str]) -> int:
    """How many labels follow from the meanings."""
    return sum(judged(meant(sentences, meanings)) == label for sentences, label in examples)


train, test = read("data/train.csv"), read("data/test.csv")
examples = [(parsed(row), row["label"]) for row in train][:300]
words = sorted({how for sentences, _ in examples for how, _, _ in sentences})
rng = random.Random(0)
best: dict[str, str] = {}
most = -1
for _ in range(12):
    guess = {word: rng.choice(list(OPPOSITE)) for word in words}
    score, improved = explained(examples, guess), True
    while improved:
        improved = False
        for word, how in product(words, OPPOSITE):
            other = explained(examples, guess | {word: how})
            if other > score:
                guess, score, improved = guess | {word: how}, other, True
    if score > most:
        best, most = guess, score
    if most > 0.93 * len(examples):
        break
with open("submission.csv", "w", newline="") as file:
    writer = csv.writer(file)
    writer.writerow(["id", "prediction"])
    writer.writerows([row["id"], judged(meant(parsed(row), best))] for row in test)
