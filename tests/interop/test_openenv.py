"""OpenEnv's classes and folders here, ours there, and the files of its guide."""

import asyncio
import json
import subprocess
import sys
import sysconfig
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

import ludus
from ludus.errors import EnvError, InvalidAction, InvalidArgument, InvalidType, ResetNeeded
from ludus.interop.openenv import create_folder, from_openenv
from ludus.interop.openenv.core.client_types import StepResult
from ludus.interop.openenv.core.env_server import Action, Environment, Observation, State, create_fastapi_app
from ludus.interop.openenv.core.http_env_client import HTTPEnvClient
from ludus.interop.openenv.source import create
from ludus.server import serve
from ludus.server.config import ServerConfig
from ludus.server.openenv_target import openenv_spec
from ludus.server.protocols.openenv.json_format import JsonFormat
from ludus.server.served_env import describe
from tests.server.openenv_peers import python_of, quiet

PROGRAM = Path(__file__).with_name("openenv_both_ways.py")
MODELS = """
from dataclasses import dataclass
from core.env_server.types import Action, Observation, State

@dataclass
class GameAction(Action):
    move_direction: str
    use_item: bool = False

@dataclass
class GameObservation(Observation):
    player_position: tuple[int, int]
    score: int

@dataclass
class GameState(State):
    level: int = 1
"""
ENVIRONMENT = """
from core.env_server.interfaces import Environment
from ..models import GameAction, GameObservation, GameState

class GameEnvironment(Environment):
    def __init__(self):
        super().__init__()
        self._state, self._at = GameState(), (0, 0)

    def reset(self) -> GameObservation:
        self._state, self._at = GameState(episode_id="game"), (0, 0)
        return GameObservation(player_position=self._at, score=0)

    def step(self, action: GameAction) -> GameObservation:
        self._state.step_count += 1
        x, y = self._at
        self._at = (x + (action.move_direction == "right"), y)
        return GameObservation(player_position=self._at, score=10 * self._state.step_count)

    @property
    def state(self) -> GameState:
        return self._state
"""
APP = """
from core.env_server import create_fastapi_app
from ..models import GameAction, GameObservation
from .game_environment import GameEnvironment

env = GameEnvironment()
app = create_fastapi_app(env, GameAction, GameObservation)
"""


@dataclass
class Word(Action):
    word: str


@dataclass
class Length(Observation):
    length: int = 0


class Ear(Environment):
    """Says how long a word is."""

    def __init__(self):
        super().__init__()
        self._state = State()

    def reset(self, seed=None, start: int = 0) -> Length:
        self._state = State(episode_id="mine")
        return Length(length=start, metadata={"seed": seed})

    def step(self, action: Word) -> Length:
        self._state.step_count += 1
        reward = None if action.word == "?" else 1.5
        return Length(length=len(action.word), reward=reward, done=action.word == "end")

    @property
    def state(self) -> State:
        return self._state


class AsyncEar(Ear):
    async def step_async(self, action: Word) -> Length:
        await asyncio.sleep(0)
        return self.step(action)


@pytest.mark.parametrize("kind", [Ear, AsyncEar])
def test_a_class_is_an_environment_with_its_own_models(kind):
    with from_openenv(kind) as env:
        with pytest.raises(ResetNeeded):
            env.step({"word": "a"})
        observation, info = env.reset(seed=3, options={"start": 2})
        assert (observation, info["seed"]) == (Length(length=2, metadata={"seed": 3}), 3)
        observation, reward, terminated, truncated, info = env.step(Word("hello"))
        assert (observation.length, reward, terminated, truncated) == (5, 1.5, False, False)
        assert env.step({"word": "?"}).info["reward"] is None
        assert env.step({"word": "end"}).terminated
        assert env.state_data() == {"episode_id": "mine", "step_count": 3}


