"""Maps of points: every other one is even, the rest have towns."""

import json
from pathlib import Path

import numpy as np

COUNTS = {"public": 10, "validation": 12, "test": 20}


def generate(seed: int, public: Path, hidden: Path) -> None:
    """Write maps for the agent to try, and those that are scored."""
    rng = np.random.default_rng(seed)
    maps = {split: [_map(rng, towns=at % 2 == 1) for at in range(count)] for split, count in COUNTS.items()}
    (public / "maps.json").write_text(json.dumps(maps.pop("public")))
    (hidden / "maps.json").write_text(json.dumps(maps))


def _map(rng: np.random.Generator, *, towns: bool) -> list[list[float]]:
    count = int(rng.integers(60, 91))
    points = rng.random((count, 2))
    if towns:
        centres = rng.random((int(rng.integers(4, 8)), 2))
        points = np.clip(centres[rng.integers(len(centres), size=count)] + rng.normal(0, 0.06, (count, 2)), 0, 1)
    return [[round(float(one), 5) for one in point] for point in points]
