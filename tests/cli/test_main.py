"""The command itself."""

import os
import subprocess
import sys
import warnings

import pytest

import ludus as library
from ludus.cli.group import import_from_here

VERBS = (
    "demo", "list", "info", "run", "new", "check", "build", "push", "bench", "audit",
    "serve", "sessions", "version", "ui",
)  # fmt: skip


def test_without_a_verb_it_shows_its_verbs(ludus):
    shown = ludus().output
    assert [verb for verb in VERBS if f"│ {verb} " not in shown] == []


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_explains_itself(ludus, verb):
    for flag in ("--help", "-h"):
        shown = ludus(verb, flag)
        assert (shown.exit_code, shown.output.count(f"ludus {verb}")) == (0, 1)


def test_versions(program):
    assert program("--version").stdout == f"ludus {library.__version__}\n"
    assert program("version").stdout.startswith(f"ludus {library.__version__} · Python 3.")


def test_it_runs_as_a_module_too(folder):
    done = subprocess.run([sys.executable, "-m", "ludus", "--help"], capture_output=True, text=True, check=True)
    assert "Usage: ludus [OPTIONS] COMMAND" in done.stdout


def test_the_current_folder_is_looked_in_once(folder, monkeypatch):
    monkeypatch.setattr(sys, "path", ["/elsewhere"])
    import_from_here()
    import_from_here()
    assert sys.path == [os.getcwd(), "/elsewhere"]


def test_warnings_are_one_line_without_a_place_and_only_for_the_command(ludus, folder, monkeypatch):
    monkeypatch.syspath_prepend(str(folder))
    (folder / "warned.py").write_text(
        "import warnings\nfrom ludus.envs.teaching.grid_world import GridWorld\n"
        "def Env():\n    warnings.warn('beware [this]', UserWarning)\n    return GridWorld()\n"
    )
    before = warnings.showwarning
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        shown = ludus("run", "warned:Env", "--episodes", 1)
    assert shown.stderr == "warning: beware [this]\n"
    assert warnings.showwarning is before


def test_other_errors_are_not_hidden(ludus, folder, monkeypatch):
    monkeypatch.syspath_prepend(str(folder))
    (folder / "buggy.py").write_text("def Env():\n    return 1 / 0\n")
    assert isinstance(ludus("run", "buggy:Env").exception, ZeroDivisionError)
