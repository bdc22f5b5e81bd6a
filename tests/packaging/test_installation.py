"""`--install`: what a folder requires is installed for it alone, once, and runs nothing by being installed."""

import fcntl
import os
import re
import socket
import subprocess
import sys
import textwrap
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from ludus.errors import EntryPointError, SandboxError
from ludus.packaging import installation
from ludus.packaging.installation import installed, place_of, wanted_by
from ludus.packaging.manifest import read_manifest
from ludus.sandbox import locks
from ludus.server.config import ServerConfig
from ludus.server.targets import offered
from tests.patience import PATIENCE_S

FILES = {
    "openenv.yaml": "spec_version: 1\nname: needy_game\ntype: space\nruntime: fastapi\napp: server.app:app\n",
    "__init__.py": "",
    "server/__init__.py": "",
    "server/requirements.txt": "needed_by_game==1.0\n",
    "server/app.py": """
        from dataclasses import dataclass
        from core.env_server import Action, Environment, Observation, State, create_fastapi_app
        from needed_by_game import REWARD

        @dataclass
        class Seen(Observation):
            place: int = 0

        @dataclass
        class Move(Action):
            by: int = 1

        class Game(Environment):
            def reset(self) -> Seen:
                return Seen()

            def step(self, action: Move) -> Seen:
                return Seen(place=action.by, reward=REWARD)

            @property
            def state(self) -> State:
                return State()

        app = create_fastapi_app(Game, Move, Seen)
        """,
}


