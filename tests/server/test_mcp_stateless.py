"""MCP of 2026-07-28, by the official client: episodes that a call names, or the address; and what is refused."""

import asyncio

import httpx
import pytest
from mcp.client import Client

from ludus.server.protocols.mcp.stateless import CAPABILITIES, REVISION, VERSION
from ludus.server.run import serve
from tests.server.mcp_worlds import Dial

LATER = "2031-01-01"
ENVELOPE = {VERSION: REVISION, CAPABILITIES: {}}


@pytest.fixture(scope="module")
def running():
    with serve(Dial, port=0, block=False) as one:
        yield one


def post(running, method, params=None, headers=None, path="/mcp"):
    told = {"mcp-protocol-version": REVISION, "mcp-method": method, **(headers or {})}
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"_meta": ENVELOPE, **(params or {})}}
    return httpx.post(running.url + path, json=body, headers={name: one for name, one in told.items() if one})


def test_an_episode_goes_on_with_the_session_that_its_first_call_told(running):
    async def session():
        async with Client(f"{running.url}/mcp", mode=REVISION) as client:
            listed = (await client.list_tools()).tools
            first = await client.call_tool("turn", {"number": 1})
            known = first.meta["session_id"]
            assert first.content[-1].text == f"session_id: {known}"
            second = await client.call_tool("turn", {"number": 7, "session_id": known})
            fresh = await client.call_tool("turn", {"number": 1})
            return listed, second, fresh.meta["session_id"] != known

    listed, second, another = asyncio.run(session())
    assert listed[0].input_schema["properties"]["session_id"]["type"] == "string"
    assert listed[0].input_schema["required"] == ["number"]
    assert (second.structured_content, second.meta["reward"], second.meta["done"]) == ({"open": True}, 1.0, True)
    assert len(second.content) == 1
    assert another


def test_at_the_address_of_a_session_a_client_chooses_this_version_and_needs_no_argument(running):
    made = {"jsonrpc": "2.0", "id": 1, "method": "openenv/session/create", "params": {}}
    known = httpx.post(f"{running.url}/mcp", json=made).json()["result"]["session_id"]

    async def session():
        async with Client(f"{running.url}/mcp?session_id={known}") as client:
            tools = (await client.list_tools()).tools
            calls = [await client.call_tool("turn", {"number": 1}) for _ in range(2)]
            return client.protocol_version, client.instructions, tools, calls

    version, instructions, tools, calls = asyncio.run(session())
    assert version == REVISION
    assert "a door with a dial" in instructions
    assert "session_id" not in tools[0].input_schema["properties"]
    assert [one.meta["done"] for one in calls] == [False, True]


def test_without_one_a_client_that_asks_is_led_to_the_handshake(running):
    async def session():
        async with Client(f"{running.url}/mcp") as client:
            await client.call_tool("turn", {"number": 1})
            return client.protocol_version, (await client.call_tool("turn", {"number": 1})).meta["done"]

    assert asyncio.run(session()) == ("2025-11-25", True)


@pytest.mark.parametrize(
    ("method", "params", "headers", "status", "code"),
    [
        ("tools/list", {}, {"mcp-method": "tools/call"}, 400, -32020),
        ("tools/list", {}, {"mcp-method": None}, 400, -32020),
        ("tools/call", {"name": "turn"}, {"mcp-name": "listen"}, 400, -32020),
        ("tools/list", {"_meta": {VERSION: REVISION}}, {}, 400, -32602),
        ("tools/list", {"_meta": ENVELOPE | {VERSION: LATER}}, {"mcp-protocol-version": LATER}, 400, -32022),
        ("server/discover", {}, {}, 400, -32022),
        ("roots/list", {}, {}, 404, -32601),
        ("tools/call", {"name": "steal"}, {}, 200, -32602),
        ("tools/call", {"name": "turn", "arguments": {"number": 1, "session_id": "no"}}, {}, 404, -32602),
    ],
)
def test_what_does_not_fit_is_refused_and_opens_nothing(running, method, params, headers, status, code):
    before = len(running.server.sessions.infos())
    reply = post(running, method, params, headers)
    assert (reply.status_code, reply.json()["error"]["code"]) == (status, code)
    assert len(running.server.sessions.infos()) == before


def test_results_say_that_they_are_complete_and_lists_for_how_long_they_hold(running):
    result = post(running, "tools/list").json()["result"]
    assert (result["resultType"], result["ttlMs"], result["cacheScope"]) == ("complete", 0, "private")
    wrong = post(running, "tools/call", {"name": "turn", "arguments": {"number": "x"}}).json()["result"]
    assert (wrong["resultType"], wrong["isError"]) == ("complete", True)