def test_options_that_reset_does_not_take_and_actions_of_another_form_are_refused():
    env = from_openenv(Ear)
    with pytest.raises(InvalidArgument, match="expected keywords of reset"):
        env.reset(options={"difficulty": 3})
    env.reset()
    with pytest.raises(InvalidAction, match="fields of Word"):
        env.step({"sentence": "a"})
    with pytest.raises(InvalidType, match="expected an Environment of OpenEnv"):
        from_openenv(3)


def test_histories_are_equal_both_ways_for_classes_sync_async_and_of_tools():
    """Its own server and ours, seen by its own client; and CartPole behind its server and ours."""
    ours = sysconfig.get_paths()["purelib"]
    command = [str(python_of("0.10.0")), str(PROGRAM), str(PROGRAM.parents[2]), ours]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, env=quiet(), check=False)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told.pop("tools") == ["buy"]
    assert told.pop("tools back") == [["buy"], {"item": "tea", "count": 1}, True]  # over MCP, at OpenEnv's own server
    assert told.pop("material") == [
        [["shop://prices", "What things cost"]],
        "tea 3",
        [["haggle", [{"name": "item", "required": True}]]],
        ["user", "What is tea to you?"],
    ]
    for name, (theirs, mine) in told.items():
        assert theirs == mine, name


def test_a_class_is_served_by_its_name_in_a_process_of_its_own():
    with serve(f"{__name__}:Ear", port=0, block=False) as running:
        assert [one.isolation for one in running.server.offered.values()] == ["process"]
        with httpx.Client(base_url=running.url, timeout=60) as http:
            http.post("/reset", json={"start": 1})
            told = http.post("/step", json={"action": {"word": "four"}}).json()
            assert (told["observation"], told["reward"]) == ({"metadata": {}, "length": 4}, 1.5)
            assert http.get("/state").json() == {"episode_id": "mine", "step_count": 1}
            assert http.get("/metrics").status_code == 200


def test_what_a_step_after_the_end_gives_is_its_authors_to_say():
    """As at OpenEnv's own server, which asks the environment; a native one says that a reset comes first."""
    with serve(f"{__name__}:Ear", port=0, block=False) as running:
        with httpx.Client(base_url=running.url, timeout=60) as http:
            http.post("/reset", json={})
            told = [http.post("/step", json={"action": {"word": word}}).json() for word in ("end", "more")]
        assert [(one["observation"]["length"], one["done"]) for one in told] == [(3, True), (4, False)]
        with ludus.connect(running.url) as env:
            env.reset()
            assert [env.step({"word": word}).terminated for word in ("end", "more")] == [True, False]


@dataclass
class Rules(Observation):
    text: str = "any word"


class Teacher(Ear):
    def reset(self, seed=None) -> Rules:
        return Rules()


def test_what_a_reset_gives_has_a_schema_of_its_own():
    form = JsonFormat(describe(from_openenv(Teacher)))
    assert (form.reset_schema()["title"], form.answer_schema()["title"]) == ("Rules", "Length")
    with from_openenv(Teacher) as env:
        assert env.reset()[0]["text"] == "any word"
        assert env.step({"word": "four"}).observation["length"] == 4


