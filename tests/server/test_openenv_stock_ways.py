"""What programs written for OpenEnv's own server take for granted: steps without a reset, modes, splits, names."""

import json

import httpx
import pytest
from websockets.sync.client import connect

import ludus
from ludus.core import Env, Step
from ludus.errors import InvalidArgument
from ludus.server import serve
from ludus.server.access import Access
from ludus.server.config import ServerConfig
from ludus.server.protocols.openenv.http import MAX_UNCLAIMED
from ludus.server.served_env import ServedEnv
from ludus.spaces import Discrete
from tests.server.openenv_worlds import Riddle

HIDDEN = ("/reset", "/step", "/state", "/close")


class Splits(Env):
    """Tells its splits by their names alone, and shows a state before its first episode."""

    observation_space = action_space = Discrete(3)
    state = {"level": 7}

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return 0, {}

    def step(self, action):
        return Step(1, 1.0, False, False, {})

    def list_splits(self):
        return ["train", "holdout", {"name": "test", "type": "test", "size": 3}]


@pytest.fixture(scope="module")
def running():
    with serve(ServedEnv(Riddle, "riddle"), ServedEnv(Splits, "splits"), "CartPole-v1", port=0, block=False) as one:
        yield one


def ask(ws, kind, data):
    ws.send(json.dumps({"type": kind, "data": data}))
    return json.loads(ws.recv(60))


def socket(running, path):
    return connect(running.url.replace("http", "ws") + path)


def test_a_step_over_http_without_a_reset_begins_an_episode_and_says_which(running):
    with httpx.Client(base_url=f"{running.url}/env/splits") as http:
        told = http.post("/step", json={"action": {"action": 1}})
        assert (told.status_code, told.json()["reward"]) == (200, 1.0)
        assert told.headers["x-session-id"] == told.json()["session_id"]
        assert http.post("/step", json={"action": {"action": 1}}).json()["session_id"] == told.json()["session_id"]
        assert http.get("/state").json()["step_count"] == 2
        http.post("/close")


def test_steps_that_name_no_session_leave_a_few_behind_and_no_more(running):
    def held():
        return sum(one.env == "splits" for one in running.server.sessions.infos())

    told = [httpx.post(f"{running.url}/env/splits/step", json={"action": {"action": 1}}) for _ in range(30)]
    assert {one.status_code for one in told} == {200}
    assert held() == MAX_UNCLAIMED
    kept = {"X-Session-Id": told[-1].json()["session_id"]}
    for _ in range(2 * MAX_UNCLAIMED):
        httpx.post(f"{running.url}/env/splits/step", json={"action": {"action": 1}})
    assert httpx.get(f"{running.url}/env/splits/state", headers=kept).status_code == 404
    httpx.post(f"{running.url}/env/splits/step", json={"action": {"action": 1}})


def test_a_session_that_somebody_went_on_with_stays_whatever_others_leave_behind(running):
    with httpx.Client(base_url=f"{running.url}/env/splits") as http:
        kept = http.post("/step", json={"action": {"action": 1}}).json()["session_id"]
        http.get("/state")
        for _ in range(2 * MAX_UNCLAIMED):
            httpx.post(f"{running.url}/env/splits/step", json={"action": {"action": 1}})
        assert http.post("/step", json={"action": {"action": 1}}).json()["session_id"] == kept
        http.post("/close")


def test_a_server_with_one_place_takes_step_after_step_without_a_session():
    with serve(Splits, port=0, block=False, config=ServerConfig(max_sessions=1)) as one:
        told = [httpx.post(f"{one.url}/step", json={"action": {"action": 1}}).status_code for _ in range(4)]
    assert told == [200] * 4


def test_what_is_no_action_takes_no_place(running):
    before = len(running.server.sessions.infos())
    assert httpx.post(f"{running.url}/env/splits/step", json={"action": {"action": 9}}).status_code == 422
    assert len(running.server.sessions.infos()) == before


def test_a_step_over_the_socket_without_a_reset_begins_an_episode(running):
    with socket(running, "/env/splits/ws") as ws:
        assert ask(ws, "step", {"action": 1})["data"]["reward"] == 1.0
        assert ask(ws, "state", {})["data"]["step_count"] == 1


