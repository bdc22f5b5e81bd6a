"""Plain HTTP holds an episode: sessions by cookie, header, address or body; the envelope; errors; roles; limits."""

import json
from http.cookies import SimpleCookie

import httpx
import pytest

from ludus.server.access import Access
from ludus.server.config import ServerConfig
from ludus.server.run import serve
from ludus.server.served_env import ServedEnv
from tests.server.openenv_worlds import Odd, Riddle, Waiting

ENVELOPE = {
    "observation",
    "reward",
    "done",
    "metadata",
    "terminated",
    "truncated",
    "info",
    "reward_components",
    "session_id",
    "infrastructure_failure",
}
RUN, STEP, READ = "the-orchestrator's-token", "the-agent's-own-token", "an-observer's-token"


@pytest.fixture(scope="module")
def running():
    targets = (ServedEnv(Riddle, "riddle"), ServedEnv(Odd, "odd"), "CartPole-v1", "open/EchoTools-v0")
    with serve(*targets, port=0, block=False) as running:
        yield running


@pytest.fixture
def http(running):
    with httpx.Client(base_url=running.url) as client:
        yield client
        client.post("/close")


def at(running, name):
    """A client of one environment by its path."""
    return httpx.Client(base_url=f"{running.url}/env/{name}")


def held(running):
    return len(running.server.sessions.infos())


# --- an episode ---


def test_an_episode_is_held_by_the_cookie(http):
    begun = http.post("/reset", json={"index": 1}).json()
    assert begun["observation"] == {"riddle": 1, "hint": "think", "metadata": {}}
    first = http.post("/step", json={"action": {"answer": "the wind"}}).json()
    last = http.post("/step", json={"action": {"answer": "an echo"}}).json()
    assert (first["reward"], first["done"]) == (-0.1, False)
    assert (last["reward"], last["done"], last["terminated"], last["truncated"]) == (0.8, True, True, False)
    assert last["reward_components"] == {"right": 1.0, "haste": -0.2}
    assert http.get("/state").json()["step_count"] == 2


def test_the_envelope_has_these_keys_and_no_others(http):
    begun = http.post("/reset", json={}).json()
    stepped = http.post("/step", json={"action": {"answer": ""}}).json()
    assert begun.keys() == stepped.keys() == ENVELOPE
    assert begun["metadata"] is None
    assert stepped["metadata"] == stepped["info"]
    assert (begun["reward"], begun["done"]) == (None, False)


def test_the_cookie_is_for_this_path_and_for_no_script(running):
    root = httpx.post(f"{running.url}/reset")
    named = httpx.post(f"{running.url}/env/odd/reset")
    for reply, path in ((root, "/"), (named, "/env/odd")):
        cookie = SimpleCookie(reply.headers["set-cookie"])["ludus_session"]
        assert (cookie["path"], cookie["httponly"], cookie["samesite"]) == (path, True, "Strict")
        assert cookie.value == reply.headers["x-session-id"] == reply.json()["session_id"]
        httpx.post(f"{running.url}/close", headers={"x-session-id": cookie.value})


@pytest.mark.parametrize("way", ["header", "query", "body", "cookie"])
def test_a_session_is_named_in_four_ways(running, way):
    reply = httpx.post(f"{running.url}/reset", json={"index": 0})
    name = reply.json()["session_id"]
    ways = {
        "header": {"headers": {"x-session-id": name}},
        "query": {"params": {"session_id": name}},
        "body": {},
        "cookie": {"headers": {"cookie": f"other=1; ludus_session={name}; more=2"}},
    }
    body = {"action": {"answer": "no"}, **({"session_id": name} if way == "body" else {})}
    for number in (1, 2):
        stepped = httpx.post(f"{running.url}/step", json=body, **ways[way]).json()
        assert stepped["reward"] == pytest.approx(-0.1 * number)
    again = httpx.post(f"{running.url}/reset", json={"session_id": name} if way == "body" else {}, **ways[way])
    assert again.json()["session_id"] == name
    assert httpx.request("DELETE", f"{running.url}/close", headers={"x-session-id": name}).json() == {"closed": True}


def test_sessions_do_not_know_each_other(running):
    with httpx.Client(base_url=running.url) as one, httpx.Client(base_url=running.url) as two:
        one.post("/reset", json={"index": 0})
        two.post("/reset", json={"index": 2})
        one.post("/step", json={"action": {"answer": "no"}})
        assert two.post("/step", json={"action": {"answer": "a shadow"}}).json()["done"]
        assert not one.post("/step", json={"action": {"answer": "a shadow"}}).json()["done"]
        assert (one.get("/state").json()["tries"], two.get("/state").json()["tries"]) == (2, 1)
        one.post("/close")
        two.post("/close")


