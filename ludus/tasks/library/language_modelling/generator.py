"""A made-up language: syllables make words, words have kinds, sentences have a grammar, and topics last for a while."""

import json
from pathlib import Path

import numpy as np

WORDS = {"noun": 60, "verb": 40, "adjective": 25, "place": 20}
TOPICS = 6
SENTENCES = 3000
TEXTS, LENGTH = 32, 100


def generate(seed: int, public: Path, hidden: Path) -> None:
    """Write a training text for the agent, and texts that are scored."""
    rng = np.random.default_rng(seed)
    language = Language(rng)
    (public / "train.txt").write_text(language.text(SENTENCES))
    texts: dict[str, list[str]] = {}
    for split in ("validation", "test"):
        texts[split] = [language.text(8)[:LENGTH] for _ in range(TEXTS)]
    (hidden / "texts.json").write_text(json.dumps(texts))


class Language:
    """Its lexicon, and what each topic likes to say."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        onsets = [str(one) for one in rng.choice([*"bdfghklmnprstvz", "br", "st", "kl", "tr"], 12, replace=False)]
        vowels = [str(one) for one in rng.choice(["a", "e", "i", "o", "u", "ai", "ou"], 5, replace=False)]
        codas = ["", "", *(str(one) for one in rng.choice(list("nrslmk"), 3, replace=False))]
        self.words = {kind: self._words(count, onsets, vowels, codas) for kind, count in WORDS.items()}
        self.endings = [str(one) for one in rng.choice(["o", "ek", "una", "is", "at", "im"], 4, replace=False)]
        self.small = self._words(4, onsets, vowels, [""])
        self.likes = {kind: rng.dirichlet(np.full(count, 0.12), TOPICS) for kind, count in WORDS.items()}

    def _words(self, count: int, onsets: list[str], vowels: list[str], codas: list[str]) -> list[str]:
        found: dict[str, None] = {}
        while len(found) < count:
            syllables = int(self.rng.integers(1, 4))
            parts = [str(self.rng.choice(one)) for _ in range(syllables) for one in (onsets, vowels, codas)]
            found["".join(parts)] = None
        return list(found)

    def text(self, sentences: int) -> str:
        """Sentences about topics that change now and then."""
        topic = int(self.rng.integers(TOPICS))
        parts: list[str] = []
        for _ in range(sentences):
            if self.rng.random() < 0.2:
                topic = int(self.rng.integers(TOPICS))
            parts.append(self._sentence(topic))
        return " ".join(parts)

    def _sentence(self, topic: int) -> str:
        many = int(self.rng.random() < 0.4)
        subject = self._noun(topic, many)
        verb = self._drawn("verb", topic) + self.endings[2 + many]  # agrees with its subject
        words = [*subject, verb]
        if self.rng.random() < 0.7:
            words += [self.small[0], *self._noun(topic, int(self.rng.random() < 0.4))]
        if self.rng.random() < 0.5:
            words += [self.small[1], self._drawn("place", topic)]
        return " ".join(words) + "."

    def _noun(self, topic: int, many: int) -> list[str]:
        ending = self.endings[many]
        words = [self._drawn("noun", topic) + ending]
        return [self._drawn("adjective", topic) + ending, *words] if self.rng.random() < 0.4 else words

    def _drawn(self, kind: str, topic: int) -> str:
        return self.words[kind][int(self.rng.choice(WORDS[kind], p=self.likes[kind][topic]))]
