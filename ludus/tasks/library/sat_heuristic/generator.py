"""Random 3-SAT with 5.5 clauses for each variable: hardly one has a solution, so luck does not end a search early."""

import json
from pathlib import Path

import numpy as np

VARIABLES, RATIO = 40, 5.5
COUNTS = {"public": 12, "validation": 8, "test": 12}


def generate(seed: int, public: Path, hidden: Path) -> None:
    """Write formulas for the agent to try, and those that are scored."""
    rng = np.random.default_rng(seed)
    formulas = {split: [_formula(rng) for _ in range(count)] for split, count in COUNTS.items()}
    (public / "formulas.json").write_text(json.dumps(formulas.pop("public")))
    (hidden / "formulas.json").write_text(json.dumps(formulas))


def _formula(rng: np.random.Generator) -> list[list[int]]:
    variables = [rng.choice(VARIABLES, 3, replace=False) + 1 for _ in range(round(VARIABLES * RATIO))]
    signs = rng.choice((-1, 1), (len(variables), 3))
    return [[int(one) for one in three * sign] for three, sign in zip(variables, signs, strict=True)]
