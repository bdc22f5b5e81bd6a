"""Figures in any colour on any ground, at any place: colour and place say nothing, only the form does."""

import csv
from pathlib import Path

import numpy as np

TRAIN, TEST, SIDE = 1200, 800, 16
LABELS = ("disc", "ring", "box", "frame", "plus", "wedge", "bars", "checks")


def generate(seed: int, public: Path, hidden: Path) -> None:
    """Write pictures and labels for the agent, and the labels of the test pictures for the grader."""
    rng = np.random.default_rng(seed)
    count = TRAIN + TEST
    labels = [str(one) for one in rng.permutation([LABELS[at % len(LABELS)] for at in range(count)])]
    pictures = np.stack([_drawn(rng, one) for one in labels])
    ids = [f"p{number:05d}" for number in rng.permutation(100_000)[:count]]
    np.save(public / "train.npy", pictures[:TRAIN])
    np.save(public / "test.npy", pictures[TRAIN:])
    splits = rng.permutation(["validation"] * (TEST // 2) + ["test"] * (TEST // 2))
    tables = {
        public / "train.csv": (["id", "row", "label"], [[ids[at], at, labels[at]] for at in range(TRAIN)]),
        public / "test.csv": (["id", "row"], [[ids[TRAIN + at], at] for at in range(TEST)]),
        hidden / "labels.csv": (["id", "label", "split"], list(zip(ids[TRAIN:], labels[TRAIN:], splits, strict=True))),
    }
    for path, (head, rows) in tables.items():
        with path.open("w", newline="") as file:
            csv.writer(file).writerow(head)
            csv.writer(file).writerows(rows)


def _drawn(rng: np.random.Generator, label: str) -> np.ndarray:
    ground, colour = rng.uniform(30, 225, 3), rng.uniform(30, 225, 3)
    while np.abs(ground - colour).sum() < 130:
        colour = rng.uniform(30, 225, 3)
    rows, columns = np.mgrid[:SIDE, :SIDE] + 0.5
    reach = rng.uniform(3.6, 6.2)
    x, y = columns - rng.uniform(reach, SIDE - reach), rows - rng.uniform(reach, SIDE - reach)
    turn = rng.uniform(-0.35, 0.35)
    x, y = x * np.cos(turn) - y * np.sin(turn), x * np.sin(turn) + y * np.cos(turn)
    picture = np.where(_form(label, x, y, reach)[..., None], colour, ground)
    shade = 1 + rng.uniform(-0.15, 0.15) * (columns - SIDE / 2)[..., None] / SIDE
    return np.clip(picture * shade + rng.normal(0, 14, picture.shape), 0, 255).astype(np.uint8)


def _form(label: str, x: np.ndarray, y: np.ndarray, reach: float) -> np.ndarray:
    """Which pixels belong to the figure."""
    far, edge = np.hypot(x, y), np.maximum(np.abs(x), np.abs(y))
    inside = edge < reach * 0.85
    bar, cell = reach * 0.34, reach * 0.43
    return {
        "disc": far < reach,
        "ring": (far < reach) & (far > reach * 0.55),
        "box": inside,
        "frame": inside & (edge > reach * 0.48),
        "plus": (np.minimum(np.abs(x), np.abs(y)) < reach * 0.3) & (edge < reach),
        "wedge": (np.abs(y) < reach * 0.9) & (np.abs(x) < (y + reach * 0.9) * 0.55),
        "bars": inside & (np.floor(x / bar + 0.5) % 2 == 0),
        "checks": inside & ((np.floor(x / cell) + np.floor(y / cell)) % 2 == 0),
    }[label]
