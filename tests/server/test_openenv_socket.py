"""`/ws`: one reply to each request, errors that can be got over, sessions that end with their connection or not."""

import json
from contextlib import contextmanager
from threading import Thread

import httpx
import pytest
from websockets.exceptions import ConnectionClosedError, ConnectionClosedOK
from websockets.sync.client import connect

from ludus.server.access import Access
from ludus.server.config import ServerConfig
from ludus.server.run import serve
from ludus.server.served_env import ServedEnv
from ludus.wire.messages import (
    HelloRequest,
    NumberedRequest,
    write_message,
)
from tests.patience import until
from tests.server.openenv_worlds import Odd, Riddle, Unmade, Waiting

BESIDE = {"terminated", "truncated", "info", "reward_components", "session_id", "infrastructure_failure"}
RUN, STEP, READ = "the-orchestrator's-token", "the-agent's-own-token", "an-observer's-token"


@pytest.fixture(scope="module")
def running():
    targets = (ServedEnv(Riddle, "riddle"), ServedEnv(Odd, "odd"), "open/EchoTools-v0")
    with serve(*targets, port=0, block=False) as running:
        yield running


@contextmanager
def socket(running, path="", **more):
    """A connection; no proxy of the machine's is asked."""
    with connect(f"{running.url.replace('http', 'ws', 1)}{path}", proxy=None, **more) as found:
        yield found


def ask(socket, kind, data=None, **more):
    socket.send(json.dumps({"type": kind, **({} if data is None else {"data": data}), **more}))
    reply = json.loads(socket.recv(60))
    assert reply.keys() == {"type", "data"}
    return reply


def error(socket, text):
    socket.send(text)
    reply = json.loads(socket.recv(60))
    assert reply["type"] == "error"
    return reply["data"]


def held(running):
    return {one.id for one in running.server.sessions.infos()}


def gone(running, socket, name):
    """Wait until a session is not there any more, with requests between two looks."""
    until(lambda: ask(socket, "state") and name not in held(running), "the session to end")
    return True


def test_an_episode(running):
    with socket(running, "/ws") as ws:
        begun = ask(ws, "reset", {"index": 2, "seed": 1, "episode_id": "mine"})
        assert begun["type"] == "observation"
        assert begun["data"].keys() == {"observation", "reward", "done", "metadata"} | BESIDE
        assert begun["data"]["observation"] == {"riddle": 2, "hint": "think", "metadata": {}}
        stepped = ask(ws, "step", {"answer": "a shadow"})["data"]
        assert (stepped["reward"], stepped["done"], stepped["terminated"]) == (0.9, True, True)
        state = ask(ws, "state")
        assert (state["type"], state["data"]["episode_id"], state["data"]["step_count"]) == ("state", "mine", 1)
        again = ask(ws, "reset")["data"]
        assert again.keys() == {"observation", "reward", "done"} | BESIDE


def test_close_is_answered_by_the_end_of_the_connection(running):
    with socket(running, "/ws") as ws:
        ask(ws, "reset", {})
        ws.send('{"type": "close"}')
        with pytest.raises(ConnectionClosedOK):
            ws.recv(60)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("{", "INVALID_JSON"),
        ("", "INVALID_JSON"),
        (b"\xff", "INVALID_JSON"),
        ("[" * 10_000, "INVALID_JSON"),
        ('{"type": "step", "data": {"answer": NaN}}', "INVALID_JSON"),
        ("[]", "UNKNOWN_TYPE"),
        ("3", "UNKNOWN_TYPE"),
        ("{}", "UNKNOWN_TYPE"),
        ('{"type": "dance"}', "UNKNOWN_TYPE"),
        ('{"type": ["step"]}', "UNKNOWN_TYPE"),
        ('{"type": "reset", "id": 1}', "VALIDATION_ERROR"),
        ('{"type": "reset", "data": []}', "VALIDATION_ERROR"),
        ('{"type": "reset", "data": {"wind": 1}}', "VALIDATION_ERROR"),
        ('{"type": "reset", "data": {"seed": -1}}', "VALIDATION_ERROR"),
        ('{"type": "step"}', "VALIDATION_ERROR"),
        ('{"type": "step", "data": {"answer": 3}}', "VALIDATION_ERROR"),
        ('{"type": "step", "data": {"answer": "x", "more": 1}}', "VALIDATION_ERROR"),
    ],
)
def test_a_bad_message_has_its_code_and_the_episode_goes_on(running, text, code):
    with socket(running, "/ws") as ws:
        ask(ws, "reset", {"index": 0})
        told = error(ws, text)
        assert told["code"] == code
        assert told["message"]
        assert code != "VALIDATION_ERROR" or told["errors"][0]["msg"] == told["message"]
        assert ask(ws, "step", {"answer": "a candle"})["data"]["reward"] == pytest.approx(0.9)


