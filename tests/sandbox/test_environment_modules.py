"""A user's own module is found behind every backend: whatever kind it is, and whoever may read its folder."""

import json
import math
import os
import random
import signal
import subprocess
import sys
import tempfile
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from uuid import uuid4

import numpy as np
import pytest

import ludus
from ludus.sandbox import Limits, Sandbox, backend
from ludus.sandbox.environment import isolate
from ludus.spaces import Discrete

LIMITS = Limits(wall=None)
SOURCE = """
import ludus
from ludus.spaces import Discrete


class Env(ludus.Env):
    def __init__(self):
        self.observation_space = Discrete(9)
        self.action_space = Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return 4, {"module": __name__}
"""
every_backend = pytest.mark.parametrize("name", ["landlock", "bubblewrap", "process", "podman"])


def sandbox(name: str) -> Sandbox:
    found = backend(name).probe()
    assert found.works, found.detail
    return Sandbox(name, limits=LIMITS)


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """A folder that nobody but its owner may enter, as a home often is, among those that are imported from."""
    made = tmp_path / "project"
    made.mkdir()
    tmp_path.chmod(0o700)
    monkeypatch.syspath_prepend(str(made))
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    return made


def write(path: Path, text: str = SOURCE) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def module(folder: Path, name: str) -> str:
    write(folder / f"{name}.py")
    return name


def package(folder: Path, name: str) -> str:
    write(folder / name / "__init__.py", "")
    write(folder / name / "parts" / "__init__.py", "from .env import Env")
    write(folder / name / "parts" / "env.py")
    return f"{name}.parts"


def namespace(folder: Path, name: str) -> str:
    """In two folders, of which the second has the module."""
    other = folder.parent / "other"
    write(folder / name / "first.py", "")
    write(other / name / "second.py", f"import {name}.first\n{SOURCE}")
    sys.path.append(str(other))
    return f"{name}.second"


class Mapped:
    """What an editable install puts into the import system: a name, and a folder that is called otherwise."""

    def __init__(self, name: str, file: Path) -> None:
        self.name, self.file = name, file

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        folders = [str(self.file.parent)]
        return (
            spec_from_file_location(name, self.file, submodule_search_locations=folders) if name == self.name else None
        )


def editable(folder: Path, name: str) -> str:
    sys.meta_path.append(Mapped(name, write(folder / "src" / "called-otherwise" / "__init__.py")))
    return name


def linked(folder: Path, name: str) -> str:
    """The file itself is elsewhere, under another name."""
    (folder / f"{name}.py").symlink_to(write(folder.parent / "elsewhere" / "unlike.py"))
    return name


