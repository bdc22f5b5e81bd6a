"""Folders as targets of `ludus info`, `run` and `play`: one that `ludus new` made, and one made for OpenEnv."""

import sys
import textwrap

import pytest

from ludus.cli.target import Meant, meant
from ludus.packaging import scaffold

GUIDE = {
    "openenv.yaml": "spec_version: 1\nname: tiny_game\ntype: space\nruntime: fastapi\napp: server.app:app\n",
    "__init__.py": "",
    "models.py": """
        from dataclasses import dataclass
        from core.env_server.types import Action, Observation, State

        @dataclass
        class GameAction(Action):
            steps: int = 1

        @dataclass
        class GameObservation(Observation):
            place: int = 0
        """,
    "server/__init__.py": "",
    "server/game.py": """
        from core.env_server import Environment, State
        from ..models import GameAction, GameObservation

        class Game(Environment):
            def reset(self, far: int = 3, seed=None) -> GameObservation:
                self.place, self.far = 0, far
                return GameObservation()

            def step(self, action: GameAction) -> GameObservation:
                self.place += 1
                return GameObservation(place=self.place, reward=1.0, done=self.place == self.far)

            @property
            def state(self) -> State:
                return State()
        """,
    "server/app.py": """
        from core.env_server import create_fastapi_app
        from ..models import GameAction, GameObservation
        from .game import Game

        app = create_fastapi_app(Game(), GameAction, GameObservation)
        """,
}


IMPORTED = ("core", "tiny_game", "folder_game")


@pytest.fixture(autouse=True)
def forgotten():
    """What the folders' code was imported as is forgotten."""
    yield
    for name in [one for one in sys.modules if one.partition(".")[0] in IMPORTED]:
        del sys.modules[name]


@pytest.fixture
def guide(tmp_path):
    """The layout of OpenEnv's first guide."""
    folder = tmp_path / "tiny_game"
    for name, text in GUIDE.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
    return folder


@pytest.fixture
def made(tmp_path):
    return scaffold("folder_game", tmp_path)[0].parent


def test_a_folder_that_ludus_new_made_is_shown_and_run(made, ludus, read):
    assert "folder_game" in ludus("info", made).stdout
    assert len(read(ludus("run", made, "--episodes", 2, "--json").stdout)["episodes"]) == 2


def test_a_folder_made_for_openenv_is_shown_as_its_own_and_not_as_the_adapter(guide, ludus):
    shown = " ".join(ludus("info", guide).stdout.split())
    for words in (
        "tiny_game made for OpenEnv",
        "actions Record(GameAction: ",
        "arguments none: its application makes it reset options far: int = 3, seed=None",
        "code server.app:app of",
    ):
        assert words in shown
    assert [one for one in ("create_folder", "openenv_env", "paths=", "deterministic") if one in shown] == []
    shown = " ".join(ludus("info", guide, "--no-load").stdout.split())
    assert "spaces not loaded" in shown


def test_a_folder_of_openenvs_first_guide_is_run_behind_a_process_too(guide, ludus, read):
    for more in ([], ["--isolation", "process"]):
        told = read(ludus("run", guide, "--episodes", 1, "--json", *more).stdout)
        assert told["id"] == "tiny_game"
        assert told["episodes"][0] == {
            "seed": 0,
            "steps": 3,
            "return": 3.0,
            "ended_by": "termination",
            "outcome": None,
        }


def test_play_says_of_a_folder_that_it_draws_nothing(made, ludus):
    done = ludus("play", made)
    assert (done.exit_code, "expected an environment that draws" in done.output) == (2, True)


def test_what_is_no_folder_is_left_as_it_is():
    assert meant("CartPole-v1") == Meant("CartPole-v1")
