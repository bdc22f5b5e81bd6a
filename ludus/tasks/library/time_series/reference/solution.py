"""Reference: logarithms, a ridge regression for each shop, and its last errors carried on for a few days."""

import csv

import numpy as np
from numpy.typing import NDArray

STAYS = 0.9


def read(path: str) -> list[dict[str, str]]:
    """The rows of a CSV."""
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def features(rows: list[dict[str, str]]) -> np.ndarray:
    """Weekdays, trend, offers of today and yesterday, warmth."""
    day, weekday, offer, warmth = (
        np.array([float(row[name]) for row in rows]) for name in ("day", "weekday", "offer", "warmth")
    )
    before = np.concatenate([[0.0], offer[:-1]])
    return np.column_stack([weekday[:, None] == np.arange(7), day / 100, offer, before, (warmth - 12) / 10])


train, test = read("data/train.csv"), read("data/test.csv")
answers: list[tuple[str, float]] = []
for shop in sorted({row["shop"] for row in train}):
    known, asked = ([row for row in rows if row["shop"] == shop] for rows in (train, test))
    table = features(known + asked).astype(np.float64)
    target: NDArray[np.float64] = np.log([float(row["sales"]) for row in known])
    centre = float(target.mean())
    inside = table[: len(known)]
    weights = np.linalg.solve(inside.T @ inside + 0.3 * np.eye(table.shape[1]), inside.T @ (target - centre))
    left = target - centre - inside @ weights
    mood = float(np.average(left[-14:], weights=STAYS ** np.arange(13, -1, -1)))
    ahead = table[len(known) :] @ weights + centre + mood * STAYS ** np.arange(1, len(asked) + 1)
    answers += [(row["id"], float(np.exp(value))) for row, value in zip(asked, ahead, strict=True)]
with open("submission.csv", "w", newline="") as file:
    writer = csv.writer(file)
    writer.writerow(["id", "prediction"])
    writer.writerows([name, f"{value:.2f}"] for name, value in answers)
