"""MLGym's YAML: tasks that ask for a CSV file, have local data and an evaluation script that prints JSON.

There, the script runs in the agent's own shell and labels lie in its data folder. Here the script runs in the grader's
sandbox on a copy of the submission, and data files that it opens, and the starter code does not, are hidden.
"""

import re
from collections.abc import Sequence
from fnmatch import fnmatch
from pathlib import Path

from ludus.spaces.kinds import is_dict, is_list
from ludus.tasks.conversion.converted_task import (
    ConversionError,
    Converted,
    below,
    check_imports,
    is_installed,
    number_of,
    read_text,
    read_yaml,
    texts_of,
)
from ludus.tasks.metric import DOWN, UP, Direction

__all__ = ["from_mlgym"]

RUNNABLE = "CSVSubmissionTasks"
SUBMISSION = "submission.csv"
CODE = (".py", ".sh", ".md", ".txt", ".ipynb")
NAME = re.compile(r"\s*([A-Za-z0-9][\w.-]*)")
GRADER = '''\
"""Runs the task's own evaluation script on a copy of the submission, and reads the JSON that it prints."""

import json
import os
import shutil
import subprocess
import sys
import tempfile

from ludus.tasks.inside.case import Case, Rejected


def grade(case: Case) -> dict[str, float]:
    """Score the submission; what the script says on its way is told where it fails."""
    case.read_text("submission.csv")
    with tempfile.TemporaryDirectory() as base:
        here = os.path.dirname(__file__)
        for folder in (f"{{here}}/given", case.data, case.hidden):  # the originals, wherever the script looks
            if os.path.isdir(folder):
                shutil.copytree(folder, base, dirs_exist_ok=True)
                shutil.copytree(folder, f"{{base}}/data", dirs_exist_ok=True)
        shutil.copyfile(case.submission / "submission.csv", f"{{base}}/submission.csv")
        script = os.path.join(here, {script!r})
        done = subprocess.run(
            [sys.executable, script, "--submission_file", "submission.csv"],
            cwd=base, capture_output=True, text=True, check=False,
        )
    for line in reversed(done.stdout.splitlines()):
        if line.startswith("{{"):
            try:
                found = json.loads(line.replace("'", '"'))
            except ValueError:
                break
            scores = {{str(name): float(value) for name, value in found.items()}}
            named = [name for name in scores if name.lower() == {metric!r}.lower()]
            return scores | ({{{metric!r}: scores[named[0]]}} if named else {{}})
    raise Rejected(f"the evaluation script ended with {{done.returncode}}: {{(done.stderr or done.stdout)[-500:]}}")
'''


def from_mlgym(
    file: Path, root: Path | None, *, hide: Sequence[str] = (), direction: Direction | None = None
) -> Converted:
    """The task of a file; paths in it begin at the repository's root, which is looked for above the file."""
    config = read_yaml(file)
    _check(config, file)
    base = _root(file, config) if root is None else root.resolve()
    scripts = [below(base, one, "starter_code") for one in texts_of(config, "starter_code", str(file))]
    evaluation = _named(config, "evaluation_paths", scripts, file)
    named = {Path(one).name for one in texts_of(config, "baseline_paths", str(file))}
    baselines = [one for one in scripts if one.name in named]
    check_imports(evaluation)
    others = [one for one in scripts if one != evaluation]
    datasets = texts_of(config, "dataset_configs", str(file))
    described = _description(config, datasets, base)
    data, notes = _data(datasets, described, base, evaluation, others, hide)
    requirements = _requirements(config, base, notes)
    metric, value = _metric(config, file)
    fields: dict[str, object] = {
        "id": _plain(str(config.get("id", file.stem))),
        "name": str(config.get("name", file.stem)),
        "description": described,
        "license": "as in the project that it comes from",
        "tags": ["mlgym"],
        "timeouts": {"short": 60, "long": config.get("training_timeout") or 1800, "total": 4 * 3600},
        "evaluation": {
            "metric": metric,
            "direction": direction or _direction(metric),
            **({} if value is None else {"baseline": value}),
        },
        "submission": [{"path": SUBMISSION, "format": "csv", "size": "64M"}],
        "data": {"public": "public", "hidden": "hidden"},
        "requirements": requirements,
    }
    starters = {f"starter/{one.name}": one for one in others if f"hidden/{one.name}" not in data}
    given = {f"given/{one.name}": one for one in others}
    notes.append("scores have no floor or reference: set them in task.yaml, then `ludus task audit` tells what leaks")
    if baselines:
        fields["baseline"] = {"folder": "baseline", "run": f"python {baselines[0].name}"}
        starters[f"baseline/{baselines[0].name}"] = baselines[0]
    return Converted(
        kind="mlgym",
        fields=fields,
        texts={"grader.py": GRADER.format(script=evaluation.name, metric=metric)},
        copies={evaluation.name: evaluation, **given, **starters, **data},
        notes=notes,
    )