def test_without_a_session_there_is_no_episode(running):
    assert httpx.get(f"{running.url}/state").json() == {"episode_id": None, "step_count": 0}
    assert httpx.post(f"{running.url}/close").json() == {"closed": False}


def test_an_old_cookie_is_forgotten_and_an_unknown_order_is_refused(running):
    old = {"cookie": "ludus_session=0.gone"}
    begun = httpx.post(f"{running.url}/reset", headers=old)
    assert begun.status_code == 200
    httpx.post(f"{running.url}/close", headers={"x-session-id": begun.json()["session_id"]})
    for path in ("reset", "step", "close"):
        body = {"action": {"answer": ""}} if path == "step" else {}
        assert httpx.post(f"{running.url}/{path}", json=body, headers={"x-session-id": "0.gone"}).status_code == 404


def test_a_session_belongs_to_its_environment(running, http):
    name = http.post("/reset").json()["session_id"]
    reply = httpx.post(f"{running.url}/env/odd/step", json={"action": 0}, headers={"x-session-id": name})
    assert reply.status_code == 404
    assert "expected one of odd" in reply.json()["detail"]
    beside = httpx.post(f"{running.url}/env/odd/step", json={"action": 0}, headers={"cookie": f"ludus_session={name}"})
    assert beside.status_code == 200
    assert beside.json()["session_id"] != name
    assert http.post("/step", json={"action": {"answer": ""}}).status_code == 200


# --- reset: honoured or refused ---


def test_seeds_and_names_are_honoured(http):
    seen = [
        http.post("/reset", json={"seed": seed}).json()["observation"]["riddle"] for seed in (5, 6, 7, 8, 5, 6, 7, 8)
    ]
    assert seen[:4] == seen[4:]
    assert len(set(seen)) > 1
    http.post("/reset", json={"episode_id": "mine"})
    assert http.get("/state").json()["episode_id"] == "mine"


def test_options_reach_the_environment_beside_the_seed_or_together(http):
    for body in ({"index": 2, "split": "last"}, {"options": {"index": 2, "split": "last"}}):
        begun = http.post("/reset", json={"seed": 1, **body}).json()
        assert (begun["observation"]["riddle"], begun["info"]) == (2, {"split": "last"})


@pytest.mark.parametrize(
    "body",
    [
        {"wind": 1},
        {"seed": -1},
        {"seed": "one"},
        {"seed": 1.5},
        {"episode_id": ""},
        {"episode_id": "x" * 256},
        {"episode_id": 7},
        {"options": 3},
        {"index": 1, "options": {"index": 2}},
        {"session_id": 3},
    ],
)
def test_what_cannot_be_honoured_is_refused_and_leaves_no_session(running, body):
    before = held(running)
    reply = httpx.post(f"{running.url}/reset", json=body)
    assert reply.status_code == 422
    assert reply.json()["detail"][0]["msg"]
    assert held(running) == before


def test_a_refused_reset_leaves_the_episode_as_it_was(http):
    http.post("/reset", json={"index": 0})
    http.post("/step", json={"action": {"answer": ""}})
    assert http.post("/reset", json={"wind": 1}).status_code == 422
    assert http.get("/state").json()["step_count"] == 1


# --- step ---


@pytest.mark.parametrize("action", [1, {"action": 1}, {"action": 1, "metadata": {"tag": "x"}}])
def test_an_action_of_another_space_comes_wrapped_or_bare(running, action):
    with at(running, "CartPole-v1") as http:
        http.post("/reset", json={"seed": 3})
        stepped = http.post("/step", json={"action": action, "timeout_s": 15})
        assert stepped.status_code == 200
        assert len(stepped.json()["observation"]["value"]) == 4
        http.post("/close")


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"action": {}},
        {"action": {"answer": 3}},
        {"action": {"answer": "x" * 201}},
        {"action": {"answer": "", "more": 1}},
        {"action": {"answer": "", "metadata": 3}},
        {"action": None},
        {"action": {"answer": ""}, "timeout_s": 0},
        {"action": {"answer": ""}, "timeout_s": True},
        {"action": {"answer": ""}, "request_id": "x" * 256},
        {"action": {"answer": ""}, "wind": 1},
    ],
)
def test_a_bad_step_is_refused_and_the_episode_goes_on(http, body):
    http.post("/reset", json={"index": 0})
    reply = http.post("/step", json=body)
    assert reply.status_code == 422
    assert not reply.json()["infrastructure_failure"]
    assert http.post("/step", json={"action": {"answer": "a candle"}}).json()["reward"] == pytest.approx(0.9)