def test_a_fault_of_the_environment_can_be_got_over(running):
    with socket(running, "/env/odd/ws") as ws:
        ask(ws, "reset")
        assert error(ws, '{"type": "step", "data": {"action": 1}}')["message"] == "it was told to"
        stepped = ask(ws, "step", {"action": 0})["data"]
        assert stepped["observation"] == {"value": [0.5, "Infinity", "-Infinity"], "metadata": {}}


def test_replies_come_in_order_even_if_requests_do_not_wait(running):
    with socket(running, "/ws") as ws:
        ask(ws, "reset", {"index": 0})
        for _ in range(50):
            ws.send('{"type": "step", "data": {"answer": "no"}}')
        ws.send('{"type": "state"}')
        rewards = [json.loads(ws.recv(60))["data"]["reward"] for _ in range(50)]
        assert rewards == pytest.approx([-0.1 * number for number in range(1, 51)])
        assert json.loads(ws.recv(60))["data"]["step_count"] == 50


def test_its_own_session_ends_with_the_connection(running):
    before = held(running)
    with socket(running, "/ws") as ws:
        mine = ask(ws, "reset")["data"]["session_id"]
        assert held(running) - before == {mine}
    with socket(running, "/ws") as ws:
        assert gone(running, ws, mine)


def test_a_session_of_another_protocol_is_gone_on_with_and_kept(running):
    with httpx.Client(base_url=running.url) as http:
        name = http.post("/reset", json={"index": 1}).json()["session_id"]
        http.post("/step", json={"action": {"answer": "no"}})
        with socket(running, f"/ws?session_id={name}") as ws:
            assert ask(ws, "state")["data"]["step_count"] == 1
            assert ask(ws, "step", {"answer": "no"})["data"]["session_id"] == name
            with socket(running, f"/ws?session_id={name}") as second:
                told = json.loads(second.recv(60))["data"]
                assert (told["code"], "already has an attached WebSocket" in told["message"]) == ("SESSION_ERROR", True)
                with pytest.raises(ConnectionClosedOK):
                    second.recv(60)
            assert http.post("/step", json={"action": {"answer": "an echo"}}).json()["done"]
        assert http.get("/state").json()["step_count"] == 3
        http.post("/close")


def test_a_session_that_there_is_not_or_of_another_environment_is_refused(running):
    with httpx.Client(base_url=running.url) as http:
        name = http.post("/reset").json()["session_id"]
        for path in ("/ws?session_id=0.gone", f"/env/odd/ws?session_id={name}"):
            with socket(running, path) as ws:
                assert json.loads(ws.recv(60))["data"]["code"] == "SESSION_ERROR"
                with pytest.raises(ConnectionClosedOK):
                    ws.recv(60)
        http.post("/close")


def test_a_session_that_is_closed_from_elsewhere_ends_its_conversation(running):
    with socket(running, "/ws") as ws:
        name = ask(ws, "reset")["data"]["session_id"]
        httpx.post(f"{running.url}/close", headers={"x-session-id": name})
        told = error(ws, '{"type": "step", "data": {"answer": ""}}')
        assert (told["code"], told["infrastructure_failure"]) == ("SESSION_ERROR", True)
        with pytest.raises(ConnectionClosedOK):
            ws.recv(60)


def test_tools_need_no_reset(running):
    with socket(running, "/env/open/EchoTools-v0/ws") as ws:
        tools = ask(ws, "step", {"type": "list_tools"})["data"]["observation"]["tools"]
        assert {"name", "description", "input_schema"} <= tools[0].keys()
        call = {"type": "call_tool", "tool_name": "echo_message", "arguments": {"message": "hi"}, "metadata": {}}
        called = ask(ws, "step", call)["data"]
        assert called["observation"].keys() == {"tool_name", "result", "error", "metadata"}
        assert (called["observation"]["result"]["data"], called["reward"]) == ("hi", 0.2)
        rpc = {"jsonrpc": "2.0", "id": 7, "method": "tools/list", "params": {}}
        reply = ask(ws, "mcp", rpc)
        assert (reply["type"], reply["data"]["id"]) == ("mcp", 7)
        assert [one["name"] for one in reply["data"]["result"]["tools"]] == ["echo_message", "echo_with_length"]


