"""`ludus new` and what it makes: checked, run, tested and installed, in a fresh folder."""

import subprocess
import sys
from importlib.metadata import distributions
from pathlib import Path

import pytest

from ludus.errors import InvalidArgument
from ludus.packaging import scaffold
from ludus.packaging.manifest import read_manifest

KINDS = ("typed", "tools", "array")

pytestmark = pytest.mark.no_cover


def run(*words, cwd, **options):
    return subprocess.run(
        [sys.executable, *map(str, words)], cwd=cwd, capture_output=True, text=True, timeout=600, check=False, **options
    )


@pytest.fixture(scope="module", params=KINDS)
def made(request, tmp_path_factory):
    """A new environment of each kind, as files."""
    return scaffold(f"new-{request.param}-game", tmp_path_factory.mktemp("made"), request.param)


def test_it_is_one_file_of_forty_lines_a_test_of_three_and_what_packages_them(made):
    code, test, *others = [path.read_text() for path in made]
    assert len(code.splitlines()) <= 40
    assert len([line for line in test.splitlines() if line]) == 3
    assert [path.name for path in made[2:]] == ["ludus.toml", "pyproject.toml", "README.md"]
    assert not [text for text in (code, test, *others) if "$class_name" in text or "${" in text]


@pytest.mark.in_turns("made")
def test_its_test_passes_at_once(made):
    done = run("-m", "pytest", "-q", "-W", "error", "-p", "no:cacheprovider", cwd=made[0].parent)
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout


@pytest.mark.in_turns("made")
def test_it_runs_and_is_checked_at_once(made):
    manifest = read_manifest(made[0].parent)
    done = run("-m", "ludus", "run", manifest.environment, "--episodes", 1, "--max-steps", 20, cwd=made[0].parent)
    assert done.returncode == 0, done.stderr
    done = run("-m", "ludus", "check", ".", "--strict", "--steps", 30, cwd=made[0].parent)
    assert done.returncode == 0, done.stdout + done.stderr


def test_it_is_clean_by_the_usual_linter(made):
    ruff = [sys.executable, "-m", "ruff", "check", "--isolated", "--select", "E,F,I,W", "--line-length", "120", "."]
    done = subprocess.run(ruff, cwd=made[0].parent, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.in_turns("made")  # what packages it is the same text for every kind
def test_installed_it_is_a_plugin(made, tmp_path):
    pip = ("-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index")
    done = run(*pip, "--target", tmp_path, made[0].parent, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    [found] = distributions(path=[str(tmp_path)])
    [point] = [one for one in found.entry_points if one.group == "ludus.envs"]
    program = f"import ludus; print(ludus.make({point.name!r}).reset(seed=0)[1])"
    done = run("-c", program, cwd="/", env={"PYTHONPATH": str(tmp_path), "PATH": ""})
    assert done.returncode == 0, done.stderr
    assert done.stdout == "{}\n"


@pytest.mark.parametrize(
    "name", ["", "Maze", "3d", "my maze", "my__maze", "maze-", "../maze", "a/b", "naïve", "x" * 51, "-maze"]
)
def test_a_name_that_cannot_be_all_that_it_has_to_be_is_refused(tmp_path, name):
    with pytest.raises(InvalidArgument, match="name: expected lower-case words"):
        scaffold(name, tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["class", "json", "ludus", "numpy"])
def test_a_name_that_another_module_has_is_refused(tmp_path, name):
    with pytest.raises(InvalidArgument, match=f"expected one that no module has yet, got '{name}'; try '{name}_env'"):
        scaffold(name, tmp_path)


def test_nothing_is_overwritten(tmp_path):
    scaffold("my_maze_game", tmp_path)
    (tmp_path / "my_maze_game" / "ludus.toml").write_text("mine")
    with pytest.raises(InvalidArgument, match="expected a new or empty folder, got one with"):
        scaffold("my_maze_game", tmp_path)
    assert (tmp_path / "my_maze_game" / "ludus.toml").read_text() == "mine"
    (tmp_path / "taken_by_file").write_text("mine")
    with pytest.raises(InvalidArgument, match="expected a folder that can be written"):
        scaffold("taken_by_file", tmp_path)


def test_an_empty_folder_is_filled(tmp_path):
    Path(tmp_path, "my_maze_game").mkdir()
    assert len(scaffold("my_maze_game", tmp_path)) == 5