def test_a_repeated_request_is_one_step(http):
    http.post("/reset", json={"index": 0})
    ask = {"action": {"answer": "no"}, "request_id": "one"}
    first, again = http.post("/step", json=ask), http.post("/step", json=ask)
    assert first.json() == again.json()
    assert http.get("/state").json()["step_count"] == 1
    assert http.post("/step", json={**ask, "request_id": "two"}).json()["reward"] == pytest.approx(-0.2)
    http.post("/reset", json={"index": 1})
    assert http.post("/step", json={**ask, "request_id": "two"}).json()["reward"] == pytest.approx(-0.1)
    refused = {"action": {"answer": 3}, "request_id": "three"}
    assert http.post("/step", json=refused).status_code == 422
    assert http.post("/step", json={**ask, "request_id": "three"}).status_code == 200


def test_numbers_that_json_has_not_are_words_or_nothing(running):
    with at(running, "odd") as http:
        begun = http.post("/reset")
        strict = json.loads(begun.text, parse_constant=lambda found: pytest.fail(found))
        assert strict["info"] == {"at": [0, 1], "far": "Infinity", "raw": "AP8=", "3": [1, 2], "deep": [[]]}
        stepped = http.post("/step", json={"action": 0})
        strict = json.loads(stepped.text, parse_constant=lambda found: pytest.fail(found))
        assert strict["observation"]["value"] == [0.5, "Infinity", "-Infinity"]
        assert (strict["reward"], strict["info"]) == (0.5, {"nan": "NaN"})
        http.post("/close")


@pytest.mark.parametrize(("action", "says"), [(1, "it was told to"), (2, "info['hook']: expected numbers")])
def test_a_fault_of_the_environment_is_told_as_such_and_the_session_goes_on(running, action, says):
    with at(running, "odd") as http:
        http.post("/reset")
        reply = http.post("/step", json={"action": action})
        assert reply.status_code == 500
        assert says in reply.json()["detail"]
        assert "Traceback" not in reply.text
        assert http.post("/step", json={"action": 0}).status_code == 200
        http.post("/close")


# --- bodies ---


@pytest.mark.parametrize("body", [b"{", b"[]", b"3", b'"x"', b"[" * 10_000, b"\xff\xfe", b'{"seed": NaN}', b"{}{}"])
def test_a_body_that_is_no_object_is_refused(running, body):
    for path in ("reset", "step", "close"):
        assert httpx.post(f"{running.url}/{path}", content=body).status_code == 422


def test_methods_that_there_are_not_are_refused(running):
    assert httpx.get(f"{running.url}/step").status_code == 405
    assert httpx.post(f"{running.url}/state").status_code == 405


def test_a_body_may_come_in_parts(http):
    http.post("/reset", json={"index": 0})
    parts = iter([b'{"action": {"ans', b'wer": "a candle"}}'])
    assert http.post("/step", content=parts).json()["done"]


# --- tools ---


def test_tools_are_listed_and_called_in_both_forms(running):
    with at(running, "open/EchoTools-v0") as http:
        http.post("/reset")
        listed = http.post("/step", json={"action": {"type": "list_tools"}}).json()
        assert [one["name"] for one in listed["observation"]["tools"]] == ["echo_message", "echo_with_length"]
        assert (listed["reward"], http.get("/state").json()["step_count"]) == (None, 0)
        call = {"type": "call_tool", "tool_name": "echo_with_length", "arguments": {"message": "hi"}}
        called = http.post("/step", json={"action": call}).json()
        assert called["observation"]["result"]["data"] == {"message": "hi", "length": 2}
        assert (called["observation"]["error"], called["reward"]) == (None, 0.2)
        plain = {"tool": "echo_message", "arguments": {"message": "hi"}}
        assert http.post("/step", json={"action": plain}).json()["observation"]["result"] == "hi"
        http.post("/close")


