"""Baseline: how far each pixel is from the colour of the corners, and the nearest mean of that."""

import csv

import numpy as np


def described(path: str) -> np.ndarray:
    """One number for each pixel."""
    pictures = np.load(path).astype(float)
    corners = np.median(pictures[:, [0, 0, -1, -1], [0, -1, 0, -1]], axis=1)
    far = np.abs(pictures - corners[:, None, None]).sum(axis=3).reshape(len(pictures), -1)
    return far / (far.max(axis=1, keepdims=True) + 1e-9)


with open("data/train.csv", newline="") as file:
    labels = np.array([row["label"] for row in csv.DictReader(file)])
with open("data/test.csv", newline="") as file:
    test = list(csv.DictReader(file))
known, asked = described("data/train.npy"), described("data/test.npy")
names = sorted(set(labels))
means = np.array([known[labels == one].mean(axis=0) for one in names])
found = ((asked[:, None] - means[None]) ** 2).sum(axis=2).argmin(axis=1)
with open("submission.csv", "w", newline="") as file:
    writer = csv.writer(file)
    writer.writerow(["id", "prediction"])
    writer.writerows([row["id"], names[found[int(row["row"])]]] for row in test)
