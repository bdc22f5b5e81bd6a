"""R² of predicted prices."""

import csv

import numpy as np

from ludus.tasks.inside.case import Case


def grade(case: Case) -> dict[str, float]:
    """Score the ids of one split; a submission has to predict all of them."""
    with (case.hidden / "labels.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    predicted = case.numbers("submission.csv", [row["id"] for row in rows])
    counted = np.array([row["split"] == case.split for row in rows])
    prices = np.array([float(row["price"]) for row in rows])[counted]
    error = predicted[counted] - prices
    r2 = 1.0 - float(np.mean(error**2)) / float(np.var(prices))
    return {"r2": max(-1.0, r2), "rmse": min(1e9, float(np.sqrt(np.mean(error**2))))}
