"""Digits drawn with a pen along lines, each bent, slanted and shifted in its own way."""

import csv
from itertools import pairwise
from pathlib import Path

import numpy as np

TRAIN, TEST, SIDE = 1200, 800, 14
ROUND = [(0.5 + 0.3 * np.cos(turn), 0.5 + 0.42 * np.sin(turn)) for turn in np.linspace(0, 2 * np.pi, 13)]
UPPER = [(0.5 + 0.24 * np.cos(turn), 0.28 + 0.2 * np.sin(turn)) for turn in np.linspace(0, 2 * np.pi, 11)]
LOWER = [(0.5 + 0.28 * np.cos(turn), 0.7 + 0.22 * np.sin(turn)) for turn in np.linspace(0, 2 * np.pi, 11)]
# The way of the pen for each digit: points (column, row) from 0 to 1.
STROKES: dict[int, list[list[tuple[float, float]]]] = {
    0: [ROUND],
    1: [[(0.35, 0.25), (0.55, 0.08), (0.55, 0.92)]],
    2: [[(0.25, 0.25), (0.4, 0.1), (0.65, 0.12), (0.73, 0.3), (0.6, 0.52), (0.25, 0.9), (0.77, 0.9)]],
    3: [[(0.25, 0.14), (0.6, 0.1), (0.7, 0.28), (0.45, 0.47), (0.73, 0.62), (0.65, 0.86), (0.25, 0.88)]],
    4: [[(0.6, 0.92), (0.6, 0.08), (0.2, 0.65), (0.8, 0.65)]],
    5: [[(0.75, 0.1), (0.3, 0.1), (0.28, 0.45), (0.6, 0.43), (0.75, 0.65), (0.6, 0.88), (0.25, 0.88)]],
    6: [[(0.65, 0.08), (0.35, 0.4), (0.24, 0.7)], LOWER],
    7: [[(0.22, 0.1), (0.78, 0.1), (0.45, 0.92)]],
    8: [UPPER, LOWER],
    9: [UPPER, [(0.74, 0.28), (0.7, 0.6), (0.5, 0.92)]],
}


def generate(seed: int, public: Path, hidden: Path) -> None:
    """Write pictures and labels for the agent, and the labels of the test pictures for the grader."""
    rng = np.random.default_rng(seed)
    count = TRAIN + TEST
    labels = rng.permutation([at % 10 for at in range(count)])
    pictures = np.stack([_drawn(rng, int(one)) for one in labels])
    ids = [f"d{number:05d}" for number in rng.permutation(100_000)[:count]]
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


def _drawn(rng: np.random.Generator, digit: int) -> np.ndarray:
    turn, slant = rng.normal(0, 0.17), rng.normal(0, 0.22)
    bend = np.array([[np.cos(turn), -np.sin(turn) + slant], [np.sin(turn), np.cos(turn)]]) * rng.uniform(0.68, 1.0, 2)
    middle = SIDE / 2 + rng.normal(0, 0.9, 2)
    thick, picture = rng.uniform(0.45, 0.95), np.zeros((SIDE, SIDE))
    rows, columns = np.mgrid[:SIDE, :SIDE] + 0.5
    for stroke in STROKES[digit]:
        points = (np.array(stroke) - 0.5 + rng.normal(0, 0.035, (len(stroke), 2))) @ bend.T * SIDE + middle
        for start, end in pairwise(points):
            way = end - start
            along = np.clip(((columns - start[0]) * way[0] + (rows - start[1]) * way[1]) / (way @ way + 1e-9), 0, 1)
            far = np.hypot(columns - start[0] - along * way[0], rows - start[1] - along * way[1])
            picture = np.maximum(picture, np.clip(1.4 - far / thick, 0, 1))
    return np.clip(255 * picture * rng.uniform(0.7, 1) + rng.normal(0, 28, picture.shape), 0, 255).astype(np.uint8)
