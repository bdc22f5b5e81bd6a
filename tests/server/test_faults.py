"""One fault of an environment, one answer: whichever protocol asks, and wherever the environment runs."""

import json
import re
from urllib.parse import quote

import httpx
import pytest
from websockets.sync.client import connect as websocket

import ludus
from ludus.errors import ContractViolation
from ludus.server.config import ServerConfig
from ludus.server.run import serve
from ludus.tools import Call

FAULTS = {
    "outside": r"observation\[0\]: expected -1.0 to 1.0, got 5.0",
    "nan": r"observation\[0\]: expected -1.0 to 1.0, got nan",
    "nan reward": "reward: expected a finite number, got ",
    "infinite reward": "reward: expected a finite number, got ",
}
pytestmark = pytest.mark.filterwarnings("ignore::ludus.wrappers.passive_env_checker.ContractWarning")
FIRST = r"observation\[0\]: expected -1.0 to 1.0, got nan"
"""What is wrong with the first observation of seed 13."""


@pytest.fixture(scope="module", params=["none", "process"])
def url(request):
    config = ServerConfig(isolation=request.param, deadline=60.0)
    with serve("tests.server.mcp_worlds:Faulty", port=0, block=False, config=config) as running:
        yield running.url


def native(url, fault):
    with ludus.connect(url, timeout=60) as env:
        env.reset()
        if fault is None:
            return env.step(Call("go", {"fault": "none"})).reward
        with pytest.raises(ContractViolation) as caught:
            env.step(Call("go", {"fault": fault}))
        return type(caught.value).__name__, caught.value.infrastructure, str(caught.value)


def native_reset(url):
    with ludus.connect(url, timeout=60) as env:
        with pytest.raises(ContractViolation) as caught:
            env.reset(seed=13)
        return type(caught.value).__name__, caught.value.infrastructure, str(caught.value)


def told(data):
    return data["kind"], data["infrastructure_failure"], data.get("message") or data["detail"]


def http(url, fault):
    with httpx.Client(base_url=url, timeout=60) as client:
        client.post("/reset", json={})
        reply = client.post("/step", json={"action": {"tool": "go", "arguments": {"fault": fault or "none"}}})
        client.post("/close")
    if fault is None:
        return reply.json()["reward"]
    assert reply.status_code == 500
    return told(reply.json())


def http_reset(url):
    with httpx.Client(base_url=url, timeout=60) as client:
        reply = client.post("/reset", json={"seed": 13})
        client.post("/close")
    assert reply.status_code == 500
    return told(reply.json())


def talk(url, path, *messages):
    """The last of the replies to some messages."""
    with websocket(f"{url.replace('http', 'ws', 1)}{path}", proxy=None) as connection:
        for message in messages:
            connection.send(json.dumps(message))
            reply = connection.recv(60)
    return json.loads(reply)


def socket(url, fault):
    call = {"type": "call_tool", "tool_name": "go", "arguments": {"fault": fault or "none"}}
    reply = talk(url, "/ws", {"type": "reset"}, {"type": "step", "data": call})
    return reply["data"]["reward"] if fault is None else told(reply["data"])


def socket_reset(url):
    return told(talk(url, "/ws", {"type": "reset", "data": {"seed": 13}})["data"])


def offered(url):
    return quote(httpx.get(f"{url}/v1/envs").json()["envs"][0]["name"])


def play(url, fault):
    step = {"type": "step", "action": {"tool": "go", "arguments": {"fault": fault or "none"}}}
    reply = talk(url, f"/v1/play?env={offered(url)}", {"type": "reset"}, step)
    if fault is None:
        return reply["reward"]
    return reply["error"]["kind"], reply["error"]["infrastructure"], reply["error"]["message"]


def play_reset(url):
    error = talk(url, f"/v1/play?env={offered(url)}", {"type": "reset", "seed": 13})["error"]
    return error["kind"], error["infrastructure"], error["message"]


def rpc(url, method, **params):
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return httpx.post(f"{url}/mcp", json=message, timeout=60).json()


def mcp(url, fault):
    session = rpc(url, "openenv/session/create")["result"]["session_id"]
    reply = rpc(url, "tools/call", name="go", arguments={"fault": fault or "none"}, session_id=session)
    rpc(url, "openenv/session/close", session_id=session)
    if fault is None:
        return reply["result"]["meta"]["reward"]
    return told(reply["error"]["data"] | {"message": reply["error"]["message"]})


def mcp_reset(url):
    session = rpc(url, "openenv/session/create")["result"]["session_id"]
    reply = rpc(url, "ludus/reset", seed=13, session_id=session)
    rpc(url, "openenv/session/close", session_id=session)
    return told(reply["error"]["data"] | {"message": reply["error"]["message"]})


@pytest.mark.in_turns("protocol")
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("protocol", [native, http, socket, mcp, play])
def test_a_step_outside_its_spaces_is_the_environments_fault(url, protocol, fault):
    kind, infrastructure, message = protocol(url, fault)
    assert (kind, infrastructure) == ("ContractViolation", True)
    assert re.search(FAULTS[fault], message)


@pytest.mark.parametrize("protocol", [native_reset, http_reset, socket_reset, mcp_reset, play_reset])
def test_a_first_observation_outside_its_space_is_the_environments_fault(url, protocol):
    kind, infrastructure, message = protocol(url)
    assert (kind, infrastructure) == ("ContractViolation", True)
    assert re.search(FIRST, message)


@pytest.mark.parametrize("protocol", [native, http, socket, mcp, play])
def test_a_step_that_is_right_is_told(url, protocol):
    assert protocol(url, None) == 1.0