def test_who_may_only_step_begins_nothing():
    access = Access({"t" * 20: "agent"})
    with serve(ServedEnv(Splits, "splits"), port=0, block=False, access=access) as one:
        reply = httpx.post(f"{one.url}/step", json={"action": 1}, headers={"Authorization": f"Bearer {'t' * 20}"})
        assert reply.status_code == 409
        assert "POST /reset first" in reply.json()["detail"]
        assert one.server.sessions.infos() == []


def test_the_wire_of_ludus_stays_strict(running):
    import ludus  # the whole client, for one test

    with ludus.connect(running.url, env="splits") as env, pytest.raises(ludus.errors.ResetNeeded):
        env.step(1)


def test_the_state_without_a_session_has_the_authors_fields(running):
    assert httpx.get(f"{running.url}/env/splits/state").json() == {"level": 7, "episode_id": None, "step_count": 0}


def test_splits_are_told_as_clients_read_them(running):
    assert httpx.get(f"{running.url}/splits/splits").json() == [
        {"name": "train", "type": "train"},
        {"name": "holdout", "type": "validation"},
        {"name": "test", "type": "test", "size": 3},
    ]


def test_titles_of_wrapped_values_are_the_environments_own(running):
    schema = httpx.get(f"{running.url}/env/CartPole-v1/schema").json()
    assert (schema["action"]["title"], schema["observation"]["title"]) == ("CartPoleAction", "CartPoleObservation")


def test_in_production_nothing_resets_or_steps_over_http():
    with serve(ServedEnv(Splits, "splits"), port=0, block=False, config=ServerConfig(mode="production")) as one:
        for path in HIDDEN:
            assert httpx.post(f"{one.url}{path}", json={}).status_code in (404, 405)
            assert httpx.get(f"{one.url}{path}").status_code in (404, 405)
        for path in ("/health", "/schema", "/metadata"):
            assert httpx.get(f"{one.url}{path}").status_code == 200
        assert not {*HIDDEN} & httpx.get(f"{one.url}/openapi.json").json()["paths"].keys()
        with socket(one, "/ws") as ws:  # as OpenEnv has it
            assert ask(ws, "step", {"action": 1})["data"]["reward"] == 1.0


def test_a_mode_that_there_is_not_is_refused():
    with pytest.raises(InvalidArgument, match="mode: expected one of simulation, production"):
        ServerConfig(mode="staging")


class Worded(Splits):
    """Says how it was made."""

    metadata = {"openenv_arguments": {"first": 2, "second": 2, "max_episode_steps": 1}}

    def __init__(self, first=0, second=0):
        self.state = {"made": [first, second]}


def test_an_environment_may_be_made_with_other_arguments_for_openenvs_clients():
    with serve(ServedEnv(Worded, "worded", arguments={"second": 1}), port=0, block=False) as one:
        with httpx.Client(base_url=one.url) as http:
            assert http.post("/reset", json={}).status_code == 200
            assert http.get("/state").json()["made"] == [2, 1]
            assert http.post("/step", json={"action": {"action": 1}}).json()["done"] is False
        with socket(one, "/ws") as ws:
            ask(ws, "reset", {})
            assert ask(ws, "state", {})["data"]["made"] == [2, 1]
        with ludus.connect(one.url) as env:
            env.reset()
            assert env.state_data()["made"] == [0, 1]


def test_openenvs_clients_read_textarena_as_one_transcript_without_a_setting():
    with serve("open/TextArena-v0", port=0, block=False) as one:
        with socket(one, "/ws") as ws:
            [begun] = ask(ws, "reset", {"seed": 1})["data"]["observation"]["messages"]
            refused = ask(ws, "step", {"message": "?"})["data"]
            [told] = refused["observation"]["messages"]
            assert (refused["reward"], begun["category"]) == (0.0, "MESSAGE")
            assert "You attempted an invalid move" in told["content"].removeprefix(begun["content"])
        with ludus.connect(one.url) as env:
            assert len(env.reset(seed=1)[0].messages) == 2
