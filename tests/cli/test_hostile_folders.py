"""Folders of strangers that are too deep, and programs nested too far: a line that says so, and no traceback."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ludus.cli import app
from ludus.errors import EnvError, TrajectoryError
from ludus.tasks.agents.run import grade_folder
from ludus.tasks.folder import find_task
from ludus.trajectory.minari import from_minari
from tests.tasks.conftest import write_folder
from tests.tasks.test_conversion import harbor

DEEP = 1200
"""Folders one in the other: more than Python goes down by recursion."""
GENERATOR = """
import os

def generate(seed, public, hidden):
    os.chdir(public)
    for _ in range({}):
        os.mkdir("d")
        os.chdir("d")
"""
NESTED = {"negations": "not " * 100_000 + "1", "attributes": "a" + ".b" * 100_000}


def dig(folder: Path) -> None:
    """Make it deep, without a path that would be too long."""
    at = os.open(folder, os.O_RDONLY)
    for _ in range(DEEP):
        os.mkdir("d", dir_fd=at)
        below = os.open("d", os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = below
    os.close(at)


@pytest.fixture
def deep(tmp_path):
    """Called with a folder; all of them are gone before pytest would go down into them."""
    made: list[Path] = []

    def make(folder: Path) -> Path:
        folder.mkdir(exist_ok=True)
        dig(folder)
        made.append(folder)
        return folder

    yield make
    subprocess.run(["rm", "-rf", *map(str, [*made, tmp_path / "new", tmp_path / ".new.importing"])], check=True)


def said(*words: object) -> str:
    done = CliRunner().invoke(app, [str(one) for one in words])
    assert isinstance(done.exception, SystemExit), done.exception
    assert done.exit_code == 2
    return " ".join(done.output.split())


@pytest.mark.full
def test_a_folder_that_is_too_deep_is_told(tmp_path, deep):
    task = deep(write_folder(tmp_path / "parity"))
    assert "expected at most 100 folders one in the other" in said("task", "run", task, "--agent", "nop")
    for place in ("starter", "reference"):
        other = write_folder(tmp_path / place)
        deep(other / place)
        assert "expected" in said("task", "run", other, "--agent", "reference")
    assert "too deep" in said("task", "compare", deep(tmp_path / "runs"))
    assert "too deep" in said("leaderboard", deep(tmp_path / "results"))
    harbor(tmp_path / "harbor")
    deep(tmp_path / "harbor" / "tests")
    assert "expected files and folders that can be copied" in said(
        "task", "import", tmp_path / "harbor", tmp_path / "new"
    )
    assert not (tmp_path / "new").exists()


def test_a_generator_that_writes_folders_one_in_the_other_is_told_and_leaves_nothing(tmp_path, monkeypatch):
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr("ludus.sandbox.leftovers._base", lambda: str(place))
    task = find_task(write_folder(tmp_path / "parity", generator__py=GENERATOR.format(DEEP)))
    (tmp_path / "answer.json").write_text("[]")
    with pytest.raises(EnvError, match="generator: expected at most 100 folders one in the other, got more in public"):
        grade_folder(task, tmp_path, 0)
    assert os.listdir(place) == []


def test_a_program_that_is_nested_too_far_or_a_solution_that_is_no_text_is_told(tmp_path):
    for name, code in NESTED.items():
        task = write_folder(tmp_path / name, grader__py=code)
        assert "evaluation.grader: expected a Python file, got grader.py" in said("task", "run", task, "--agent", "nop")
    task = write_folder(tmp_path / "bytes")
    (task / "reference" / "weights").write_bytes(b"\xff\xfe")
    assert "expected text files of a solution" in said("task", "run", task, "--agent", "reference")


def test_metadata_of_a_dataset_that_is_none_is_told(tmp_path):
    (tmp_path / "metadata.json").write_text("[" * 100_000)
    with pytest.raises(TrajectoryError, match="expected a dataset of Minari, got RecursionError"):
        from_minari(tmp_path, tmp_path / "run.ludus")
    (tmp_path / "metadata.json").unlink()
    os.mkfifo(tmp_path / "metadata.json")
    with pytest.raises(TrajectoryError, match="something else than a file"):
        from_minari(tmp_path, tmp_path / "run.ludus")


def test_numbers_that_statistics_cannot_take_are_told(tmp_path):
    result = {"task": "task/A-v0", "agent": "a", "seed": 0, "outcome": "success"}
    for number, more in enumerate([{"normalised": 1e308}, {"value": -1e308}, {"scores": [[1, 1e99]]}]):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "result.json").write_text(json.dumps(result | more))
        assert "expected numbers of at most 1e+60" in said("task", "compare", folder)