@pytest.mark.parametrize(
    ("action", "kind"),
    [
        ({"type": "call_tool", "tool_name": "shout", "arguments": {}}, "tool_not_found"),
        ({"type": "call_tool", "tool_name": "echo_message", "arguments": {"message": 3}}, "invalid_args"),
        ({"type": "call_tool", "tool_name": "echo_message"}, "invalid_args"),
    ],
)
def test_a_call_that_cannot_be_is_an_observation(running, action, kind):
    with at(running, "open/EchoTools-v0") as http:
        http.post("/reset")
        seen = http.post("/step", json={"action": action}).json()["observation"]
        assert (seen["result"], seen["error"]["error_type"]) == (None, kind)
        assert http.get("/state").json()["step_count"] == 0
        http.post("/close")


@pytest.mark.parametrize("action", [{"type": "dance"}, {"type": "list_tools", "more": 1}, {"type": "call_tool"}])
def test_an_action_of_no_known_type_is_refused(running, action):
    with at(running, "open/EchoTools-v0") as http:
        http.post("/reset")
        assert http.post("/step", json={"action": action}).status_code == 422
        http.post("/close")


# --- roles, limits, failures ---


def test_roles_do_what_they_may():
    access = Access({RUN: "orchestrator", STEP: "agent", READ: "observer"})
    with serve(ServedEnv(Riddle, "riddle"), port=0, block=False, access=access) as running:

        def ask(token, method, path, **more):
            headers = {"authorization": f"Bearer {token}", **more.pop("headers", {})}
            return httpx.request(method, f"{running.url}{path}", headers=headers, **more)

        assert httpx.get(f"{running.url}/health").json() == {"status": "healthy"}
        assert httpx.post(f"{running.url}/reset").status_code == 401
        begun = ask(RUN, "POST", "/reset", json={"index": 1})
        mine = {"headers": {"x-session-id": begun.json()["session_id"]}}
        assert ask(STEP, "POST", "/reset", **mine).status_code == 403
        assert ask(STEP, "POST", "/step", json={"action": {"answer": ""}}, **mine).status_code == 200
        assert ask(READ, "POST", "/step", json={"action": {"answer": ""}}, **mine).status_code == 403
        assert ask(READ, "GET", "/state", **mine).status_code == 403
        assert "answer" not in ask(STEP, "GET", "/state", **mine).json()
        assert ask(RUN, "GET", "/state", **mine).json()["answer"] == "an echo"
        assert ask(STEP, "POST", "/close", **mine).status_code == 403
        assert ask(STEP, "GET", "/riddle/splits").status_code == 403
        for path in ("/metadata", "/schema", "/openapi.json", "/docs", "/list_environments"):
            assert ask(READ, "GET", path).status_code == 200


def test_a_full_server_says_when_to_come_again():
    config = ServerConfig(max_sessions=1, queue_seconds=0.01, body=1000)
    with serve(ServedEnv(Riddle, "riddle"), port=0, block=False, config=config) as running:
        assert httpx.post(f"{running.url}/reset").status_code == 200
        reply = httpx.post(f"{running.url}/reset")
        assert reply.status_code == 503
        assert int(reply.headers["retry-after"]) == reply.json()["retry_after"] >= 1
        assert httpx.post(f"{running.url}/step", content=b" " * 1001).status_code == 413


def test_a_step_past_its_time_is_given_up_with_its_session():
    Waiting.gate.opened.clear()
    with (
        serve(ServedEnv(Waiting, "waiting"), port=0, block=False) as running,
        httpx.Client(base_url=running.url) as http,
    ):
        try:
            name = http.post("/reset").json()["session_id"]
            reply = http.post("/step", json={"action": 1, "timeout_s": 0.05})
            assert (reply.status_code, reply.json()["infrastructure_failure"]) == (504, True)
            lost = http.post("/step", json={"action": 1}, headers={"x-session-id": name})
            assert (lost.status_code, lost.json()["infrastructure_failure"]) == (404, True)
        finally:
            Waiting.gate.opened.set()


def test_an_episode_cut_by_its_process_is_marked():
    served = ServedEnv(Odd, "odd", config=ServerConfig(isolation="process"))
    with serve(served, port=0, block=False) as running, httpx.Client(base_url=running.url) as http:
        http.post("/reset")
        cut = http.post("/step", json={"action": 3}).json()
        assert (cut["done"], cut["truncated"], cut["infrastructure_failure"]) == (True, True, True)
        assert http.post("/reset").status_code == 200
        assert not http.post("/step", json={"action": 0}).json()["infrastructure_failure"]
