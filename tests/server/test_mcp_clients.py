"""`/mcp` with clients of others: the official one of the protocol, OpenEnv's of two versions, and plain WebSockets."""

import asyncio
import json
import socket
import subprocess
from pathlib import Path

import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.session import ClientSession
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from ludus.server.access import Access
from ludus.server.config import ServerConfig
from ludus.server.run import serve
from ludus.tools import ToolEnv, ToolOutcome, tool
from tests.patience import until

ROOT = Path(__file__).resolve().parents[2]
TOOLS = "open/EchoTools-v0"
PEERS = ("0.10.0", "0.3.0")


class Countdown(ToolEnv):
    """Count down to nothing."""

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed, options=options)
        self.left = 2
        return ToolOutcome(result="two to go"), {}

    @tool
    def count(self) -> dict[str, int]:
        """Count."""
        self.left -= 1
        return {"left": self.left}

    def judge(self, call, result):
        return 1.0, self.left == 0


@pytest.fixture(scope="module")
def running():
    with serve(TOOLS, Countdown, port=0, block=False) as one:
        yield one


def held(running):
    """The ids of all sessions, as the server itself tells: they come and go in its thread."""
    return [one["id"] for one in httpx2.get(f"{running.url}/v1/sessions", timeout=60).json()["sessions"]]


@pytest.fixture(autouse=True)
def nothing_is_left(running):
    """A connection that ended is noticed by the server in its own time."""
    yield
    until(lambda: held(running) == [], "no session to be left")


@pytest.fixture
def countdown(running):
    [name] = [name for name in running.server.offered if "Countdown" in name]
    return f"{running.url}/env/{name}/mcp"


# --- the official client ---


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_official_client_lists_and_calls_tools(running, mode):
    async def session():
        async with Client(f"{running.url}/mcp", mode=mode) as client:
            listed = (await client.list_tools()).tools
            text = await client.call_tool("echo_message", {"message": "hello"})
            value = await client.call_tool("echo_with_length", {"message": "hello"})
            wrong = await client.call_tool("echo_message", {"message": 3})
            with pytest.raises(MCPError, match="Unknown tool: 'steal'"):
                await client.call_tool("steal", {})
            assert len(held(running)) == 1
            assert client.protocol_version == "2025-11-25"
            return listed, text, value, wrong

    listed, text, value, wrong = asyncio.run(session())
    assert [one.name for one in listed] == ["echo_message", "echo_with_length"]
    assert listed[0].input_schema["required"] == ["message"]
    assert (text.content[0].text, text.structured_content, text.is_error) == ("hello", None, False)
    assert text.meta == {"reward": pytest.approx(0.5), "done": False, "terminated": False, "truncated": False}
    assert value.structured_content == {"message": "hello", "length": 5}
    assert wrong.is_error
    assert held(running) == []


def test_the_official_client_plays_an_episode_to_its_end(countdown):
    async def session():
        async with Client(countdown) as client:
            assert client.instructions is not None
            assert client.instructions.endswith("The episode begins with: two to go")
            return [await client.call_tool("count", {}) for _ in range(3)]

    first, last, over = asyncio.run(session())
    assert (first.structured_content, first.meta["done"]) == ({"left": 1}, False)
    assert (last.structured_content, last.meta["done"], last.meta["reward"]) == ({"left": 0}, True, 1.0)
    assert over.is_error
    assert "begin anew" in over.content[0].text


def test_each_client_has_an_episode_of_its_own_and_all_play_at_once(countdown):
    async def one():
        async with Client(countdown) as client:
            return [(await client.call_tool("count", {})).structured_content["left"] for _ in range(2)]

    async def all_of_them():
        return await asyncio.gather(*(one() for _ in range(8)))

    assert asyncio.run(all_of_them()) == [[1, 0]] * 8


@pytest.mark.no_cover
def test_older_clients_and_those_of_others_work(running):
    assert peer(PEERS[0], OTHER, f"{running.url}/mcp") == {
        "tools": ["echo_message", "echo_with_length"],
        "text": "hey",
        "value": {"message": "hey", "length": 3},
        "reward": pytest.approx(0.3),
        "wrong": True,
    }


def test_a_session_that_ended_is_known_to_the_client(running):
    async def session():
        async with (
            streamable_http_client(f"{running.url}/mcp") as (read, write),
            ClientSession(read, write) as client,
        ):
            await client.initialize()
            assert await client.send_ping() is not None
            for session in held(running):
                async with httpx2.AsyncClient(timeout=60) as http:
                    reply = await http.delete(f"{running.url}/mcp", headers={"mcp-session-id": session})
                    assert reply.status_code == 204
            with pytest.raises(MCPError, match="Unknown session_id"):
                await client.call_tool("echo_message", {"message": "a"})

    asyncio.run(session())


