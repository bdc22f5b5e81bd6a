"""Reference: keep what is written when an order is placed or a parcel leaves, by nobody who saw the outcome."""

import csv
import runpy

import numpy as np

pipeline = runpy.run_path("pipeline.py")  # a starter file: what it reads and fits with is not what leaks
fit, predict, read, table_of = (pipeline[name] for name in ("fit", "predict", "read", "table_of"))

LATE = ("every night", "closed", "trained on", "until a call")


def richer(table: np.ndarray) -> np.ndarray:
    """Standardised columns, their logarithms, and where in its range each lies."""
    ranks: list[np.ndarray] = [
        np.searchsorted(np.quantile(one, np.linspace(0.1, 0.9, 5)), one)[:, None] == np.arange(6) for one in table.T
    ]
    wide = np.hstack([table, np.log1p(np.abs(table)), *ranks]).astype(float)
    return (wide - wide.mean(axis=0)) / (wide.std(axis=0) + 1e-9)


train, production = read("data/train.csv"), read("data/production.csv")
told = {row["column"]: row["what"] for row in read("data/columns.csv")}
columns = [name for name, what in told.items() if not any(words in what for words in LATE)]
labels = np.array([int(row["returned"]) for row in train])
table = richer(table_of(train + production, columns))
known, asked = table[: len(train)], table[len(train) :]
customers = np.array([int(row["customer"][1:]) % 5 for row in train])
right = [
    (
        predict(fit(known[customers != one], labels[customers != one]), known[customers == one])
        == labels[customers == one]
    ).mean()
    for one in range(5)
]
print(f"cross-validated accuracy, other customers: {np.mean(right):.3f}")  # noqa: T201
found = predict(fit(known, labels), asked)
with open("submission.csv", "w", newline="") as file:
    writer = csv.writer(file)
    writer.writerow(["id", "prediction"])
    writer.writerows([row["id"], one] for row, one in zip(production, found, strict=True))
