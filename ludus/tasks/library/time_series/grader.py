"""Mean absolute error of forecasts, relative to repeating the last week, over shops."""

import csv

import numpy as np

from ludus.tasks.inside.case import Case


def grade(case: Case) -> dict[str, float]:
    """Score the shops of one split; a submission has to predict all of them."""
    with (case.hidden / "labels.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    predicted = case.numbers("submission.csv", [row["id"] for row in rows])
    shops = sorted({row["shop"] for row in rows if row["split"] == case.split})
    ratios: list[float] = []
    for shop in shops:
        of_shop = np.array([row["shop"] == shop for row in rows])
        sales, repeated = (
            np.array([float(row[name]) for row in rows if row["shop"] == shop]) for name in ("sales", "repeated")
        )
        ratios.append(float(np.abs(predicted[of_shop] - sales).mean() / np.abs(repeated - sales).mean()))
    return {"relative_error": min(1e6, float(np.mean(ratios))), "worst_shop": min(1e6, max(ratios))}
