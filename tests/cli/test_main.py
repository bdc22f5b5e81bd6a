"""The command itself."""

import os
import subprocess
import sys
import warnings
from contextlib import nullcontext
from importlib import import_module
from importlib.util import find_spec

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


@pytest.mark.parametrize("word", ["maze:Maze", "maze:mine/Maze-v0", "--agent=maze:Left", "w.safetensors:maze:Net"])
def test_the_current_folder_is_looked_in_once_where_a_word_names_a_module(folder, monkeypatch, word):
    monkeypatch.setattr(sys, "path", ["/elsewhere"])
    import_from_here(["run", word])
    import_from_here(["run", word])
    assert sys.path == [os.getcwd(), "/elsewhere"]


@pytest.mark.parametrize("isolation", ["none", "sandbox"])
def test_what_a_file_names_in_the_current_folder_is_found_behind_all_else(folder, monkeypatch, isolation):
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    (folder / "recorded_maze.py").write_text("")
    (folder / "wave.py").write_text("raise SystemExit('the one of the folder')")
    import_from_here(["replay", "run.ludus", "--isolation", isolation])
    assert (sys.path[-1] == os.getcwd()) == (isolation == "none")
    assert find_spec("recorded_maze").origin == str(folder / "recorded_maze.py")
    assert find_spec("wave").origin != str(folder / "wave.py")
    with pytest.raises(ModuleNotFoundError) if isolation == "sandbox" else nullcontext():
        import_module("recorded_maze")
    sys.modules.pop("recorded_maze", None)


@pytest.mark.parametrize("words", [[], ["CartPole-v1"], ["http://localhost:8000"], [".", "--port", "80"], ["a/b:1"]])
def test_nothing_is_imported_from_the_current_folder_where_no_word_names_a_module(folder, monkeypatch, words):
    monkeypatch.setattr(sys, "path", ["/elsewhere"])
    import_from_here(words)
    assert sys.path == ["/elsewhere"]


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
