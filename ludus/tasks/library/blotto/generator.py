"""Strangers: which ones are met, and with which habits."""

import json
from pathlib import Path

import numpy as np

FIELDS, SOLDIERS, ROUNDS = 6, 60, 30
# How many of each kind a split has; their habits and the order are drawn.
KINDS = {"fixed": 3, "habit": 6, "cycle": 4, "rotation": 3, "copier": 3, "replier": 4, "chance": 5, "hedger": 4}


def generate(seed: int, public: Path, hidden: Path) -> None:
    """Write the matches of both splits; the agent gets nothing but the rules."""
    rng = np.random.default_rng(seed)
    matches = {split: _matches(rng) for split in ("validation", "test")}
    (hidden / "matches.json").write_text(json.dumps(matches))
    (public / "rules.json").write_text(json.dumps({"fields": FIELDS, "soldiers": SOLDIERS, "rounds": ROUNDS}))


def _matches(rng: np.random.Generator) -> list[dict[str, object]]:
    kinds = [kind for kind, count in KINDS.items() for _ in range(count)]
    return [
        {
            "kind": str(kind),
            "seed": int(rng.integers(1 << 31)),
            "habits": [_division(rng) for _ in range(4)],
        }
        for kind in rng.permutation(kinds)
    ]


def _division(rng: np.random.Generator) -> list[int]:
    """A division: a few fields get most."""
    strong = rng.permutation(FIELDS) < rng.integers(3, 6)
    weights = np.where(strong, 1.0, 0.08) * rng.uniform(0.7, 1.3, FIELDS)
    parts = np.floor(SOLDIERS * weights / weights.sum()).astype(int)
    parts[int(np.argmax(weights))] += SOLDIERS - int(parts.sum())
    return [int(one) for one in parts]
