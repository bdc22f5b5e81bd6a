"""Pumps of a waterworks that does not exist: faults follow rules with thresholds and interactions."""

import csv
from collections.abc import Iterable
from pathlib import Path

import numpy as np

TRAIN, TEST = 1600, 1000
FAULTS = ("bearing", "seal", "motor", "none")
MAKERS = ("Arve", "Brunn", "Celer", "Dorn")
NUMBERS = ("hours", "pressure", "flow", "temperature", "v1", "v2", "v3", "current", "starts", "age")
COLUMNS = ("site", "maker", *NUMBERS)


def generate(seed: int, public: Path, hidden: Path) -> None:
    """Write `train.csv` and `test.csv` for the agent, and `labels.csv` for the grader."""
    rng = np.random.default_rng(seed)
    count = TRAIN + TEST
    site, maker = rng.integers(6, size=count), rng.integers(4, size=count)
    numbers = _readings(rng, site, maker)
    scores = _scores(numbers, rng.normal(0, 0.5, 6)[site], rng.permutation(4)[maker])
    faults = np.argmax(scores + rng.gumbel(0, 0.3, scores.shape), axis=1)
    ids = [f"p{number:05d}" for number in rng.permutation(100_000)[:count]]
    missing = rng.random((count, len(NUMBERS))) < 0.02
    rows: list[list[str]] = []
    for at in range(count):
        shown = ["" if missing[at, column] else f"{numbers[name][at]:.3f}" for column, name in enumerate(NUMBERS)]
        rows.append([ids[at], f"S{site[at]}", MAKERS[maker[at]], *shown])
    named: list[str] = [FAULTS[one] for one in faults]
    known = [[*row, one] for row, one in zip(rows, named, strict=True)][:TRAIN]
    _write(public / "train.csv", ["id", *COLUMNS, "fault"], known)
    _write(public / "test.csv", ["id", *COLUMNS], rows[TRAIN:])
    splits = rng.permutation(["validation"] * (TEST // 2) + ["test"] * (TEST // 2))
    labels = zip(ids[TRAIN:], named[TRAIN:], splits, strict=True)
    _write(hidden / "labels.csv", ["id", "fault", "split"], labels)


def _readings(rng: np.random.Generator, site: np.ndarray, maker: np.ndarray) -> dict[str, np.ndarray]:
    count = len(site)
    hours, age = rng.gamma(2.0, 900.0, count), rng.gamma(2.5, 3.0, count)
    load = rng.normal(0, 1, count)
    return {
        "hours": hours,
        "pressure": 6 + 0.8 * load + 0.3 * site + rng.normal(0, 0.5, count),
        "flow": 80 + 14 * load - 2.0 * age + rng.normal(0, 6, count),
        "temperature": 45 + 5 * load + 2.5 * maker + rng.normal(0, 4, count),
        "v1": rng.gamma(3.0, 0.5, count),
        "v2": rng.gamma(3.0, 0.5, count),
        "v3": rng.gamma(3.0, 0.5, count),
        "current": 22 + 4 * load + rng.normal(0, 1.5, count),
        "starts": rng.poisson(5, count).astype(float),
        "age": age,
    }


def _scores(one: dict[str, np.ndarray], place: np.ndarray, build: np.ndarray) -> np.ndarray:
    """How near each fault is; `build` says which of four constructions a maker has."""
    shake = np.maximum(np.maximum(one["v1"], one["v2"]), one["v3"]) - 2.2
    lean = one["current"] - 0.28 * one["flow"]
    bearing = 2.2 * shake * (one["hours"] > 1200) + 0.8 * (build == 0) - 0.6
    seal = 1.6 * (one["pressure"] - 6.6) * np.where(build == 1, 1.6, 0.7) + 0.35 * (one["starts"] - 5) + place
    motor = 0.55 * lean + 1.8 * (one["temperature"] > 54) * (one["age"] > 6) - 0.2
    return np.column_stack([bearing, seal, motor, np.full(len(shake), 0.9)])


def _write(path: Path, head: list[str], rows: Iterable[Iterable[object]]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(head)
        writer.writerows(rows)