@pytest.mark.in_turns("name")
@every_backend
@pytest.mark.parametrize("kind", [module, package, namespace, editable, linked])
def test_a_users_module_is_found(kind, name, folder, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    target = f"{kind(folder, f'mine_{uuid4().hex}')}:Env"
    with isolate(target, sandbox=sandbox(name)) as env:
        observation, info = env.reset(seed=0)
    assert (observation, info["module"].partition(".")[0]) == (4, target.partition(":")[0].partition(".")[0])


@pytest.mark.in_turns("name")
@pytest.mark.parametrize("name", ["landlock", "bubblewrap", "process"])
@pytest.mark.parametrize("mode", [0o755, 0o700])
@pytest.mark.parametrize("how", ["-c", "script.py"])
def test_a_module_of_the_current_folder_is_found_by_make(how, mode, name):
    code = (
        "import ludus\nfrom ludus.sandbox import Sandbox\n"
        f"with ludus.make('mine:Env', isolation=Sandbox({name!r})) as env:\n    print(env.reset(seed=0)[0])\n"
    )
    with tempfile.TemporaryDirectory() as place:
        os.chmod(place, mode)
        write(Path(place, "mine.py"))
        write(Path(place, "script.py"), code)
        words = ["-c", code] if how == "-c" else ["script.py"]
        variables = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(Path(ludus.__file__).parents[1])}
        command = [sys.executable, *words]
        done = subprocess.run(command, cwd=place, env=variables, capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("4\n", 0), done.stderr


@pytest.mark.parametrize("name", ["landlock", "bubblewrap"])
def test_the_neighbours_of_a_module_are_not_seen(name, folder):
    """Not even by name, and nothing below them."""
    secret = write(folder / "private" / "notes.txt", "mine")
    target = f"mine_{uuid4().hex}"
    tried = f"""
        seen = []
        for place in ({str(folder)!r}, {str(secret.parent)!r}):
            try:
                seen += [name for name in os.listdir(place) if name != "{target}.py"]
            except OSError:
                pass
        return 4, {{"seen": seen}}
"""
    write(folder / f"{target}.py", "import os\n" + SOURCE.replace('        return 4, {"module": __name__}\n', tried))
    with isolate(f"{target}:Env", sandbox=sandbox(name)) as env:
        assert env.reset(seed=0)[1]["seen"] == []


CHANGES = """
import builtins, json, math, os, random, signal, sys
import numpy
import ludus
from ludus.spaces import Discrete


def spoilt(*_, **__):
    return "spoilt"


def spoil():
    json.dumps = math.sqrt = numpy.sum = random.random = ludus.make = builtins.input = Discrete.contains = spoilt
    sys.modules["decimal"] = json
    sys.path.append("/nowhere")
    os.environ["PATH"] = "/nowhere"
    os.environ.pop("LUDUS_TRUST", None)
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    random.seed(0)
    numpy.random.seed(0)


spoil()


class Env(ludus.Env):
    def __init__(self):
        self.observation_space, self.action_space = Discrete(9), Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        spoil()
        return 4, {"spoilt": json.dumps({})}

    def step(self, action):
        spoil()
        return ludus.Step(4, 1.0, True, False, {"spoilt": json.dumps({})})
"""


def process_state() -> list[object]:
    """What code in this process could change for everybody in it."""
    changed = (json.dumps, math.sqrt, np.sum, random.random, ludus.make, input, Discrete.contains)
    own = (sys.modules.get("decimal"), list(sys.path), dict(os.environ), signal.getsignal(signal.SIGUSR1))
    return [*changed, *own, random.getstate(), repr(np.random.get_state())]


@pytest.mark.in_turns("name")
@pytest.mark.parametrize("name", ["landlock", "bubblewrap", "process"])
def test_code_that_changes_modules_changes_those_of_its_own_process(name, folder):
    target, before = f"mine_{uuid4().hex}", process_state()
    write(folder / f"{target}.py", CHANGES)
    before[8] = list(sys.path)
    with isolate(f"{target}:Env", sandbox=sandbox(name)) as env:
        assert env.reset(seed=0)[1]["spoilt"] == "spoilt"
        assert env.step(1).info["spoilt"] == "spoilt"
        assert process_state() == before
        with isolate("CartPole-v1", sandbox=sandbox(name)) as neighbour:  # of the same fork server
            assert neighbour.reset(seed=0)[0].shape == (4,)
    assert target not in sys.modules


TELLS = """
        told = {"argv": sys.argv, "variables": dict(os.environ), "folder": os.getcwd(), "loaded": sorted(sys.modules)}
        for path in (PLACES):
            try:
                told[path] = os.listdir(path) if os.path.isdir(path) else open(path, errors="replace").read()
            except OSError:
                pass
        return 4, {"told": repr(told)}
"""


@pytest.mark.in_turns("name")
@pytest.mark.parametrize("name", ["landlock", "bubblewrap"])
def test_the_most_that_an_info_can_tell_has_nothing_of_the_users(name, folder, monkeypatch):
    """Observation, reward and info say what their author wants, who has nothing to say: neither files nor variables."""
    monkeypatch.setenv("LUDUS_TEST_TOKEN", "secret-of-a-variable")
    secret = write(folder / "private" / "secret-of-a-name.txt", "secret-of-a-file")
    places = [str(secret), str(secret.parent), os.path.expanduser("~"), "/proc/self/environ", "/proc/1/environ",
              f"/proc/{os.getpid()}/environ", f"/proc/{os.getpid()}/cmdline", "/etc/shadow", "/root"]  # fmt: skip
    target = f"mine_{uuid4().hex}"
    code = SOURCE.replace('        return 4, {"module": __name__}\n', TELLS.replace("PLACES", repr(places)[1:-1]))
    write(folder / f"{target}.py", f"import os\nimport sys\n{code}")
    with isolate(f"{target}:Env", sandbox=sandbox(name)) as env:
        told = env.reset(seed=0)[1]["told"]
    assert "'variables'" in told
    assert "secret-of" not in told
