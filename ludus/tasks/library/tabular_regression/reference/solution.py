"""Reference: logarithms, categories and interactions, a linear model, and a kernel machine for what it leaves."""

import csv

import numpy as np

CONDITIONS = ("poor", "fair", "good", "excellent")
NUMBERS = ("area", "rooms", "age", "distance", "floor", "garden")


def read(path: str) -> list[dict[str, str]]:
    """The rows of a CSV."""
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def features(rows: list[dict[str, str]]) -> np.ndarray:
    """Columns in which prices are nearly linear."""
    numbers = np.array([[float(row[name] or "nan") for name in NUMBERS] for row in rows])
    missing = np.isnan(numbers).astype(float)
    numbers = np.where(np.isnan(numbers), np.nanmedian(numbers, axis=0), numbers)
    area, rooms, age, distance, floor, garden = numbers.T
    grade = np.array([CONDITIONS.index(row["condition"]) if row["condition"] else 1.5 for row in rows])
    near = np.exp(-distance / 3.0)
    columns = [np.log(area), rooms, np.minimum(age, 60), near, grade, np.minimum(age, 60) * grade]
    columns += [(age > 95) * (distance < 5), np.minimum(garden, 250) * (distance > 4), floor * (distance < 4)]
    columns += [floor * near, np.log1p(garden), distance, age, *missing.T]
    for name in ("district", "heating", "condition"):
        values = sorted({row[name] for row in rows})
        columns += [np.array([row[name] == value for row in rows]) for value in values]
    return np.column_stack([np.asarray(one, float) for one in columns])


def ridge(table: np.ndarray, target: np.ndarray, penalty: float) -> np.ndarray:
    """The weights of a linear model, with one more for the constant."""
    wide = np.hstack([table, np.ones((len(table), 1))])
    return np.linalg.solve(wide.T @ wide + penalty * np.eye(wide.shape[1]), wide.T @ target)


train, test = read("data/train.csv"), read("data/test.csv")
table = features(train + test)
table = (table - table.mean(axis=0)) / (table.std(axis=0) + 1e-9)
known, asked = table[: len(train)], table[len(train) :]
target = np.log([float(row["price"]) for row in train])
weights = ridge(known, target, 1.0)
left = target - np.hstack([known, np.ones((len(known), 1))]) @ weights


def kernel(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """How alike houses are."""
    squares = (one**2).sum(1)[:, None] + (other**2).sum(1)[None] - 2 * one @ other.T
    return np.exp(-squares / (2 * 6.0**2))


alpha = np.linalg.solve(kernel(known, known) + 0.5 * np.eye(len(known)), left)
predicted = np.hstack([asked, np.ones((len(asked), 1))]) @ weights + kernel(asked, known) @ alpha
with open("submission.csv", "w", newline="") as file:
    writer = csv.writer(file)
    writer.writerow(["id", "prediction"])
    writer.writerows([row["id"], f"{np.exp(value):.2f}"] for row, value in zip(test, predicted, strict=True))