def wheel(folder, name, **modules):
    """A wheel of a few modules."""
    about = f"{name}-1.0.dist-info"
    with ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as file:
        for module, text in modules.items():
            file.writestr(f"{module}.py", text)
        file.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        file.writestr(
            f"{about}/WHEEL", "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        file.writestr(f"{about}/RECORD", "")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder whose requirement is in no index but this one, which has nothing else."""
    index = tmp_path / "index"
    index.mkdir()
    wheel(index, "openenv", openenv_stand_in="")
    wheel(index, "needed_by_game", needed_by_game="REWARD = 0.25")
    for name, value in {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(index), "XDG_CACHE_HOME": str(tmp_path)}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    where = tmp_path / "needy_game"
    for name, text in FILES.items():
        path = where / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
    return where


def test_what_it_requires_is_there_for_its_sessions_and_not_for_the_server(folder):
    with pytest.raises(EntryPointError, match="needed_by_game"):
        offered([str(folder)], ServerConfig())
    [served] = offered([str(folder)], ServerConfig(install=True))
    with served.make() as env:
        env.reset(seed=0)
        assert env.step({"by": 2}).reward == 0.25
    assert "needed_by_game" not in sys.modules


def test_it_is_installed_once_and_anew_where_it_requires_something_else(folder, monkeypatch):
    manifest = read_manifest(folder)
    place = installed(manifest)
    assert (place / "needed_by_game.py").is_file()
    monkeypatch.setattr(installation, "_run", None)
    assert installed(manifest) == place == place_of(wanted_by(manifest))
    (folder / "server" / "requirements.txt").write_text("needed_by_game>=1.0\n")
    assert place_of(wanted_by(read_manifest(folder))) != place


class Clock:
    """Its seconds pass by sleeping alone, at which somebody may do something."""

    def __init__(self):
        self.now, self.at = 0.0, {}

    def monotonic(self):
        return self.now

    def sleep(self, seconds):
        self.now += 100.0
        self.at.pop(self.now, lambda: None)()


def test_whoever_waits_for_the_same_installation_waits_as_long_as_one_may_take(folder, monkeypatch):
    # Its own: locks are by what is installed, and for all programs of this user, other tests among them.
    (folder / "server" / "requirements.txt").write_text(f"waited_for_by_{os.getpid()}\n")
    clock = Clock()
    monkeypatch.setattr(locks, "time", clock)
    monkeypatch.setattr(installation, "_install", lambda wanted, place, what: place.mkdir(parents=True))
    place = place_of(wanted_by(read_manifest(folder)))
    other = ExitStack()
    other.enter_context(locks.user_lock(f"install-{place.name}"))
    clock.at[installation.INSTALL_TIMEOUT_S] = other.close  # as late as can be
    assert installed(read_manifest(folder)) == place
    with locks.user_lock(f"install-{place.name}"), pytest.raises(SandboxError, match="free within 1860 seconds"):
        installed(read_manifest(folder))


def test_what_cannot_be_installed_is_told_and_leaves_nothing_behind(folder, tmp_path):
    (folder / "server" / "requirements.txt").write_text("nowhere_to_be_had\n")
    with pytest.raises(EntryPointError, match=r"(?s)nowhere_to_be_had.*has no wheel, install them beside Ludus"):
        offered([str(folder)], ServerConfig(install=True))
    assert list((tmp_path / "ludus" / "folders").iterdir()) == []


def test_what_a_killed_installation_left_is_removed_by_the_next_and_what_another_fills_is_not(folder, tmp_path):
    left, filled = (tmp_path / "ludus" / "folders" / f"new-{name}" for name in ("left", "filled"))
    for one in (left, filled):
        (one / "numpy").mkdir(parents=True)
    held = os.open(filled, os.O_RDONLY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        place = installed(read_manifest(folder))
        assert sorted(left.parent.iterdir()) == sorted([filled, place])
    finally:
        os.close(held)


def test_a_killed_installation_leaves_no_pip_behind():
    program = "import sys; from ludus.packaging import installation as i; i._run([sys.executable, *i.PIP, 'x'], 'it')"
    with socket.create_server(("127.0.0.1", 0)) as index:
        index.settimeout(PATIENCE_S)
        variables = {"PIP_INDEX_URL": f"http://127.0.0.1:{index.getsockname()[1]}/simple", "PIP_NO_INDEX": "0"}
        with subprocess.Popen([sys.executable, "-c", program], env={**os.environ, **variables}) as killed:
            connection, _ = index.accept()
            killed.kill()
        with connection:
            connection.settimeout(PATIENCE_S)
            while connection.recv(4096):
                pass  # ends when pip does, which waits for an answer


def test_an_ended_server_leaves_nothing_of_an_installation_and_a_second_says_whom_it_waits_for(folder, tmp_path):
    (folder / "server" / "requirements.txt").write_text(f"never_answered_{os.getpid()}\n")
    command = [sys.executable, "-m", "ludus", "serve", str(folder), "--install", "--port", "0"]
    with socket.create_server(("127.0.0.1", 0)) as index:
        index.settimeout(PATIENCE_S)
        own = {"PIP_INDEX_URL": f"http://127.0.0.1:{index.getsockname()[1]}/simple", "PIP_NO_INDEX": "0"}
        options: Any = {"env": {**os.environ, **own}, "stderr": subprocess.PIPE, "text": True}
        with subprocess.Popen(command, **options) as first:
            connection, _ = index.accept()
            with subprocess.Popen(command, **options) as second:
                waits = second.stderr.readline()
                second.terminate()
            assert len(list((tmp_path / "ludus" / "folders").iterdir())) == 1
            first.terminate()
            told = first.stderr.read()
        connection.close()
    assert re.search(rf'waiting for another installation" folder=\S*{folder.name} process={first.pid}$', waits)
    assert "installing, which may take minutes" in told
    assert (first.returncode, second.returncode) == (143, 143)
    assert list((tmp_path / "ludus" / "folders").iterdir()) == []


def test_a_folder_that_is_being_filled_is_locked_until_it_is_whole(folder, monkeypatch):
    seen = []

    def filling(command, what):
        fresh = command[command.index("--target") + 1]
        installation._sweep(Path(fresh).parent)
        seen.append(Path(fresh).is_dir())

    monkeypatch.setattr(installation, "_run", filling)
    place = installed(read_manifest(folder))
    assert seen == [True]
    assert place.is_dir()


def test_a_sandbox_shows_its_code_the_folder_and_what_it_requires(folder):
    [served] = offered([str(folder)], ServerConfig(install=True, isolation="sandbox"))
    assert served.isolation == "sandbox"
    with served.make() as env:
        env.reset(seed=0)
        assert env.step({"by": 2}).reward == 0.25
