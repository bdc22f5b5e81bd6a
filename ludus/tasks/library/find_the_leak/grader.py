"""Balanced accuracy of what was predicted for production."""

import csv

import numpy as np

from ludus.tasks.inside.case import Case, Rejected


def grade(case: Case) -> dict[str, float]:
    """Score the orders of one split; a submission has to predict all of them."""
    with (case.hidden / "labels.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    predicted = case.numbers("submission.csv", [row["id"] for row in rows])
    if not np.isin(predicted, (0.0, 1.0)).all():
        raise Rejected("submission.csv: expected predictions that are 0 or 1, got something else")
    counted = np.array([row["split"] == case.split for row in rows])
    returned = np.array([row["returned"] == "1" for row in rows])[counted]
    right = (predicted[counted] == 1.0) == returned
    shares = float(right[returned].mean()), float(right[~returned].mean())
    return {"balanced_accuracy": sum(shares) / 2, "returned_right": shares[0], "kept_right": shares[1]}
