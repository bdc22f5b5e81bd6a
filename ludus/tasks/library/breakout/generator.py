"""Seeds of the episodes that are scored, and of some to try."""

import json
from pathlib import Path

import numpy as np

COUNTS = {"public": 8, "validation": 10, "test": 16}


def generate(seed: int, public: Path, hidden: Path) -> None:
    """Draw them."""
    rng = np.random.default_rng(seed)
    seeds = {split: [int(one) for one in rng.integers(1 << 31, size=count)] for split, count in COUNTS.items()}
    (public / "seeds.json").write_text(json.dumps(seeds.pop("public")))
    (hidden / "seeds.json").write_text(json.dumps(seeds))
