"""Strangers: which ones are met, with which parameters, and how long each match is."""

import json
from pathlib import Path

import numpy as np

# How many of each kind a split has; most of them answer in kind. Each level is drawn from a part of 0 to 1 of its own,
# so that no split has only the gentle ones of a kind.
KINDS = {
    "tit_for_tat": 8,
    "generous": 6,
    "grim": 4,
    "pavlov": 6,
    "majority": 6,
    "naive": 4,
    "random": 4,
    "defector": 2,
    "prober": 4,
    "periodic": 4,
}


def generate(seed: int, public: Path, hidden: Path) -> None:
    """Write the matches of both splits; the agent gets nothing but the rules."""
    rng = np.random.default_rng(seed)
    matches = {split: _matches(rng) for split in ("validation", "test")}
    (hidden / "matches.json").write_text(json.dumps(matches))
    (public / "payoffs.json").write_text(json.dumps({"CC": [3, 3], "CD": [0, 5], "DC": [5, 0], "DD": [1, 1]}))


def _matches(rng: np.random.Generator) -> list[dict[str, object]]:
    found = [
        {
            "kind": kind,
            "seed": int(rng.integers(1 << 31)),
            "rounds": int(rng.integers(60, 101)),
            "level": round(float((part + rng.uniform()) / count), 3),
        }
        for kind, count in KINDS.items()
        for part in range(count)
    ]
    return [found[at] for at in rng.permutation(len(found))]
