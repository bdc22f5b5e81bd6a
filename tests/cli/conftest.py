"""The command in this process, for speed, and as a program, as users start it."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from ludus.cli import app
from ludus.registry import registry

MODULE = '''
import ludus
from ludus.envs.teaching.grid_world import GridWorld


class Corridor(GridWorld):
    """A grid world that chats."""

    def __init__(self, size=3):
        print("hello from the environment")
        super().__init__(size)


class Endless(Corridor):
    def step(self, action):
        return super().step(action)._replace(terminated=False)


ludus.register("tests/Corridor-v0", "my_module:Corridor", max_episode_steps=4, deprecated="too [short]")
'''


@pytest.fixture(autouse=True)
def unchanged(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What a command changes in this process, for the rest of its life, is put back."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    modules, known = set(sys.modules), set(registry)
    yield
    for name in set(registry) - known:
        del registry[name]
    for name in set(sys.modules) - modules:
        if name in ("my_module", "warned", "buggy"):
            del sys.modules[name]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's folder with a module in it, as the current one."""
    (tmp_path / "my_module.py").write_text(MODULE, encoding="utf8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def ludus() -> Callable[..., Result]:
    """Run the command in this process."""
    return lambda *arguments: CliRunner().invoke(app, [str(one) for one in arguments])


@pytest.fixture
def program(folder: Path) -> Callable[..., "subprocess.CompletedProcess[str]"]:
    """Run the installed command as a program, in the user's folder, on a terminal of 80 columns."""
    command = Path(sys.executable).with_name("ludus")

    def program(*arguments: Any, **environment: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [command, *map(str, arguments)],
            cwd=folder,
            env=os.environ | {"COLUMNS": "80"} | environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return program


@pytest.fixture
def read() -> Callable[[str], Any]:
    """JSON from what a command printed."""
    return json.loads
