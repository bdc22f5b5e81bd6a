"""What the tests of other worlds share: programs written for Gymnasium, run on Ludus in a process of their own."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(autouse=True)
def _screen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A window without a screen, for those who open one."""
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setenv("PYGAME_HIDE_SUPPORT_PROMPT", "1")


@pytest.fixture
def python(tmp_path: Path) -> Run:
    """Run Python with these arguments, in an empty folder; its failure fails the test, with what it printed."""

    def python(*arguments: object, code: int = 0) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, *map(str, arguments)]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False)
        if done.returncode != code:
            pytest.fail(f"{arguments} exited with {done.returncode}\n{done.stdout}{done.stderr}")
        return done

    return python


@pytest.fixture
def on_ludus(python: Run, tmp_path: Path) -> Callable[..., str]:
    """What a program prints when it is run in Gymnasium's place, every warning an error."""

    def on_ludus(program: str, *arguments: object, flags: tuple[str, ...] = ("-W", "error")) -> str:
        path = tmp_path / "program.py"
        path.write_text(dedent(program), encoding="utf8")
        return python(*flags, "-m", "ludus.interop.as_gymnasium", path, *arguments).stdout

    return on_ludus
