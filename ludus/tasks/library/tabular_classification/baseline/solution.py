"""Baseline: the nearest mean of the standardised numbers."""

import csv

import numpy as np

NUMBERS = ("hours", "pressure", "flow", "temperature", "v1", "v2", "v3", "current", "starts", "age")


def read(path: str) -> list[dict[str, str]]:
    """The rows of a CSV."""
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


train, test = read("data/train.csv"), read("data/test.csv")
table = np.array([[float(row[name] or "nan") for name in NUMBERS] for row in train + test])
table = (table - np.nanmean(table, axis=0)) / np.nanstd(table, axis=0)
table = np.where(np.isnan(table), 0.0, table)
faults = sorted({row["fault"] for row in train})
labels = np.array([faults.index(row["fault"]) for row in train])
known, asked = table[: len(train)], table[len(train) :]
means = np.array([known[labels == one].mean(axis=0) for one in range(len(faults))])
found = ((asked[:, None] - means[None]) ** 2).sum(axis=2).argmin(axis=1)
with open("submission.csv", "w", newline="") as file:
    writer = csv.writer(file)
    writer.writerow(["id", "prediction"])
    writer.writerows([row["id"], faults[one]] for row, one in zip(test, found, strict=True))
