"""Baseline: the caption of the most similar picture."""

import csv

import numpy as np


def flat(path: str) -> np.ndarray:
    """Pictures as rows, without their mean."""
    table = np.load(path).astype(float).reshape(-1, 24, 24, 3)
    table -= np.median(table, axis=(1, 2), keepdims=True)
    return table.reshape(len(table), 8, 3, 8, 3, 3).mean(axis=(2, 4)).reshape(len(table), -1)


with open("data/train.csv", newline="") as file:
    captions = [row["caption"] for row in csv.DictReader(file)]
with open("data/test.csv", newline="") as file:
    test = list(csv.DictReader(file))
known, asked = flat("data/train.npy"), flat("data/test.npy")
far = (asked**2).sum(axis=1)[:, None] + (known**2).sum(axis=1)[None] - 2 * asked @ known.T
nearest = far.argmin(axis=1)
with open("submission.csv", "w", newline="") as file:
    writer = csv.writer(file)
    writer.writerow(["id", "prediction"])
    writer.writerows([row["id"], captions[nearest[int(row["row"])]]] for row in test)
