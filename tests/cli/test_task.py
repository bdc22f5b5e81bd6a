"""`ludus task` and `ludus config`."""

import json

import pytest
from typer.testing import CliRunner

from ludus.cli.main import app
from ludus.tasks import settings
from ludus.tasks.variables import SETTINGS


def run(*words):
    # What is no error of ours is raised here, and not a number of the shell's.
    result = CliRunner().invoke(app, list(map(str, words)), catch_exceptions=False)
    return result.exit_code, result.stdout


def test_tasks_are_listed_and_shown():
    code, text = run("task", "list", "--json")
    assert code == 0
    assert "task/SatHeuristic-v0" in json.loads(text)
    shown = run("task", "list")[1]
    assert "SatHeuristic-v0" in shown
    assert max(map(len, shown.splitlines())) <= 80
    assert "metric: r2" in run("task", "show", "tabular_regression")[1]
    assert json.loads(run("task", "show", "tabular_regression", "--schema")[1])["$ref"]


def test_a_new_task_is_run_resumed_replayed_forked_and_graded(tmp_path):
    folder = tmp_path / "add_up"
    assert run("task", "new", folder)[0] == 0
    code, text = run("task", "run", folder, "--agent", "reference", "--folder", tmp_path / "run", "--json")
    assert code == 0
    episode = json.loads(text)
    assert episode["outcome"] == "success"
    assert run("task", "replay", folder, tmp_path / "run") == (0, "the same\n")
    assert run("task", "fork", tmp_path / "run", 2, tmp_path / "fork")[0] == 0
    again = json.loads(
        run("task", "run", folder, "--agent", "reference", "--folder", tmp_path / "fork", "--resume", "--json")[1]
    )
    assert again["score"]["value"] == episode["score"]["value"]
    graded = json.loads(run("task", "grade", folder, tmp_path / "run" / "work")[1])
    assert graded["value"] == episode["score"]["value"]
    recorded = run("task", "run", folder, "--agent", "nop", "--record", tmp_path / "run.ludus")
    assert recorded[0] == 0
    assert (tmp_path / "run.ludus").stat().st_size > 0


def test_many_runs_are_made_compared_and_not_made_twice(tmp_path):
    folder, place = tmp_path / "add_up", tmp_path / "runs"
    run("task", "new", folder)
    words = ["task", "run", folder, "--agent", "nop", "--agent", "baseline", "--seeds", 2, "--out", place]
    code, text = run(*words)
    assert code == 0, text
    assert "[4/4]" in text
    assert max(map(len, text.splitlines())) <= 80
    code, text = run(*words, "--json")
    assert [one["agent"] for one in json.loads(text)["agents"]] == ["baseline", "nop"]
    code, text = run("task", "compare", place, "--html", tmp_path / "report.html")
    assert "baseline − nop: +" in text
    assert (tmp_path / "report.html").read_text().count("<svg") == 3
    refused = CliRunner().invoke(app, ["task", "run", str(folder), str(folder)])
    assert "expected --out FOLDER for more than one run" in refused.stderr


def test_runs_that_could_not_be_made_fail_the_command_and_are_made_by_the_next(tmp_path):
    folder, place = tmp_path / "add_up", tmp_path / "runs"
    run("task", "new", folder)
    generator = folder / "generator.py"
    whole = generator.read_text()
    generator.write_text("def generate(seed, public, hidden):\n    raise RuntimeError('not today')\n")
    words = ["task", "run", folder, "--agent", "nop", "--seeds", 2, "--out", place, "--json"]
    code, text = run(*words)
    assert (code, {one["outcome"] for one in json.loads(text)["runs"]}) == (1, {"environment_failed"})
    generator.write_text(whole)
    code, text = run(*words)
    assert (code, {one["outcome"] for one in json.loads(text)["runs"]}) == (0, {"failure"})


def test_what_cannot_be_imported_is_told(tmp_path):
    result = CliRunner().invoke(app, ["task", "import", str(tmp_path), str(tmp_path / "mine")])
    assert result.exit_code == 2
    assert "expected a task.toml folder (Harbor)" in " ".join(result.stderr.split())


def test_an_agent_that_is_unknown_is_told(tmp_path):
    for more in ([], ["--agent", "nop", "--out", str(tmp_path / "runs")]):
        result = CliRunner().invoke(app, ["task", "run", "sat_heuristic", "--agent", "referenze", *more])
        assert result.exit_code == 2
        assert "did you mean 'reference'" in result.stderr
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize("name", SETTINGS)
def test_every_variable_is_honoured_and_told(name, monkeypatch):
    variables = SETTINGS[name][0]
    for variable in reversed(variables):
        monkeypatch.setenv(variable, "17")
        (found,) = [one for one in settings() if one.name == name]
        assert (found.value, found.origin) == ("17", variable)
        (told,) = [one for one in json.loads(run("config", "--json")[1]) if one["name"] == name]
        assert (told["value"], told["origin"]) == ("17", variable)


def test_a_variable_that_is_no_time_is_told(monkeypatch):
    from ludus.errors import InvalidArgument
    from ludus.tasks import find_task
    from ludus.tasks.variables import applied

    monkeypatch.setenv("MLGYM_ENV_TIMEOUT", "soon")
    with pytest.raises(InvalidArgument, match="MLGYM_ENV_TIMEOUT: expected seconds above 0"):
        applied(find_task("sat_heuristic").spec)
