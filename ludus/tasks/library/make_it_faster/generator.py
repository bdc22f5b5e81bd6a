"""Lists of numbers of three kinds: by chance, wandering, and nearly sorted; some with many equal ones."""

import json
from pathlib import Path

import numpy as np

COUNTS = {"public": 4, "validation": 4, "test": 5}


def generate(seed: int, public: Path, hidden: Path) -> None:
    """Write lists for the agent to try, and those that are timed."""
    rng = np.random.default_rng(seed)
    lists = {split: [_list(rng, at % 3) for at in range(count)] for split, count in COUNTS.items()}
    (public / "lists.json").write_text(json.dumps(lists.pop("public")))
    (hidden / "lists.json").write_text(json.dumps(lists))


def _list(rng: np.random.Generator, kind: int) -> dict[str, object]:
    count, most = int(rng.integers(600, 801)), int(rng.choice([60, 5000, 1_000_000]))
    values = rng.integers(-most, most + 1, count)
    if kind == 1:
        values = np.cumsum(rng.integers(-most // 20, most // 20 + 1, count))
    if kind == 2:
        values = np.sort(values) + rng.integers(-most // 10, most // 10 + 1, count)
    return {"values": [int(one) for one in values], "width": int(rng.integers(31, 120))}
