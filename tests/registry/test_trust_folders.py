"""A folder's files may have the name of any module: none of them runs here where the folder has to be isolated."""

import os
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec

import pytest

from ludus.cli.target import meant
from ludus.errors import LudusError
from ludus.packaging.manifest import read_manifest
from ludus.registry.folder_code import IsolatedFinder
from ludus.registry.trust import required_in_folder
from ludus.server.config import ServerConfig
from ludus.server.targets import offered

OPTIONAL = ("PIL", "docker", "gymnasium", "httptools", "msgspec", "orjson", "playwright", "pygame", "rich", "starlette",
            "torch", "uvicorn", "uvloop", "websockets", "yaml", "zstandard")  # fmt: skip
PROGRAM = "from ludus.cli.main import app; app()"
MAZE = """
import ludus
from ludus.spaces import Discrete


class Maze(ludus.Env):
    def __init__(self):
        self.observation_space, self.action_space = Discrete(3), Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return 0, {}

    def step(self, action):
        return ludus.Step(1, 1.0, True, False, {})
"""


def shadow(folder, mark):
    """Files that have the name of any module that a program may come to load, each of which leaves a mark."""
    for name in (*sys.stdlib_module_names, *OPTIONAL):
        (folder / f"{name}.py").write_text(f"{mark}\nraise ImportError('not the one that was meant')\n")


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "maze"
    path.mkdir()
    (path / "ludus.toml").write_text('name = "maze"\nenvironment = "maze_code:Maze"\n')
    mark = f"open({str(tmp_path / 'marker')!r}, 'a').write(__name__)"
    (path / "maze_code.py").write_text(f"try:\n    {mark}\nexcept OSError:\n    pass\n{MAZE}")
    shadow(path, mark)
    return path


@pytest.fixture
def distrusted(monkeypatch):
    """Where not even one's own code runs here, and whatever is found there is forgotten afterwards."""
    monkeypatch.setenv("LUDUS_TRUST", "third-party=sandbox,first-party=sandbox")
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    return monkeypatch


def run(folder, *words, trust="third-party=sandbox,first-party=sandbox"):
    """A program as it is installed: Python's `-m` itself would look into the current folder first."""
    return subprocess.run(
        [sys.executable, "-I", "-c", PROGRAM, *words],
        env=os.environ | {"LUDUS_TRUST": trust}, cwd=folder, capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("words", "trust"),
    [
        (("run", "../maze", "--episodes", "1"), "third-party=sandbox,first-party=sandbox"),
        (("run", "maze_code:Maze", "--episodes", "1", "--isolation", "sandbox"), ""),
        *(pytest.param(words, trust, marks=pytest.mark.full) for words, trust in (
            (("run", "../maze", "--episodes", "1", "--isolation", "sandbox"), ""),
            (("run", "maze_code:Maze", "--episodes", "1"), "third-party=sandbox,first-party=sandbox"),
            (("run", ".", "--episodes", "1"), "third-party=sandbox,first-party=sandbox"),
            (("info", "../maze"), "third-party=sandbox,first-party=sandbox"),
            (("eval", "maze_code:Maze", "--agent", "random"), "third-party=sandbox,first-party=sandbox"),
            (("list",), ""),
            (("version",), ""),
            (("run", "CartPole-v1", "--episodes", "1", "--isolation", "sandbox"), ""),
        )),
    ],
)  # fmt: skip
def test_no_file_of_a_folder_runs_for_a_module_of_another_name(folder, words, trust):
    """`ludus info FOLDER` ran the folder's `shlex.py` here, and `ludus list` the `msgspec.py` of the current one."""
    done = run(folder, *words, trust=trust)
    assert not (folder.parent / "marker").exists(), (folder.parent / "marker").read_text()
    assert done.returncode == 0, done.stderr


def test_a_folder_that_is_isolated_is_located_and_not_imported(folder, distrusted):
    before = list(sys.path)
    assert read_manifest(folder).enter().isolation == "sandbox"
    assert sys.path == before
    found = find_spec("maze_code")
    assert found is not None
    assert found.origin == str(folder / "maze_code.py")
    with pytest.raises(ImportError, match=r"maze_code: expected code that may run in this process, got that of /"):
        import_module("maze_code")
    assert not (folder.parent / "marker").exists()


def test_a_folder_that_is_trusted_later_is_imported(folder, distrusted):
    read_manifest(folder).enter()
    assert read_manifest(folder).enter("none").isolation == "sandbox"  # asked for, and somebody's word goes before
    assert sys.path[0] == str(folder)
    assert not any(isinstance(one, IsolatedFinder) for one in sys.meta_path)


@pytest.mark.parametrize("isolation", ["process", "sandbox", "container"])
def test_whoever_asks_for_isolation_imports_nothing_of_the_folder(folder, distrusted, isolation):
    distrusted.delenv("LUDUS_TRUST")
    before = list(sys.path)
    assert read_manifest(folder).enter(isolation).isolation == "none"
    assert sys.path == before


def test_a_folder_whose_author_asks_for_isolation_is_not_imported_from(folder, distrusted):
    distrusted.delenv("LUDUS_TRUST")
    with (folder / "ludus.toml").open("a") as file:
        file.write('[permissions]\nisolation = "sandbox"\n')
    before = list(sys.path)
    read_manifest(folder).enter()
    assert sys.path == before


@pytest.mark.parametrize("app", ["server.app:app", "ludus.server.app:create_app", "numpy:array"])
def test_an_application_by_whatever_name_is_the_folders(tmp_path, distrusted, app):
    """One that named a module of ours was no stranger's, and its folder was imported in a plain process."""
    (tmp_path / "server").mkdir()
    marker = tmp_path / "marker"
    tmp_path.chmod(0o777)
    for path in (tmp_path / "__init__.py", tmp_path / "server" / "app.py"):
        path.write_text(f"app = None\ntry:\n    open({str(marker)!r}, 'a').write('x')\nexcept OSError:\n    pass\n")
    (tmp_path / "openenv.yaml").write_text(f"name: maze\napp: {app}\n")
    assert meant(str(tmp_path)).isolation == "sandbox"
    with pytest.raises(LudusError, match=r"expected (what its application|an application of)"):
        offered([str(tmp_path)], ServerConfig())
    assert not marker.exists()


def test_a_word_for_a_package_is_none_for_a_folder_that_takes_its_name(distrusted):
    distrusted.setenv("LUDUS_TRUST", "first-party=sandbox,third-party=sandbox,numpy=none,maze=none")
    assert required_in_folder("numpy:Maze").isolation == "sandbox"
    assert required_in_folder("maze:Maze").isolation == "none"
