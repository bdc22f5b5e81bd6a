"""The JSON API of the pages: the catalogue, an environment's page, pictures, and play over a socket."""

import json
from collections.abc import Mapping
from contextlib import ExitStack
from threading import Event
from urllib.parse import quote

import httpx
import numpy as np
import pytest
from websockets.sync.client import connect

from ludus.core import Env, Step
from ludus.registry import make
from ludus.server.access import Access
from ludus.server.config import ServerConfig
from ludus.server.protocols.web_api.frame import as_frame, best_mode
from ludus.server.protocols.web_api.keys import key_table
from ludus.server.protocols.web_api.page_json import plain
from ludus.server.run import serve
from ludus.server.served_env import ServedEnv
from ludus.spaces import Box, Discrete
from tests.patience import until

RUN, STEP, READ = "the-orchestrator's-token", "the-agent's-own-token", "an-observer's-token"


class Odd(Env):
    """Pixels out of range, numbers that JSON lacks, and a mood."""

    metadata = {"render_modes": ["rgb_array"], "keys_to_action": {"x": 1, ("x", "y"): 2, "y": 0}}

    def __init__(self, render_mode=None):
        self.render_mode = render_mode
        self.action_space, self.observation_space = Discrete(3), Box(-np.inf, np.inf, (3,))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.broken = bool(options and options.get("broken"))
        return np.array([-np.inf, np.inf, 1.0], np.float32), {"half": "\ud800", "big": 1 << 70, "nan": np.nan}

    def step(self, action):
        if action == 2:
            raise ZeroDivisionError("of its own")
        mask = np.array([0, 1, 0], np.int8)
        return Step(np.zeros(3, np.float32), 0.5, False, self.broken, {"seen": {1, 2}, "action_mask": mask})

    def render(self):
        if self.broken:
            raise RuntimeError("no ink")
        return np.full((4, 6, 3), 200, np.uint8)


class Sulking(Env):
    """Cannot be made."""

    def __init__(self):
        raise OSError("not today")


@pytest.fixture(scope="module")
def running():
    targets = (
        "CartPole-v1",
        "open/Echo-v0",
        "open/EchoTools-v0",
        ServedEnv(Odd, "odd/<b>"),
        ServedEnv(Sulking, "sulking"),
    )
    with serve(*targets, port=0, block=False, config=ServerConfig(max_sessions=4, queue_seconds=0.2)) as running:
        yield running


@pytest.fixture
def http(running):
    with httpx.Client(base_url=running.url) as client:
        yield client


class Talk:
    """A socket of play."""

    def __init__(self, socket):
        self.socket = socket

    def __call__(self, kind, **message):
        return self.raw(json.dumps({"type": kind, **message}))

    def raw(self, text):
        self.socket.send(text)
        return json.loads(self.socket.recv(10))


@pytest.fixture
def talk(running):
    with ExitStack() as opened:

        def open_talk(env, url=running.url, query=""):
            address = f"{url.replace('http', 'ws', 1)}/v1/play?env={quote(env, safe='')}{query}"
            return Talk(opened.enter_context(connect(address)))

        yield open_talk
    until(lambda: not running.server.sessions.infos(), "sessions stay open")


# --- what there is ---


def test_the_catalogue_tells_of_each_environment_without_making_it(http):
    data = http.get("/v1/envs").json()
    assert data["server"] == {"role": "orchestrator", "tokens": False}
    assert [one["name"] for one in data["envs"]] == [
        "CartPole-v1",
        "open/Echo-v0",
        "open/EchoTools-v0",
        "odd/<b>",
        "sulking",
    ]
    assert data["envs"][0]["isolation"] == "none"
    assert data["envs"][0]["tags"] == ["control", "discrete", "dense-reward"]


def test_a_page_has_spaces_permissions_keys_and_programs(http, running):
    page = http.get("/v1/envs/CartPole-v1").json()
    assert page["action_space"] == {"schema": {"type": "integer", "minimum": 0, "maximum": 1}, "text": "Discrete(2)"}
    assert page["observation_space"]["low"][1] == "-Infinity"
    assert page["permissions"]["network"] == []
    assert page["keys"]["buttons"] == [{"action": 0, "label": "push left"}, {"action": 1, "label": "push right"}]
    assert page["facts"]["max_episode_steps"] == 500
    for program in page["python"].values():
        compile(program, "program", "exec")
    assert running.url in page["python"]["remote"]


def test_a_page_of_tools_lists_them(http):
    page = http.get("/v1/envs/open/EchoTools-v0").json()
    assert [one["name"] for one in page["tools"]] == ["echo_message", "echo_with_length"]
    assert len(page["action_space"]["schema"]["oneOf"]) == 2


@pytest.mark.parametrize(("path", "status", "kind"), [("nowhere", 404, "UnknownEnvironment"), ("sulking", 500, "")])
def test_what_cannot_be_shown_is_an_error_in_json(http, path, status, kind):
    answer = http.get(f"/v1/envs/{path}")
    assert answer.status_code == status
    assert kind in answer.json()["error"]["kind"]


# --- pictures ---