def test_an_agent_joins_the_session_that_it_was_given():
    tokens = {"orchestrator-of-this-test": "orchestrator", "the-agent-of-this-test": "agent"}
    with serve(TOOLS, port=0, block=False, access=Access(tokens)) as running:
        runner, agent = ({"authorization": f"Bearer {token}"} for token in tokens)

        async def act(url):
            async with (
                httpx2.AsyncClient(headers=agent, timeout=60) as http,
                streamable_http_client(url, http_client=http) as (read, write),
                ClientSession(read, write) as client,
            ):
                await client.initialize()
                return await client.call_tool("echo_message", {"message": "abc"})

        ask = {"jsonrpc": "2.0", "id": 1, "method": "openenv/session/create"}
        with httpx2.Client(headers=runner, timeout=60) as http:
            session = http.post(f"{running.url}/mcp", json=ask).json()["result"]["session_id"]
        told = asyncio.run(act(f"{running.url}/mcp?session_id={session}"))
        assert told.content[0].text == "abc"
        [info] = running.server.sessions.infos()
        assert (info.id, info.steps) == (session, 1)


# --- WebSockets ---


def rpc(link, method, params=None, number=1):
    link.send(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params or {}}))
    return json.loads(link.recv(60))


def test_each_connection_has_an_environment_of_its_own(running, countdown):
    url = countdown.replace("http", "ws")
    with connect(url) as one, connect(url) as other:
        assert rpc(one, "tools/list")["result"]["tools"][0]["name"] == "count"
        assert rpc(one, "tools/call", {"name": "count"})["result"]["data"] == {"left": 1}
        assert rpc(other, "tools/call", {"name": "count"})["result"]["data"] == {"left": 1}
        assert len(held(running)) == 2
        assert rpc(one, "tools/call", {"name": "count"})["result"]["meta"]["done"]
        assert rpc(one, "tools/call", {"name": "count"})["error"]["code"] == -32000
        assert rpc(one, "ludus/reset")["result"]["content"][0]["text"] == "two to go"
        assert rpc(one, "tools/call", {"name": "count"})["result"]["data"] == {"left": 1}
        session = rpc(one, "openenv/session/create")["result"]["session_id"]
        assert session in held(running)
        assert rpc(one, "openenv/session/close", {"session_id": session})["error"]["code"] == -32600
        for text, code in (("{", -32700), ("{}", -32600), ("[]", -32600)):
            one.send(text)
            assert json.loads(one.recv(60))["error"]["code"] == code
        one.send(b'{"jsonrpc":"2.0","id":"x","method":"nothing"}')
        assert json.loads(one.recv(60)) == {
            "jsonrpc": "2.0",
            "id": "x",
            "error": {"code": -32601, "message": "Method not found: 'nothing'"},
        }


def test_a_connection_joins_the_session_that_it_names(running):
    url = f"{running.url.replace('http', 'ws')}/mcp"
    with connect(url) as one:
        session = rpc(one, "openenv/session/create")["result"]["session_id"]
        with connect(f"{url}?session_id={session}") as other:
            assert rpc(other, "openenv/session/create")["result"]["session_id"] == session
            assert rpc(other, "tools/call", {"name": "echo_message", "arguments": {"message": "a"}})["result"]
        assert rpc(one, "tools/list")["result"]


def test_a_connection_whose_session_was_closed_is_told_and_ended(running):
    url = f"{running.url.replace('http', 'ws')}/mcp"
    with connect(url) as one, connect(url) as other:
        session = rpc(one, "openenv/session/create")["result"]["session_id"]
        assert rpc(other, "openenv/session/close", {"session_id": session})["result"]["closed"]
        error = rpc(one, "tools/call", {"name": "echo_message", "arguments": {"message": "a"}})["error"]
        assert (error["code"], error["data"]["kind"]) == (-32602, "SessionLost")
        with pytest.raises(ConnectionClosed):
            one.recv(60)
        assert rpc(other, "tools/list")["result"]


def test_a_client_that_vanishes_leaves_nothing_behind(running):
    address = running.url.removeprefix("http://").split(":")
    for sent in (b"", b"{"):
        with socket.create_connection((address[0], int(address[1]))) as raw:
            raw.sendall(b"POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n" + sent)
    with connect(f"{running.url.replace('http', 'ws')}/mcp") as one:
        one.send('{"jsonrpc":"2.0","id":1,"method":"tools/list"}')
        one.socket.shutdown(socket.SHUT_RDWR)


