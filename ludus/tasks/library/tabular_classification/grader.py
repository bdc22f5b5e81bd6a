"""Macro F1 of predicted faults."""

import csv

from ludus.tasks.inside.case import Case

FAULTS = ("bearing", "seal", "motor", "none")


def grade(case: Case) -> dict[str, float]:
    """Score the ids of one split; a submission has to predict all of them."""
    with (case.hidden / "labels.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    predicted = case.predictions("submission.csv", [row["id"] for row in rows])
    pairs = [(one, row["fault"]) for one, row in zip(predicted, rows, strict=True) if row["split"] == case.split]
    return {
        "macro_f1": sum(f1(pairs, fault) for fault in FAULTS) / len(FAULTS),
        "accuracy": sum(one == fault for one, fault in pairs) / len(pairs),
    }


def f1(pairs: list[tuple[str, str]], fault: str) -> float:
    """Of one fault: 2 tp / (2 tp + fp + fn)."""
    both = sum(one == right == fault for one, right in pairs)
    either = sum(one == fault for one, _ in pairs) + sum(right == fault for _, right in pairs)
    return 2 * both / either if either else 0.0
