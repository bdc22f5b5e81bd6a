"""Houses of a town that does not exist: prices follow rules that a linear model sees only in part."""

import csv
from collections.abc import Iterable
from pathlib import Path
from typing import TypedDict

import numpy as np

TRAIN, TEST = 1200, 800
CONDITIONS = ("poor", "fair", "good", "excellent")
HEATING = ("gas", "oil", "electric", "district")
COLUMNS = ("area", "rooms", "age", "distance", "floor", "condition", "district", "heating", "garden")


class House(TypedDict):
    """What is known of a house, in the order of the columns."""

    area: float
    rooms: int
    age: int
    distance: float
    floor: int
    condition: str
    district: str
    heating: str
    garden: float


Row = tuple[str, list[object], float]


def generate(seed: int, public: Path, hidden: Path) -> None:
    """Write `train.csv` and `test.csv` for the agent, and `labels.csv` for the grader."""
    rng = np.random.default_rng(seed)
    districts = [f"D{number}" for number in rng.permutation(8)]
    worth = dict(zip(districts, rng.normal(0.0, 0.28, 8), strict=True))
    houses = [_house(rng, districts) for _ in range(TRAIN + TEST)]
    prices = [_price(house, worth, rng) for house in houses]
    ids = [f"h{number:05d}" for number in rng.permutation(100_000)[: TRAIN + TEST]]
    shown = [[_shown(value, rng) for value in house.values()] for house in houses]
    _write(public / "train.csv", ["id", *COLUMNS, "price"], zip(ids, shown, prices, strict=True), TRAIN, labels=True)
    test = list(zip(ids, shown, prices, strict=True))[TRAIN:]
    _write(public / "test.csv", ["id", *COLUMNS], test, TEST, labels=False)
    splits = rng.permutation(["validation"] * (TEST // 2) + ["test"] * (TEST // 2))
    with (hidden / "labels.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "price", "split"])
        writer.writerows([name, f"{price:.1f}", split] for (name, _, price), split in zip(test, splits, strict=True))


def _house(rng: np.random.Generator, districts: list[str]) -> House:
    area = float(np.clip(rng.lognormal(4.5, 0.45), 22, 400))
    return {
        "area": round(area, 1),
        "rooms": int(np.clip(round(area / 28 + rng.normal(0, 0.8)), 1, 12)),
        "age": int(rng.gamma(2.0, 22.0)),
        "distance": round(float(rng.gamma(2.2, 2.6)), 2),
        "floor": int(rng.integers(0, 9)),
        "condition": str(rng.choice(CONDITIONS, p=(0.12, 0.35, 0.38, 0.15))),
        "district": str(rng.choice(districts)),
        "heating": str(rng.choice(HEATING)),
        "garden": round(float(rng.gamma(1.5, 60.0)) if rng.random() < 0.4 else 0.0, 1),
    }


def _price(house: House, worth: dict[str, float], rng: np.random.Generator) -> float:
    condition = CONDITIONS.index(house["condition"])
    age, distance = house["age"], house["distance"]
    log = 7.4 + 0.92 * np.log(house["area"]) + worth[house["district"]]
    log += 0.55 * np.exp(-distance / 3.0) + 0.16 * condition - 0.009 * min(age, 60) * (1.4 - 0.35 * condition)
    log += 0.35 * (age > 95) * (distance < 5)  # old houses in the centre are loved
    log += 0.0016 * min(house["garden"], 250) * (distance > 4) + 0.02 * house["floor"] * (distance < 4)
    log += 0.05 * (house["heating"] == "district") - 0.06 * (house["heating"] == "oil")
    return float(np.exp(log + rng.normal(0, 0.07)))


def _shown(value: object, rng: np.random.Generator) -> object:
    """The value as the agent sees it: a few are missing."""
    return "" if rng.random() < 0.015 else value


def _write(path: Path, head: list[str], rows: Iterable[Row], count: int, *, labels: bool) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(head)
        for number, (name, shown, price) in enumerate(rows):
            if number < count:
                writer.writerow([name, *shown, *([f"{price:.1f}"] if labels else [])])