def test_roles_do_what_they_may():
    access = Access({RUN: "orchestrator", STEP: "agent", READ: "observer"})

    def bearer(token):
        return {"additional_headers": {"authorization": f"Bearer {token}"}}

    with serve(ServedEnv(Riddle, "riddle"), port=0, block=False, access=access) as running:
        with socket(running, "/ws", **bearer(STEP)) as ws:
            assert json.loads(ws.recv(60))["data"]["code"] == "SESSION_ERROR"
        with socket(running, "/ws", **bearer(RUN)) as ws:
            name = ask(ws, "reset", {"index": 0})["data"]["session_id"]
            assert ask(ws, "state")["data"]["answer"] == "a candle"
            mine = httpx.post(f"{running.url}/reset", headers={"authorization": f"Bearer {RUN}"}).json()["session_id"]
            assert name != mine
        with socket(running, f"/ws?session_id={mine}", **bearer(READ)) as ws:
            assert json.loads(ws.recv(60))["data"]["code"] == "SESSION_ERROR"
        with socket(running, f"/ws?session_id={mine}", **bearer(STEP)) as ws:
            assert error(ws, '{"type": "reset"}')["code"] == "ACCESS_DENIED"
            assert ask(ws, "step", {"answer": ""})["type"] == "observation"
            assert "answer" not in ask(ws, "state")["data"]


def test_at_capacity_a_connection_is_told_at_once_when_to_come_again():
    config = ServerConfig(max_sessions=1, queue_seconds=1000.0)
    served = ServedEnv(Riddle, "riddle")
    with serve(served, port=0, block=False, config=config) as running, socket(running, "/ws") as first:
        ask(first, "reset")
        with socket(running, "/ws") as second:
            told = json.loads(second.recv(60))["data"]
            assert (told["code"], told["active_sessions"], told["max_sessions"]) == ("CAPACITY_REACHED", 1, 1)
            assert told["retry_after"] > 0
            with pytest.raises((ConnectionClosedOK, ConnectionClosedError)):
                second.recv(60)
            assert ask(first, "state")["type"] == "state"


def test_an_environment_that_cannot_be_made_says_so():
    Unmade.made.clear()
    with serve(ServedEnv(Unmade, "unmade"), port=0, block=False) as running, socket(running, "/ws") as ws:
        told = json.loads(ws.recv(60))["data"]
        assert (told["code"], told["factory_name"]) == ("FACTORY_ERROR", "unmade")
        assert "licence server" in told["message"]
        assert not held(running)


def test_one_who_leaves_in_the_middle_of_a_step_leaves_nothing_behind():
    Waiting.gate.opened.clear()
    Waiting.gate.entered.clear()
    with serve(ServedEnv(Waiting, "waiting"), port=0, block=False) as running:
        with socket(running, "/ws", close_timeout=0.1) as ws:
            mine = ask(ws, "reset")["data"]["session_id"]
            ws.send('{"type": "step", "data": {"action": 1}}')
            assert Waiting.gate.entered.wait(60)
            leaving = Thread(target=ws.close)
            leaving.start()
            Waiting.gate.opened.set()
            leaving.join()
        with socket(running, "/ws") as other:
            ask(other, "reset")
            assert ask(other, "step", {"action": 1})["data"]["observation"]["value"] == 1
            assert gone(running, other, mine)


def test_a_session_taken_over_by_another_protocol_is_that_protocols(running):
    with socket(running, "/ws") as ws:
        name = ask(ws, "reset", {"index": 0})["data"]["session_id"]
        with socket(running, "/v1/ws") as wire:
            hello = write_message(NumberedRequest(0, HelloRequest(session=name, takeover=True)))
            wire.send(hello)
            wire.recv(60)
            with pytest.raises(ConnectionClosedOK):
                ws.recv(60)
            stepped = httpx.post(
                f"{running.url}/step", json={"action": {"answer": "a candle"}}, headers={"x-session-id": name}
            )
            assert stepped.json()["done"]
    httpx.post(f"{running.url}/close", headers={"x-session-id": name})
