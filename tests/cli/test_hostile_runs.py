"""A stranger's run that is gone on with or forked: nothing outside its folder is read, changed or waited for."""

import json
import os
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ludus.cli import app
from ludus.tasks.agents.batch import planned_runs, run_jobs
from ludus.tasks.agents.choice import chosen_agent
from ludus.tasks.folder import find_task
from ludus.tasks.journal import Journal, JournalEntry
from tests.cli.run_folders import put_link, write_run
from tests.tasks.conftest import write_folder

LINKS = (
    "work", "public", "hidden", "fixed", "fixed/rules.txt", "empty", "bin", "task", "store", "store/objects",
    "store/temporary", "store/lock", "store/workspaces/work/log", "artifacts", "artifacts/answer.json",
    "journal.jsonl", "agent.jsonl", ".result.json", "run.ludus",
)  # fmt: skip
"""Whatever is written, mounted or restored from. `journal.jsonl` points at another run's."""


@pytest.fixture
def task(tmp_path):
    return write_folder(tmp_path / "parity")


@pytest.fixture
def run(tmp_path, task):
    return write_run(tmp_path / "run", task, answer__json="[true]", notes__txt="mine")


@pytest.fixture
def victim(tmp_path, run):
    """A folder that must stay as it is."""
    folder = tmp_path / "victim"
    folder.mkdir()
    (folder / "key").write_text("secret")
    (folder / "journal.jsonl").write_bytes((run / "journal.jsonl").read_bytes())
    before = seen(folder)
    yield folder
    assert seen(folder) == before


def seen(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {
        str(path.relative_to(folder)): (path.lstat().st_mode, path.read_bytes() if path.is_file() else b"")
        for path in (folder, *sorted(folder.rglob("*")))
    }


def said(*words: object) -> str:
    done = CliRunner().invoke(app, [str(one) for one in words])
    assert done.exit_code != 0
    assert isinstance(done.exception, SystemExit), done.exception
    return " ".join(done.output.split())


def test_a_run_with_a_link_in_the_place_of_a_part_is_not_gone_on_with(run, task, victim, tmp_path):
    for number, name in enumerate(LINKS):
        twisted = tmp_path / f"twisted-{number}"
        shutil.copytree(run, twisted, symlinks=True)
        is_file = name.endswith((".json", ".txt", "/log", "/lock", ".ludus"))
        target = "journal.jsonl" if name == "journal.jsonl" else "key" if is_file else "new" if "jsonl" in name else "."
        put_link(twisted / name, victim / target)
        told = said("task", "run", task, "--agent", "nop", "--folder", twisted, "--resume")
        assert "expected a file or a folder, got" in told or "expected a run that can be read" in told, (name, told)
        assert (twisted / "work").is_symlink() or (twisted / "work" / "notes.txt").exists()


def test_a_run_with_pipes_or_names_elsewhere_is_not_gone_on_with(run, task, victim):
    os.mkfifo(run / "store" / "objects" / "pipe")
    told = said("task", "run", task, "--agent", "nop", "--folder", run, "--resume")
    assert "which is a link or a device" in told
    (run / "store" / "objects" / "pipe").unlink()
    (run / "agent.jsonl").hardlink_to(victim / "key")
    told = said("task", "run", task, "--agent", "nop", "--folder", run, "--resume")
    assert "expected files with one name" in told


def test_a_fork_that_is_refused_leaves_no_copy(run, tmp_path, monkeypatch):
    (run / "hidden" / "deep").mkdir()
    os.mkfifo(run / "hidden" / "deep" / "pipe")
    assert "which is a link or a device" in said("task", "fork", run, 1, tmp_path / "fork")
    (run / "hidden" / "deep" / "pipe").unlink()
    deep = run / "public" / "/".join("d" * 120)
    deep.mkdir(parents=True)
    assert "expected at most 100 folders" in said("task", "fork", run, 1, tmp_path / "fork")
    shutil.rmtree(run / "public" / "d")
    with (run / "public" / "sparse").open("wb") as file:
        file.truncate(1 << 43)
    assert "bytes that are free, got" in said("task", "fork", run, 1, tmp_path / "fork")
    (run / "public" / "sparse").unlink()

    def torn(*_: object, **__: object) -> None:
        (tmp_path / "fork").mkdir()
        raise OSError("the disk is full")

    monkeypatch.setattr(shutil, "copytree", torn)
    assert "the disk is full" in said("task", "fork", run, 1, tmp_path / "fork")
    assert not (tmp_path / "fork").exists()


def test_a_journal_with_something_else_than_scores_is_told(run, task):
    last = JournalEntry(step=2, terminated=True, info={"outcome": "success"})
    for info, scores in (({"score": "x"}, []), ({"score": {"value": "x"}}, []), ({"command": [1]}, []),
                         ({}, [{"step": "x", "normalised": 1}]), ({}, [{"value": 2, "normalised": []}])):  # fmt: skip
        lines = (run / "journal.jsonl").read_bytes()
        last.info, last.scores = info, scores
        Journal(run).add(last)
        assert "expected a step, got" in said("task", "run", task, "--agent", "nop", "--folder", run, "--resume")
        (run / "journal.jsonl").write_bytes(lines)


def test_folders_of_runs_with_links_or_no_journals_are_results_that_say_so(run, task, victim, tmp_path):
    """Of many runs one is somebody else's: it is neither removed nor gone on with, and stops no other."""
    jobs = planned_runs([find_task(task)], ["nop"], [0, 1], tmp_path / "out")
    put_link(jobs[0].place.parent, victim)
    (victim / "0").mkdir()
    first, second = run_jobs(jobs, chosen_agent)
    assert (victim / "0").is_dir()
    assert "expected folders and no links" in first.reason
    assert "expected folders and no links" in second.reason
    jobs[0].place.parent.unlink()
    (victim / "0").rmdir()
    jobs[0].place.mkdir(parents=True)
    (jobs[0].place / "journal.jsonl").write_text(json.dumps({"stp": 1}) + "\n")
    [told] = run_jobs(jobs[:1], chosen_agent)
    assert (told.outcome, told.masked) == ("environment_failed", True)
    assert "expected a step" in told.reason
