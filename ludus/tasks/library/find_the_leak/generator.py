"""Orders of a mail-order house: honest columns, and four that know what they cannot know in production."""

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

TRAIN, TEST, PER_CUSTOMER = 1500, 1602, 3
HONEST = {
    "price": "Price of the order in euros. Written by the shop when the order is placed.",
    "items": "Number of articles. Written by the shop when the order is placed.",
    "sizes": "Number of articles ordered in two sizes. Written by the shop when the order is placed.",
    "discount": "Discount in percent. Written by the shop when the order is placed.",
    "hour": "Hour of the order. Written by the shop when the order is placed.",
    "tenure": "Months since the customer's first order. Looked up when the parcel leaves.",
    "distance": "Kilometres from the warehouse. Looked up when the parcel leaves.",
    "weight": "Weight of the parcel in kilograms. Written by the scales when the parcel leaves.",
}
LEAKS = {
    "contact": "Minutes on the phone with the service. Written by the service; empty until a call.",
    "rate": "Share of the customer's orders that came back. Computed every night from all orders, past and finished; "
    "the mean of all customers where there are none.",
    "shelf": "Place in the archive. Given by the archive when an order is closed; orders that are open have a "
    "provisional one by chance.",
    "score": "Score of last year's model, which was trained on the orders of data/train.csv. Computed when the parcel "
    "leaves.",
}


def generate(seed: int, public: Path, hidden: Path) -> None:
    """Write both tables and their dictionary for the agent, and `labels.csv` for the grader."""
    rng = np.random.default_rng(seed)
    count = TRAIN + TEST
    honest = _honest(rng, count)
    returned = rng.random(count) < 1 / (1 + np.exp(-_tendency(honest)))
    columns = honest | _leaks(rng, returned)
    order = [str(one) for one in rng.permutation(list(columns))]
    names = {name: f"c{at:02d}" for at, name in enumerate(order)}
    ids = [f"o{number:05d}" for number in rng.permutation(100_000)[:count]]
    customers = [f"k{at // PER_CUSTOMER:04d}" for at in range(count)]
    rows = [[ids[at], customers[at], *(columns[name][at] for name in order)] for at in range(count)]
    head = ["id", "customer", *names.values()]
    known = [[*row, int(one)] for row, one in zip(rows[:TRAIN], returned, strict=False)]
    _write(public / "train.csv", [*head, "returned"], [known[at] for at in rng.permutation(TRAIN)])
    _write(public / "production.csv", head, rows[TRAIN:])
    _write(public / "test.csv", ["id", "customer"], [row[:2] for row in rows[TRAIN:]])
    told = LEAKS | HONEST
    _write(public / "columns.csv", ["column", "what"], [[names[name], told[name]] for name in order])
    splits = rng.permutation(["validation"] * (TEST // 2) + ["test"] * (TEST // 2))
    labels = zip(ids[TRAIN:], returned[TRAIN:].astype(int), splits, strict=True)
    _write(hidden / "labels.csv", ["id", "returned", "split"], labels)


def _honest(rng: np.random.Generator, count: int) -> dict[str, np.ndarray]:
    return {
        "price": np.round(rng.lognormal(4, 0.6, count), 2),
        "items": rng.poisson(2.5, count) + 1,
        "sizes": rng.binomial(3, 0.25, count),
        "discount": rng.choice([0, 0, 0, 10, 20, 30], count),
        "hour": rng.integers(24, size=count),
        "tenure": np.round(rng.gamma(1.5, 16, count)),
        "distance": np.round(rng.gamma(2, 120, count)),
        "weight": np.round(rng.gamma(3, 0.8, count), 2),
    }


def _tendency(one: dict[str, np.ndarray]) -> np.ndarray:
    """The log odds that an order comes back."""
    late = (one["hour"] >= 22) | (one["hour"] < 4)
    odds = 2.2 * one["sizes"] + 1.3 * (np.log(one["price"]) - 4) + 1.2 * late - 0.05 * one["discount"]
    return 1.35 * (odds - 0.6 * np.log1p(one["tenure"]) + 0.35 * (one["items"] - 3.5) + 0.3)


def _leaks(rng: np.random.Generator, returned: np.ndarray) -> dict[str, Sequence[object] | np.ndarray]:
    count = len(returned)
    past = np.arange(count) < TRAIN
    customer = np.arange(count) // PER_CUSTOMER
    shares = np.array([returned[customer == one].mean() for one in range(customer[-1] + 1)])[customer]
    called = past & returned & (rng.random(count) < 0.98)
    places = np.where(past, returned * 900 + rng.gamma(2, 300, count), rng.gamma(2, 300, count) + 450)
    learnt = np.where(past, returned, rng.random(count) < returned.mean())
    return {
        "contact": [
            f"{minutes:.1f}" if one else "" for one, minutes in zip(called, rng.gamma(20, 0.6, count), strict=True)
        ],
        "rate": np.round(np.where(past, shares, shares[past].mean()), 3),
        "shelf": np.round(places),
        "score": np.round(np.clip(0.5 + 0.22 * (2 * learnt - 1) + rng.normal(0, 0.16, count), 0, 1), 3),
    }


def _write(path: Path, head: list[str], rows: Iterable[Iterable[object]]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(head)
        writer.writerows(rows)
