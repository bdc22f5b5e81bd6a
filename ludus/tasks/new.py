"""`new_task`: a folder to begin with, whose task runs and passes the audit as it stands."""

from pathlib import Path

from ludus.errors import InvalidArgument

__all__ = ["new_task"]

TASK = """\
id: {name}-v0
name: Take away
description: |
  `data/test.csv` has 200 rows with an id and the numbers a and b. Write `submission.csv` with the columns `id` and
  `prediction`: the value that rows like these have in the column `value` of `data/train.csv`. The score is R².
version: "1"
license: Apache-2.0 OR MIT
tags: [regression]
max_steps: 30
timeouts: {{short: 60, long: 300, total: 1800, grading: 60}}
evaluation: {{metric: r2, floor: 0.0, baseline: 0.5, reference: 0.99, threshold: 0.95, validations: 8}}
submission:
  - {{path: submission.csv, format: csv, size: 64K}}
resources: {{memory: 512M, cpu: 2, disk: 32M, processes: 64}}
data: {{generator: generator.py}}
requirements: [numpy]
"""
GENERATOR = '''\
"""Rows whose value is what two numbers leave of ten, and never one of them; the test rows' values are hidden."""

from pathlib import Path

import numpy as np


def generate(seed: int, public: Path, hidden: Path) -> None:
    """Write what the agent sees to `public`, and what only the grader sees to `hidden`."""
    rng = np.random.default_rng(seed)
    pairs = rng.normal(size=(400, 2))
    values = 10 - pairs.sum(axis=1) + rng.normal(0, 0.05, 400)
    splits = ["train"] * 200 + list(rng.permutation(["validation"] * 100 + ["test"] * 100))
    train, test, labels = ["id,a,b,value"], ["id,a,b"], ["id,value,split"]
    for at, (pair, value, split) in enumerate(zip(pairs, values, splits, strict=True)):
        row = f"r{at},{pair[0]:.4f},{pair[1]:.4f}"
        if split == "train":
            train.append(f"{row},{value:.4f}")
        else:
            test.append(row)
            labels.append(f"r{at},{value:.4f},{split}")
    (public / "train.csv").write_text("\\n".join(train) + "\\n")
    (public / "test.csv").write_text("\\n".join(test) + "\\n")
    (hidden / "labels.csv").write_text("\\n".join(labels) + "\\n")
'''
GRADER = '''\
"""R² of the predicted values."""

import csv

import numpy as np

from ludus.tasks.inside.case import Case


def grade(case: Case) -> dict[str, float]:
    """Score the rows of one split."""
    with (case.hidden / "labels.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    predicted = case.numbers("submission.csv", [row["id"] for row in rows])
    counted = np.array([row["split"] == case.split for row in rows])
    values = np.array([float(row["value"]) for row in rows])[counted]
    error = predicted[counted] - values
    return {"r2": max(-1.0, 1.0 - float(np.mean(error**2)) / float(np.var(values)))}
'''
SOLUTION = '''\
"""{about}"""

import csv

with open("data/test.csv", newline="") as file:
    rows = list(csv.DictReader(file))
with open("submission.csv", "w") as file:
    print("id,prediction", file=file)
    for row in rows:
        print(f"{{row['id']}},{{{formula}}}", file=file)
'''
FILES = {
    "generator.py": GENERATOR,
    "grader.py": GRADER,
    "starter/README.md": "# Take away\n\nWrite submission.csv for the rows of data/test.csv.\n",
    "baseline/solution.py": SOLUTION.format(about="Baseline: one of the numbers.", formula="10 - float(row['a'])"),
    "reference/solution.py": SOLUTION.format(
        about="Reference: both.", formula="10 - float(row['a']) - float(row['b'])"
    ),
}


def new_task(folder: Path | str) -> Path:
    """Write a task that runs; InvalidArgument where the folder is there already."""
    place = Path(folder)
    if place.exists():
        raise InvalidArgument(f"new task: expected a folder that is not there, got {place}")
    name = "".join(part.capitalize() for part in place.name.replace("-", "_").split("_")) or "Task"
    for path, text in {"task.yaml": TASK.format(name=name), **FILES}.items():
        file = place / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf8")
    return place