def test_a_process_of_a_class_finds_openenv_wherever_it_is_here(tmp_path, monkeypatch):
    (tmp_path / "openenv_core.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    paths = openenv_spec(f"{__name__}:Ear", Ear).kwargs["paths"]
    monkeypatch.setattr(sys, "path", [one for one in sys.path if one not in paths])
    create(f"{__name__}:Ear", paths=paths).close()
    assert sys.path[: len(paths)] == paths
    assert str(tmp_path) in paths


@pytest.mark.parametrize("target", ["json:JSONDecoder", "string:digits"])
def test_a_wrong_target_is_refused_at_the_start(target):
    with pytest.raises(InvalidType, match="expected a ludus Env"):
        serve(target, port=0, block=False)


@pytest.fixture
def guide(tmp_path):
    folder = tmp_path / "my_game_env"
    (folder / "server").mkdir(parents=True)
    (folder / "openenv.yaml").write_text("spec_version: 1\nname: my_game_env\napp: server.app:app\nport: 8000\n")
    for name, text in (("models", MODELS), ("server/game_environment", ENVIRONMENT), ("server/app", APP)):
        (folder / f"{name}.py").write_text(text)
    for name in ("__init__", "server/__init__"):
        (folder / f"{name}.py").write_text("")
    return folder


def test_a_folder_that_imports_as_in_its_own_image_is_made(guide):
    for name in ("server/app", "server/game_environment"):
        path = guide / f"{name}.py"
        path.write_text(path.read_text().replace("from ..models", "from my_models"))
    (guide / "models.py").rename(guide / "my_models.py")
    try:
        with create_folder(str(guide)) as env:
            assert env.reset()[0].player_position == (0, 0)
    finally:
        sys.path.remove(str(guide))
        for name in [one for one in sys.modules if one.partition(".")[0] in ("my_game_env", "my_models")]:
            del sys.modules[name]


class GameClient(HTTPEnvClient[dict, dict]):
    """With the guide's hooks."""

    def _step_payload(self, action):
        return {"move_direction": action}

    def _parse_result(self, payload):
        return StepResult(payload["observation"], payload.get("reward"), payload.get("done", False))


def test_the_guides_folder_is_served_as_the_package_it_is_with_pages_and_limits(guide):
    with serve(str(guide), port=0, block=False) as running:
        assert next(iter(running.server.offered.values())).isolation == "process"
        client = GameClient(base_url=running.url)
        assert client.reset().observation["player_position"] == [0, 0]
        assert client.step("right").observation == {"metadata": {}, "player_position": [1, 0], "score": 10}
        client.close()
        assert httpx.get(running.url, follow_redirects=True).headers["content-type"].startswith("text/html")


class Clerk(Ear):
    def step(self, action: Word) -> Length:
        return StepResult(Length(length=len(action.word)), 2.5, True)


def test_a_step_that_is_wrapped_as_clients_have_it_is_a_step():
    with from_openenv(Clerk) as env:
        env.reset()
        step = env.step(Word("word"))
    assert (step.observation.length, step.reward, step.terminated) == (4, 2.5, True)


def test_a_folder_has_the_variables_that_it_is_given_and_none_of_the_servers(guide, monkeypatch):
    monkeypatch.setenv("GAME_SECRET", "of the server alone")
    look = "import os\nassert [os.environ.get(one) for one in ('GAME_LEVEL', 'GAME_SECRET')] == ['3', None]\n"
    (guide / "server/app.py").write_text(look + APP)
    with pytest.raises(EnvError, match="AssertionError"):
        serve(str(guide), port=0, block=False)
    with serve(str(guide), port=0, block=False, config=ServerConfig(variables={"GAME_LEVEL": "3"})) as running:
        assert httpx.post(f"{running.url}/reset", json={}).status_code == 200


def test_the_guides_application_is_one_for_any_asgi_server():
    app = create_fastapi_app(Ear(), Word, Length, max_concurrent_envs=2)
    assert app.state.server.config.max_sessions == 2
    assert app.state.server.sessions.served().name == "Ear"


def test_open_fields_are_as_json_has_them_whatever_the_author_keeps_there():
    @dataclass
    class Loose(Observation):
        ranges: dict[str, Any] = field(default_factory=dict)
        perhaps: dict[str, Any] | None = None

    class Careless(Environment):
        def reset(self) -> Loose:
            return Loose(metadata=None, ranges={"animals": (3, 10)})

        def step(self, action: Action) -> Loose:
            return Loose(ranges={"animals": {"most": (1,)}}, perhaps={"at": (1, 2)})

        @property
        def state(self) -> State:
            return State()

    env = from_openenv(Careless)
    first, _ = env.reset()
    assert (first.metadata, first.ranges) == ({}, {"animals": [3, 10]})
    assert env.observation_space.contains(first)
    assert first.perhaps is None
    then = env.step({}).observation
    assert (then.ranges, then.perhaps) == ({"animals": {"most": [1]}}, {"at": [1, 2]})
    assert env.observation_space.contains(then)
