"""Baseline: a linear model of the numbers, missing ones filled in with the mean."""

import csv

import numpy as np

NUMBERS = ("area", "rooms", "age", "distance", "floor", "garden")


def read(path: str) -> list[dict[str, str]]:
    """The rows of a CSV."""
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


train, test = read("data/train.csv"), read("data/test.csv")
table = np.array([[float(row[name] or "nan") for name in NUMBERS] for row in train + test])
means = np.nanmean(table, axis=0)
table = np.where(np.isnan(table), means, table)
table = (table - means) / table.std(axis=0)
table = np.hstack([table, np.ones((len(table), 1))])
prices = np.array([float(row["price"]) for row in train])
weights = np.linalg.lstsq(table[: len(train)], prices, rcond=None)[0]
with open("submission.csv", "w", newline="") as file:
    writer = csv.writer(file)
    writer.writerow(["id", "prediction"])
    writer.writerows(
        [row["id"], f"{value:.2f}"] for row, value in zip(test, table[len(train) :] @ weights, strict=True)
    )
