"""Strangers: which ones are met, with which parameters, and how many evenings each match has."""

import json
from pathlib import Path

import numpy as np

# How many of each kind a split has; their parameters and the order are drawn.
KINDS = {
    "insisting": 4,
    "yielding": 4,
    "turns": 4,
    "fair": 4,
    "learner": 4,
    "shifting": 3,
    "teacher": 4,
    "grudger": 3,
    "random": 2,
}


def generate(seed: int, public: Path, hidden: Path) -> None:
    """Write the matches of both splits; the agent gets nothing but the rules."""
    rng = np.random.default_rng(seed)
    matches = {split: _matches(rng) for split in ("validation", "test")}
    (hidden / "matches.json").write_text(json.dumps(matches))
    (public / "points.json").write_text(json.dumps({"AA": [2, 1], "BB": [1, 2], "AB": [0, 0], "BA": [0, 0]}))


def _matches(rng: np.random.Generator) -> list[dict[str, object]]:
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