def _check(config: dict[str, object], file: Path) -> None:
    entry = config.get("task_entrypoint", RUNNABLE)
    if entry == "PythonSubmissionTasks":
        why = "its evaluation imports submitted code into the process that scores"
    elif entry != RUNNABLE:
        why = f"{entry} evaluates models on GPUs"
    elif not (config.get("evaluation_paths") and config.get("dataset_configs")):
        why = "it names no evaluation_paths and dataset_configs"
    else:
        return
    raise ConversionError(
        f"{file}, task_entrypoint: expected a {RUNNABLE} task with a script and local data, got one that cannot be "
        f"graded here: {why}; write a grader.py with case.program(…) instead (docs/tasks.md)"
    )


def _root(file: Path, config: dict[str, object]) -> Path:
    """The folder that paths begin at: the nearest one above in which the first of them is there."""
    starters = texts_of(config, "starter_code", str(file))
    datasets = texts_of(config, "dataset_configs", str(file))
    for folder in file.resolve().parents:
        if all((folder / one).exists() for one in starters) and any(_dataset(folder, one) for one in datasets):
            return folder
    raise ConversionError(
        f"{file}: expected starter_code and dataset_configs in a folder above it, got none; say which with --data ROOT"
    )


def _dataset(root: Path, path: str) -> Path | None:
    return next((one for one in (root / path, root / "configs" / path) if one.is_file()), None)


def _named(config: dict[str, object], key: str, scripts: list[Path], file: Path) -> Path:
    wanted = Path(texts_of(config, key, str(file))[0]).name
    found = next((one for one in scripts if one.name == wanted), None)
    if found is None:
        raise ConversionError(f"{file}, {key}: expected one of starter_code, got {wanted!r}")
    return found


def _data(
    datasets: list[str], described: str, root: Path, evaluation: Path, starters: list[Path], hide: Sequence[str]
) -> tuple[dict[str, Path], list[str]]:
    """The data files by where they go, and which of them are hidden."""
    judged = read_text(evaluation, errors="replace")
    code = "\n".join(read_text(one, errors="replace") for one in starters if one.suffix in CODE)
    shown = f"{code}\n{described}"  # what a task's words name, its agent may see
    copies: dict[str, Path] = {}
    hidden: list[str] = []
    for path in datasets:
        file = _dataset(root, path)
        dataset = {} if file is None else read_yaml(file)
        if file is None or not dataset.get("is_local"):
            raise ConversionError(
                f"{path}: expected a dataset with files (is_local: true), got one that is downloaded; nothing here has "
                "a network: save it as files first"
            )
        folder = below(root, str(dataset["data_path"]), f"{path}, data_path")
        for one in sorted(found for found in folder.rglob("*") if found.is_file() and found != evaluation):
            name = str(one.relative_to(folder))
            secret = (one.name in judged and one.name not in shown) or any(fnmatch(name, pattern) for pattern in hide)
            copies[f"{'hidden' if secret else 'public'}/{name}"] = one
            hidden += [name] if secret else []
    if not hidden:
        raise ConversionError(
            f"{evaluation.name}: expected data files that only it opens, to be hidden, got none: labels would lie in "
            "the agent's workspace; name them with --hide PATTERN"
        )
    return copies, [f"hidden from agents: {', '.join(hidden)}; look through public/ for what else tells answers"]


def _requirements(config: dict[str, object], root: Path, notes: list[str]) -> list[str]:
    """What the agent's Python is given: the packages that the task asks for and that are installed here."""
    path = config.get("requirements_path")
    if not path:
        return ["numpy"]
    lines = read_text(below(root, str(path), "requirements_path")).splitlines()
    asked = [found[1] for line in lines if (found := NAME.match(line))]
    missing = [one for one in asked if not is_installed(one)]
    if missing:
        notes.append(f"not installed here, so that agents do without: {', '.join(missing)}")
    return [one for one in asked if one not in missing] or ["numpy"]


def _metric(config: dict[str, object], file: Path) -> tuple[str, float | None]:
    scores: object = config.get("baseline_scores")
    first: object = scores[0] if is_list(scores) and scores else scores
    if not is_dict(first) or not first:
        raise ConversionError(
            f"{file}, baseline_scores: expected a score by its name, got none; the first is the metric"
        )
    name, value = next(iter(first.items()))
    return str(name), number_of({str(name): value}, str(name), 0.0, f"{file}, baseline_scores")


def _direction(metric: str) -> str:
    plain = metric.lower().replace(" ", "_")
    if plain in UP | DOWN:
        return "maximize" if plain in UP else "minimize"
    raise ConversionError(f"metric {metric!r}: expected a known one, got one whose better end nobody told; --direction")


def _description(config: dict[str, object], datasets: list[str], root: Path) -> str:
    docs = [read_yaml(one).get("description", "") for path in datasets if (one := _dataset(root, path))]
    return str(config.get("description", "")).replace("{dataset_docs}", "\n\n".join(map(str, docs)))


def _plain(name: str) -> str:
    kept = "".join(char if char.isalnum() else "_" for char in name)
    return kept if kept[:1].isalpha() else f"Task_{kept}"
