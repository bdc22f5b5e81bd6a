"""What the tests of the house share: where it is, and how a user's program is run."""

import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

Run = Callable[..., "subprocess.CompletedProcess[str]"]
PATIENCE_S = 600
"""For what hangs: a page that compiles rules takes half a minute alone, and minutes on a busy machine."""


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository."""
    return Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def script(root: Path) -> Callable[[str], ModuleType]:
    """A script of the repository, as a module."""

    def script(name: str) -> ModuleType:
        spec = importlib.util.spec_from_file_location(f"scripts_{name}", root / "scripts" / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        found = sys.modules[spec.name] = importlib.util.module_from_spec(spec)  # dataclasses look themselves up there
        spec.loader.exec_module(found)
        return found

    return script


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run a command as a user would, in an empty folder; its failure fails the test, with what it printed."""

    def run(*command: object, cwd: Path = tmp_path) -> "subprocess.CompletedProcess[str]":
        done = subprocess.run(
            [str(part) for part in command], cwd=cwd, capture_output=True, text=True, timeout=PATIENCE_S, check=False
        )
        if done.returncode:
            pytest.fail(f"{' '.join(map(str, command))} exited with {done.returncode}\n{done.stdout}{done.stderr}")
        return done

    return run


@pytest.fixture
def run_alone(run: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """As `run`, in an interpreter that nothing else measures or prepares."""
    for name in list(os.environ):
        if name.startswith(("COV", "PYTHON")):
            monkeypatch.delenv(name)

    def run_alone(*arguments: object) -> "subprocess.CompletedProcess[str]":
        return run(sys.executable, *arguments)

    return run_alone
