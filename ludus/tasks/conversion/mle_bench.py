"""MLE-bench's competitions: `config.yaml`, `description.md`, `grade.py`, and data that were prepared before.

Their data come from Kaggle under its terms, so they are not fetched: `mlebench prepare` leaves `prepared/public` and
`prepared/private`, and the folder with them is named here. Grading is the competition's own function over two tables.
"""

import csv
import math
import re
from importlib.util import find_spec
from pathlib import Path

from ludus.errors import shorten
from ludus.tasks.conversion.converted_task import (
    ConversionError,
    Converted,
    below,
    check_imports,
    read_text,
    read_yaml,
    table_of,
)
from ludus.tasks.metric import DOWN, UP, Direction

__all__ = ["from_mle_bench"]

FEW_SCORES = 10
"""A leaderboard of fewer says nothing."""

GRADER = '''\
"""The competition's own grade(submission, answers), over the two tables as pandas reads them."""

import importlib.util
import sys
import types
from pathlib import Path

import pandas

from ludus.tasks.inside.case import Case, Rejected


class InvalidSubmissionError(Exception):
    """What a competition raises for a submission that is not as it was asked for."""


def grade(case: Case) -> dict[str, float]:
    """Score the submission."""
    case.read_text("submission.csv")
    helpers = types.ModuleType("mlebench.grade_helpers")
    helpers.InvalidSubmissionError = InvalidSubmissionError
    utils = types.ModuleType("mlebench.utils")
    utils.read_csv = pandas.read_csv
    package = types.ModuleType("mlebench")
    sys.modules.update({{"mlebench": package, "mlebench.grade_helpers": helpers, "mlebench.utils": utils}})
    spec = importlib.util.spec_from_file_location("competition", Path(__file__).with_name("competition.py"))
    competition = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(competition)
    submission = pandas.read_csv(case.submission / "submission.csv")
    answers = pandas.read_csv(case.hidden / {answers!r})
    try:
        return {{{metric!r}: float(competition.grade(submission, answers))}}
    except (InvalidSubmissionError, AssertionError, KeyError, ValueError) as error:
        raise Rejected(f"submission.csv: {{type(error).__name__}}: {{str(error)[:300]}}") from None
'''


def from_mle_bench(folder: Path, data: Path | None, direction: Direction | None = None) -> Converted:
    """The competition of a folder, with its prepared data below `data`."""
    config = read_yaml(folder / "config.yaml")
    name = str(config.get("id") or folder.resolve().name)
    grader = table_of(config, "grader", f"{folder}/config.yaml")
    metric = re.sub(r"\W+", "_", str(grader.get("name", "score"))).strip("_").lower()
    prepared = _prepared(name, folder, data)
    dataset = table_of(config, "dataset", f"{folder}/config.yaml")
    answers = Path(str(dataset.get("answers", "private/test.csv"))).name
    private = below(prepared, f"private/{answers}", f"{folder}/config.yaml, dataset.answers")
    _check_helpers(folder / "grade.py")
    described = folder / "description.md"
    scores = _leaderboard(folder / "leaderboard.csv")
    better = direction or _direction(metric, scores)
    fields: dict[str, object] = {
        "id": re.sub(r"\W+", "_", name) if name[:1].isalpha() else f"Competition_{re.sub(r'[^A-Za-z0-9]+', '_', name)}",
        "name": str(config.get("name", name)),
        "description": read_text(described) if described.is_file() else str(config.get("name", name)),
        "license": "the data: as the competition's rules say",
        "tags": ["mle-bench"],
        "timeouts": {"short": 60, "long": "1h", "total": "24h"},
        "evaluation": {"metric": metric, "direction": better, "validations": 0, **_marks(scores, better)},
        "submission": [{"path": "submission.csv", "format": "csv", "size": "512M"}],
        "resources": {"memory": "8G", "disk": "16G", "file_size": "4G"},
        "data": {"public": "public", "hidden": "hidden"},
        "requirements": ["numpy", "pandas"],
    }
    return Converted(
        kind="mle-bench",
        fields=fields,
        texts={"grader.py": GRADER.format(answers=answers, metric=metric)},
        copies={"competition.py": folder / "grade.py", "public": prepared / "public", f"hidden/{answers}": private},
        notes=["there is no public split: validate is off", _said_of(scores)],
    )


def _leaderboard(file: Path) -> list[float]:
    """The scores of those who took part, as they stand there; none where there is no such file."""
    if not file.is_file():
        return []
    try:
        with file.open(encoding="utf8", newline="") as rows:
            found = [float(row["score"]) for row in csv.DictReader(rows)]
    except (OSError, KeyError, ValueError, TypeError, csv.Error) as error:
        raise ConversionError(f"{file}: expected a column score of numbers, got {shorten(str(error))}") from error
    return [one for one in found if math.isfinite(one)]


def _marks(scores: list[float], direction: str) -> dict[str, float]:
    """The median as what is worth nothing, the best tenth as 1, and the best two fifths as success."""
    ordered = sorted(scores, reverse=direction == "maximize")
    if len(ordered) < FEW_SCORES:
        return {}
    marks = {"floor": 0.5, "threshold": 0.4, "reference": 0.1}
    return {name: ordered[int(share * len(ordered))] for name, share in marks.items()}


def _said_of(scores: list[float]) -> str:
    if len(scores) < FEW_SCORES:
        return "no leaderboard was found: set floor, threshold and reference in task.yaml"
    return (
        f"of the {len(scores)} scores of the leaderboard, the median is worth 0, the best two fifths are success, and "
        "the best tenth is worth 1"
    )


def _prepared(name: str, folder: Path, data: Path | None) -> Path:
    tried = [folder / "prepared"] if data is None else [data / name / "prepared", data / "prepared", data]
    for one in tried:
        if (one / "public").is_dir() and (one / "private").is_dir():
            return one.resolve()
    raise ConversionError(
        f"{name}: expected prepared/public and prepared/private below {tried[0].parent}, got none; run `mlebench "
        f"prepare -c {name}` where there is a network and a Kaggle account, and give its folder with --data"
    )


def _check_helpers(file: Path) -> None:
    check_imports(file, known=["mlebench"])
    if find_spec("pandas") is None:
        raise ConversionError(f"{file}: expected pandas, with which its tables are read, got none; pip install pandas")
    used = set(re.findall(r"from mlebench\.([\w.]+) import", read_text(file, errors="replace")))
    unknown = sorted(used - {"grade_helpers", "utils"})
    if unknown:
        raise ConversionError(
            f"{file}: expected it to need no more of mlebench than grade_helpers and utils, got {', '.join(unknown)}"
        )


def _direction(metric: str, scores: list[float]) -> Direction:
    """That of a metric that is known, or the one in which a leaderboard goes, whose first is the best."""
    if metric in UP | DOWN:
        return "maximize" if metric in UP else "minimize"
    if scores and scores[0] != scores[-1]:
        return "maximize" if scores[0] > scores[-1] else "minimize"
    raise ConversionError(
        f"metric {metric!r}: expected a known one, or a leaderboard.csv that shows its better end, got neither; "
        "give --direction"
    )
