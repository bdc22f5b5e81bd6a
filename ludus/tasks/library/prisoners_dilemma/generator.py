"""Strangers: which ones are met, with which parameters, and how long each match is."""

import json
from pathlib import Path
from typing import Any

import numpy as np

# How many of each kind a split has; their parameters and the order are drawn. Most of them answer in kind.
KINDS = {
    "tit_for_tat": 4,
    "generous": 3,
    "grim": 2,
    "pavlov": 3,
    "majority": 3,
    "naive": 2,
    "random": 2,
    "defector": 1,
    "prober": 2,
    "periodic": 2,
}


def generate(seed: int, public: Path, hidden: Path) -> None:
    """Write the matches of both splits; the agent gets nothing but the rules."""
    rng = np.random.default_rng(seed)
    matches = {split: _matches(rng) for split in ("validation", "test")}
    (hidden / "matches.json").write_text(json.dumps(matches))
    (public / "payoffs.json").write_text(json.dumps({"CC": [3, 3], "CD": [0, 5], "DC": [5, 0], "DD": [1, 1]}))


def _matches(rng: np.random.Generator) -> list[dict[str, Any]]:
    kinds = [kind for kind, count in KINDS.items() for _ in range(count)]
    return [
        {
            "kind": str(kind),
            "seed": int(rng.integers(1 << 31)),
            "rounds": int(rng.integers(60, 101)),
            "level": round(float(rng.uniform(0, 1)), 3),
        }
        for kind in rng.permutation(kinds)
    ]
