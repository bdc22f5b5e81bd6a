"""`ludus play`: in a terminal at the other end of a pty, in a made-up window, and refused with one line."""

import os
import subprocess
import sys
import termios
from pathlib import Path

import pytest
from PIL import Image

from ludus.cli.play import keywords, playable
from ludus.errors import InvalidArgument, RenderError
from tests.core.wording import says
from tests.rendering.test_play import Terminal

ROOT = Path(__file__).resolve().parents[2]
WALKS = """
import numpy as np
from tests.rendering.walk import Walk
from ludus.core import Env, Step
from ludus.spaces import Discrete


class Coin(Env):
    observation_space, action_space = Discrete(1), Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return 0, {}

    def step(self, action):
        return Step.termination(0, float(self.np_random.integers(2) == action))


class Pixels(Coin):
    metadata = {"render_modes": ["human", "rgb_array"]}

    def __init__(self, render_mode=None):
        self.render_mode = render_mode

    def render(self):
        return np.zeros((4, 6, 3), np.uint8)


class Blind(Coin):
    metadata = {"render_modes": ["depth_array"]}
"""


@pytest.fixture
def walks(tmp_path, monkeypatch):
    """A user's folder with environments in it, as the current one."""
    (tmp_path / "walks.py").write_text(WALKS, encoding="utf8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    sys.modules.pop("walks", None)


@pytest.fixture
def terminal():
    terminal = Terminal(columns=100)
    yield terminal
    terminal.close()


def start(terminal, folder, *arguments):
    environment = os.environ | {"TERM": "xterm-256color", "PYTHONPATH": f"{ROOT}{os.pathsep}{folder}"}
    files = dict.fromkeys(("stdin", "stdout", "stderr"), terminal.slave)
    command = [Path(sys.executable).with_name("ludus"), "play", *arguments]
    return subprocess.Popen(command, cwd=folder, env=environment, start_new_session=True, **files)


def test_a_game_in_the_terminal_from_the_first_key_to_the_saved_file(terminal, walks):
    process = start(terminal, walks, "walks:Walk", "--seed", "3", "--record", "game.gif", "--", "size=5")
    try:
        terminal.wait_for("score 0   step 0   episode 1")
        terminal.wait_for("←/a 0   →/d 1   r restart   q quit")
        terminal.type("d")
        terminal.wait_for("step 1")
        terminal.type("d")
        terminal.wait_for("score 1   step 2")
        terminal.wait_for("r plays again")
        terminal.type("q")
        terminal.wait_for("1 episode, best score 1")
        terminal.wait_for("saved game.gif")
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.wait()
    assert termios.tcgetattr(terminal.slave) == terminal.before
    with Image.open(walks / "game.gif") as image:
        assert (image.n_frames, image.size) == (3, (100, 60))


def test_a_pipe_is_refused_in_one_line(walks, ludus):
    result = ludus("play", "walks:Walk")
    assert result.exit_code == 2
    assert "play: expected a terminal, got input or output that is a file or a pipe" in result.stderr


def test_a_game_in_the_window(walks, ludus, monkeypatch):
    pygame = pytest.importorskip("pygame")
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    typed = iter([["right"], ["q"]])
    monkeypatch.setattr("ludus.rendering.window.Window.keys", lambda window: next(typed))
    result = ludus("play", "walks:Walk", "--render", "window", "--turns")
    assert (result.exit_code, result.stderr) == (0, "")
    assert "1 episode, best score 0" in result.stdout
    assert not pygame.display.get_init()


def test_an_unknown_place_to_play_is_refused(walks, ludus):
    assert ludus("play", "walks:Walk", "--render", "paper").exit_code == 2


def test_arguments_are_read_as_yaml():
    assert keywords(["size=5", "name=x", "slippery=false", "map=[SF, HG]", "empty=", "at=a=b"]) == {
        "size": 5,
        "name": "x",
        "slippery": False,
        "map": ["SF", "HG"],
        "empty": None,
        "at": "a=b",
    }


@pytest.mark.parametrize("argument", ["size", "=5", "not a name=5"])
def test_arguments_without_a_name_are_refused(argument):
    with says(InvalidArgument, f"arguments: expected NAME=VALUE after --, got {argument}"):
        keywords([argument])


def test_a_value_that_is_no_yaml_is_refused():
    with says(InvalidArgument, "arguments: expected a value as YAML, got map='[SF'"):
        keywords(["map=[SF"])


def test_an_environment_that_draws_itself_needs_no_mode(walks):
    assert playable("walks:Walk", {}).render_mode is None
    assert playable("walks:Walk", {"render_mode": "ansi"}).render_mode == "ansi"


def test_an_environment_that_gives_pixels_is_made_to_give_them(walks):
    assert playable("walks:Pixels", {}).render_mode == "rgb_array"


def test_an_environment_without_a_picture_is_refused(walks):
    with says(
        RenderError,
        "play: expected an environment that draws, got walks:Blind with the render modes ['depth_array']",
    ):
        playable("walks:Blind", {})
