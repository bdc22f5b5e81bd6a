"""Baseline: leave out what is empty or constant in production, and the column that knows too much of the rest."""

import csv
import runpy

import numpy as np

pipeline = runpy.run_path("pipeline.py")  # a starter file: what it reads and fits with is not what leaks
fit, predict, read, table_of = (pipeline[name] for name in ("fit", "predict", "read", "table_of"))

train, production = read("data/train.csv"), read("data/production.csv")
columns = [name for name in train[0] if name not in ("id", "customer", "returned")]
columns = [name for name in columns if len({row[name] for row in production}) > 1]
labels = np.array([int(row["returned"]) for row in train])
knows = np.abs(np.corrcoef(table_of(train, columns).T, labels)[-1, :-1])
columns.pop(int(np.argmax(knows)))
table, asked = table_of(train, columns), table_of(production, columns)
mean, spread = table.mean(axis=0), table.std(axis=0)
found = predict(fit((table - mean) / spread, labels), (asked - mean) / spread)
with open("submission.csv", "w", newline="") as file:
    writer = csv.writer(file)
    writer.writerow(["id", "prediction"])
    writer.writerows([row["id"], one] for row, one in zip(production, found, strict=True))
