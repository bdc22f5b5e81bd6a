"""Sales of shops that do not exist: trend, week, offers, warmth, and moods that last for days."""

import csv
from pathlib import Path

import numpy as np

SHOPS, KNOWN, AHEAD = 32, 280, 28
DAYS = KNOWN + AHEAD


def generate(seed: int, public: Path, hidden: Path) -> None:
    """Write `train.csv` and `test.csv` for the agent, and `labels.csv` for the grader."""
    rng = np.random.default_rng(seed)
    warmth = 12 + 9 * np.sin(2 * np.pi * (np.arange(DAYS) + rng.integers(365)) / 365) + _moods(rng, 2.5, 0.8)
    forecast = warmth + rng.normal(0, 1.2, DAYS)
    splits = rng.permutation(["validation"] * (SHOPS // 2) + ["test"] * (SHOPS // 2))
    train: list[list[object]] = []
    test: list[list[object]] = []
    labels: list[list[object]] = []
    for shop in range(SHOPS):
        offers = (rng.random(DAYS) < 0.12).astype(int)
        sales = _sales(rng, offers, warmth)
        for day in range(DAYS):
            name = f"s{shop:02d}d{day:03d}"
            row = [name, f"shop{shop:02d}", day, day % 7, offers[day]]
            if day < KNOWN:
                train.append([*row, f"{warmth[day]:.1f}", f"{sales[day]:.1f}"])
            else:
                test.append([*row, f"{forecast[day]:.1f}"])
                repeated = sales[KNOWN - 7 + day % 7]
                labels.append([name, f"shop{shop:02d}", f"{sales[day]:.1f}", f"{repeated:.1f}", splits[shop]])
    head = ["id", "shop", "day", "weekday", "offer", "warmth"]
    _write(public / "train.csv", [*head, "sales"], train)
    _write(public / "test.csv", head, test)
    _write(hidden / "labels.csv", ["id", "shop", "sales", "repeated", "split"], labels)


def _moods(rng: np.random.Generator, size: float, stays: float) -> np.ndarray:
    """Noise that lasts: each day has a share of the one before."""
    values = np.zeros(DAYS)
    for day in range(1, DAYS):
        values[day] = stays * values[day - 1] + rng.normal(0, size * np.sqrt(1 - stays**2))
    return values


def _sales(rng: np.random.Generator, offers: np.ndarray, warmth: np.ndarray) -> np.ndarray:
    days = np.arange(DAYS)
    week = rng.normal(0, 0.25, 7)
    log = rng.uniform(3.5, 6.5) + rng.normal(0, 0.0012) * days + week[days % 7]
    log += rng.uniform(0.2, 0.8) * offers - 0.15 * np.roll(offers, 1) * (days > 0)
    log += rng.normal(0, 0.012) * (warmth - 12) + _moods(rng, 0.05, 0.9) + rng.normal(0, 0.06, DAYS)
    return np.exp(log)


def _write(path: Path, head: list[str], rows: list[list[object]]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(head)
        writer.writerows(rows)