def test_a_picture_is_drawn_once_and_not_sent_again(http):
    first = http.get("/v1/picture", params={"env": "CartPole-v1"})
    assert (first.status_code, first.headers["content-type"]) == (200, "image/svg+xml")
    assert "sandbox" in first.headers["content-security-policy"]
    again = http.get("/v1/picture", params={"env": "CartPole-v1"}, headers={"if-none-match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_pixels_are_a_png_and_nothing_is_nothing(http, running):
    answer = http.get("/v1/picture", params={"env": "odd/<b>"})
    assert (answer.headers["content-type"], answer.content[:4]) == ("image/png", b"\x89PNG")
    assert [http.get("/v1/picture", params={"env": name}).status_code for name in ("open/Echo-v0", "sulking")] == [
        204,
        204,
    ]
    assert http.get("/v1/picture", params={"env": "nowhere"}).status_code == 404
    until(lambda: not running.server.sessions.infos(), "sessions stay open")


# --- play ---


def test_an_episode_by_messages(talk):
    ask = talk("CartPole-v1")
    begun = ask("reset", id=1, seed=3)
    assert (begun["type"], begun["id"], begun["reward"], begun["step"]) == ("reset", 1, None, 0)
    assert "frame" not in begun
    env = make("CartPole-v1")
    assert begun["observation"] == env.reset(seed=3)[0].tolist()
    told = ask("step", action=1, frame=True)
    observation, reward, *_ = env.step(1)
    assert (told["action"], told["observation"], told["reward"]) == (1, observation.tolist(), reward)
    assert told["frame"]["kind"] == "svg"
    assert ask("state")["state"]["step_count"] == 1
    assert ask("frame")["frame"]["data"].startswith("<svg")


def test_random_actions_follow_from_the_seed_and_end_with_the_episode(talk):
    ask = talk("CartPole-v1")
    seen = []
    for _ in range(2):
        ask("reset", seed=5)
        seen.append(ask("random", count=1000, frame=True))
    assert seen[0]["steps"][-1]["terminated"]
    assert [one["action"] for one in seen[0]["steps"]] == [one["action"] for one in seen[1]["steps"]]
    assert seen[0]["frame"]["kind"] == "svg"
    assert ask("random")["error"]["kind"] == "ResetNeeded"


def test_a_typed_action_and_a_call_of_a_tool(talk):
    ask = talk("open/Echo-v0")
    ask("reset")
    told = ask("step", action={"message": "hello"}, frame=True)
    assert told["observation"] == {"echoed_message": "hello", "message_length": 5}
    assert told["frame"] is None
    ask = talk("open/EchoTools-v0")
    ask("reset")
    told = ask("step", action={"tool": "echo_message", "arguments": {"message": "hi"}})
    assert told["observation"]["result"] == "hi"


WRONG = [
    ("", "CodecError"),
    ("[]", "CodecError"),
    ("[" * 5000, "CodecError"),
    ('{"type": "fly"}', "InvalidArgument"),
    ('{"type": ["reset"]}', "InvalidArgument"),
    ('{"type": "step"}', "InvalidAction"),
    ('{"type": "step", "action": 7}', "InvalidAction"),
    ('{"type": "step", "action": {"a": [1]}}', "InvalidAction"),
    ('{"type": "random", "count": 0}', "InvalidArgument"),
    ('{"type": "random", "count": 1e9}', "InvalidArgument"),
    ('{"type": "random", "count": true}', "InvalidArgument"),
    ('{"type": "reset", "options": [1]}', "InvalidArgument"),
    ('{"type": "reset", "seed": -1}', ""),
    ('{"type": "reset", "seed": "x"}', ""),
]


def test_errors_leave_the_socket_open_and_the_episode_as_it_was(talk):
    ask = talk("CartPole-v1")
    assert ask("step", action=0)["error"]["kind"] == "ResetNeeded"
    ask("reset", seed=0)
    ask("step", action=0)
    for text, kind in WRONG:
        error = ask.raw(text)["error"]
        assert kind in error["kind"], (text, error)
        assert not error["infrastructure"] or not kind, text
    assert ask("step", action=1)["step"] == 2


def test_an_environment_that_fails_is_told_and_can_be_reset(talk):
    ask = talk("odd/<b>")
    ask("reset")
    error = ask("step", action=2)["error"]
    assert (error["message"].endswith("of its own"), error["infrastructure"]) == (True, True)
    assert ask("reset")["step"] == 0


def test_values_that_json_lacks_are_text(talk):
    ask = talk("odd/<b>")
    begun = ask("reset")
    assert begun["observation"] == ["-Infinity", "Infinity", 1.0]
    assert begun["info"] == {"half": "?", "big": str(1 << 70), "nan": "NaN"}
    told = ask("step", action=0, frame=True)
    assert (told["reward"], told["info"]["seen"], told["frame"]["kind"]) == (0.5, [1, 2], "png")
    assert {one["action"] for one in ask("random", count=5)["steps"]} == {1}  # the mask allows no other


def test_a_picture_that_fails_does_not_lose_the_step(talk):
    ask = talk("odd/<b>")
    told = ask("reset", options={"broken": True}, frame=True)
    assert told["frame"] == {"kind": "error", "data": "RuntimeError: 'no ink'"}
    assert ask("step", action=0)["truncated"]


def test_an_unknown_environment_or_no_place_is_told_at_the_reset(talk, running):
    assert talk("nowhere")("reset")["error"]["kind"] == "UnknownEnvironment"
    asks = [talk("CartPole-v1") for _ in range(5)]
    told = [ask("reset") for ask in asks]
    assert ["error" in one for one in told] == [False] * 4 + [True]
    assert told[-1]["error"]["kind"] == "ServerBusy"
    asks[0].socket.close()
    until(lambda: len(running.server.sessions.infos()) == 3, "three sessions")
    assert asks[-1]("reset")["step"] == 0


def test_a_session_ends_with_its_socket_and_begins_anew_where_it_was_ended(talk, running):
    ask = talk("CartPole-v1")
    ask("reset")
    [info] = running.server.sessions.infos()
    assert httpx.delete(f"{running.url}/v1/sessions/{info.id}").status_code < 300
    assert ask("step", action=0)["error"]["kind"] == "SessionLost"
    assert ask("reset")["step"] == 0
    ask.socket.close()
    until(lambda: not running.server.sessions.infos(), "sessions stay open")


class Waiting(Env):
    """Waits to be let go."""

    let_go = Event()

    def __init__(self):
        self.action_space = self.observation_space = Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return 0, {}

    def step(self, action):
        self.let_go.wait(60)
        return Step(0, 0.0, False, False, {})


def test_past_its_deadline_a_session_is_given_up_and_the_next_reset_opens_another(talk):
    with serve(ServedEnv(Waiting, "w", config=ServerConfig(deadline=2.5)), port=0, block=False) as slow:
        ask = talk("w", slow.url)
        first = ask("reset")["episode"]
        error = ask("step", action=0)["error"]
        assert error["infrastructure"]
        assert "longer than 2.5 seconds" in error["message"]
        Waiting.let_go.set()
        assert ask("reset")["episode"] != first
        assert ask("step", action=0)["step"] == 1


# --- roles ---


@pytest.fixture(scope="module")
def closed():
    access = Access({RUN: "orchestrator", STEP: "agent", READ: "observer"})
    with serve("CartPole-v1", port=0, block=False, access=access) as running:
        yield running


@pytest.mark.parametrize(("token", "status"), [(RUN, 200), (STEP, 200), (READ, 200), ("", 401)])
def test_everybody_with_a_token_sees_the_catalogue_the_page_and_the_picture(closed, token, status):
    headers = {"authorization": f"Bearer {token}"} if token else {}
    for path in ("/v1/envs", "/v1/envs/CartPole-v1", "/v1/picture?env=CartPole-v1"):
        assert httpx.get(f"{closed.url}{path}", headers=headers).status_code == status


@pytest.mark.parametrize(("token", "may"), [(RUN, True), (STEP, False), (READ, False)])
def test_only_who_may_run_plays(closed, talk, token, may):
    told = talk("CartPole-v1", closed.url, f"&token={quote(token)}")("reset")
    assert ("error" not in told) == may
    assert may or told["error"]["kind"] == "AccessDenied"


# --- the parts ---


def test_keys_of_chords_and_of_no_key():
    table = key_table(Odd())
    assert {tuple(one["keys"]): one["action"] for one in table["keys"]} == {("x",): 1, ("y",): 0, ("x", "y"): 2}
    swing = key_table(make("Pendulum-v1"))
    assert (swing["has_idle"], swing["idle"], swing["buttons"]) == (True, [0.0], [])
    assert key_table(make("open/Echo-v0"))["keys"] == []


def test_frames_and_their_modes():
    assert [best_mode(modes) for modes in (["ansi", "svg"], ["rgb_array", "ansi"], ["human"])] == [
        "svg",
        "rgb_array",
        None,
    ]
    assert as_frame(["a", "b"]) == {"kind": "text", "data": "b"}
    assert as_frame(None) is None


def test_plain_never_raises():
    class Rude:
        def __repr__(self):
            raise ValueError("no")

    deep = []
    for _ in range(100):
        deep = [deep]

    class Torn(Mapping):
        def __getitem__(self, key):
            raise ZeroDivisionError

        def __iter__(self):
            raise ZeroDivisionError

        def __len__(self):
            return 1

        def __repr__(self):
            return "torn"

    assert plain({"rude": Rude(), (1, 2): np.float32(0.5)}) == {"rude": "a Rude", "(1, 2)": 0.5}
    assert plain([Torn(), 1]) == ["torn", 1]
    assert plain({Rude(): 1}) == "a dict"
    assert plain([2**53, 2**53 + 1, np.uint64(2**60), np.array([2**60])]) == [
        2**53,
        "9007199254740993",
        "1152921504606846976",
        ["1152921504606846976"],
    ]
    assert "\\u2026" in json.dumps(plain(deep))
    assert plain("x" * (2 << 20)).endswith("…")