def test_a_connection_without_a_place_is_told_and_ended():
    with serve(TOOLS, port=0, block=False, config=ServerConfig(max_sessions=1, queue_seconds=0.01)) as running:
        url = f"{running.url.replace('http', 'ws')}/mcp"
        with connect(url) as one, connect(url) as other:
            error = json.loads(other.recv(60))["error"]
            assert (error["code"], error["data"]["kind"]) == (-32000, "ServerBusy")
            with pytest.raises(ConnectionClosed):
                other.recv(60)
            assert rpc(one, "tools/list")["result"]


# --- OpenEnv's clients ---

ACT = """
import asyncio, json, sys
from openenv.core.env_server.mcp_types import CallToolAction
from openenv.core.mcp_client import MCPToolClient

async def failure(call):
    try:
        await call
    except RuntimeError as error:
        return str(error)

async def act(url):
    told = {}
    async with MCPToolClient(base_url=url) as env:
        await env.reset()
        told["tools"] = [[one.name, one.input_schema["required"]] for one in await env.list_tools()]
        told["text"] = await env.call_tool("echo_message", message="hello")
        told["value"] = await env.call_tool("echo_with_length", message="hello")
        told["has"] = [await env.has_tool("echo_message"), await env.has_tool("steal")]
        told["unknown"] = await failure(env.call_tool("steal"))
        told["wrong"] = await failure(env.call_tool("echo_message", message=3))
        step = await env.step(CallToolAction(tool_name="echo_message", arguments={"message": "four"}))
        told["step"] = [step.reward, step.done, step.observation.result["data"]]
        told["steps"] = (await env.state()).step_count
    return told

print(json.dumps(asyncio.run(act(sys.argv[1]))))
"""
OTHER = """
import asyncio, json, sys
from fastmcp import Client
from fastmcp.exceptions import ToolError

async def act(url):
    async with Client(url) as client:
        told = {"tools": [one.name for one in await client.list_tools()]}
        told["text"] = (await client.call_tool("echo_message", {"message": "hey"})).content[0].text
        answer = await client.call_tool("echo_with_length", {"message": "hey"})
        told |= {"value": answer.structured_content, "reward": answer.meta["reward"]}
        try:
            await client.call_tool("echo_message", {"message": 3})
        except ToolError as error:
            told["wrong"] = "echo_message.message" in str(error)
        return told

print(json.dumps(asyncio.run(act(sys.argv[1]))))
"""
AGAIN = """
import json, sys
from openenv.core.mcp_client import MCPToolClient

told = []
for number in range(16):
    with MCPToolClient(base_url=sys.argv[1]).sync() as env:
        names = [one.name for one in env.list_tools()]
        told.append([len(names), env.call_tool("echo_message", message=str(number))])
print(json.dumps(told))
"""


def peer(version, program, url):
    """What a program prints under the interpreter that has a version of OpenEnv."""
    python = ROOT / "build" / "peers" / f"openenv-{version}" / "bin" / "python"
    if not (python.parent.parent / ".installed").exists():
        subprocess.run(["sh", str(ROOT / "scripts" / "peers.sh")], check=True, stdin=subprocess.DEVNULL)
    ran = subprocess.run(
        [str(python), "-c", program, url],
        capture_output=True,
        text=True,
        timeout=600,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout.splitlines()[-1])


@pytest.mark.no_cover
@pytest.mark.in_turns("version")
@pytest.mark.parametrize("version", PEERS)
def test_tool_clients_of_openenv_work(running, version):
    told = peer(version, ACT, running.url)
    assert told["tools"] == [["echo_message", ["message"]], ["echo_with_length", ["message"]]]
    assert (told["text"], told["value"]) == ("hello", {"message": "hello", "length": 5})
    assert told["has"] == [True, False]
    assert "steal" in told["unknown"]
    assert "echo_message.message" in told["wrong"]
    assert told["step"] == [pytest.approx(0.4), False, "four"]
    assert told["steps"] == 3


@pytest.mark.full  # each run has them with two workers, below
@pytest.mark.no_cover
@pytest.mark.parametrize("version", PEERS)
def test_sixteen_connections_of_openenv_in_a_row(running, version):
    assert peer(version, AGAIN, running.url) == [[2, str(number)] for number in range(16)]


@pytest.mark.no_cover
def test_sessions_are_reached_from_any_worker():
    async def official(url):
        told = []
        for number in range(8):
            async with Client(f"{url}/mcp") as client:
                told += [(await client.call_tool("echo_message", {"message": str(number)})).content[0].text] * 2
        return told

    with serve(TOOLS, port=0, block=False, config=ServerConfig(workers=2)) as running:
        assert peer(PEERS[0], AGAIN, running.url) == [[2, str(number)] for number in range(16)]
        assert asyncio.run(official(running.url)) == [str(number // 2) for number in range(16)]
