"""`ludus mcp`: a program of the official client starts it, and has an episode."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from ludus.server.config import ServerConfig

LUDUS = str(Path(sys.executable).with_name("ludus"))
ROOT = str(Path(__file__).parents[2])
TARGET = "tests.server.mcp_worlds:Dial"
ENVIRONMENT = {**os.environ, "PYTHONPATH": ROOT}


def spoken(*messages, target=TARGET):
    """What the program answers to these lines, and how it ends."""
    lines = "".join(json.dumps({"jsonrpc": "2.0", **one}) + "\n" for one in messages)
    done = subprocess.run(
        [LUDUS, "mcp", target], input=lines, capture_output=True, text=True, timeout=60, env=ENVIRONMENT, check=False
    )
    return [json.loads(line) for line in done.stdout.splitlines()], done


@pytest.mark.parametrize(("mode", "version"), [("auto", "2026-07-28"), ("legacy", "2025-11-25")])
def test_the_official_client_starts_it_and_plays_an_episode(mode, version):
    async def session():
        server = StdioServerParameters(command=LUDUS, args=["mcp", TARGET], env=ENVIRONMENT)
        async with Client(stdio_client(server), mode=mode) as client:
            tools = [one.name for one in (await client.list_tools()).tools]
            calls = [await client.call_tool("turn", {"number": number}) for number in (1, 7)]
            return client.protocol_version, tools, calls

    spoken_version, tools, calls = asyncio.run(session())
    assert (spoken_version, tools[0]) == (version, "turn")
    assert [one.structured_content for one in calls] == [{"open": False}, {"open": True}]
    assert [one.meta["done"] for one in calls] == [False, True]


def test_lines_are_answered_whatever_they_are_and_the_end_of_the_input_is_the_end():
    replies, done = spoken(
        {"id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18"}},
        {"method": "notifications/initialized"},
        {"id": "two", "method": "ping"},
        {"id": 3, "method": "tools/call", "params": {"name": "turn", "arguments": {"number": 1}}},
        {"id": 4, "method": "nothing/known"},
    )
    by_id = {one["id"]: one for one in replies}
    assert done.returncode == 0
    assert by_id[1]["result"]["protocolVersion"] == "2025-06-18"
    assert by_id["two"]["result"] == {}
    assert by_id[3]["result"]["structuredContent"] == {"open": False}
    assert by_id[4]["error"]["code"] == -32601


def test_a_line_beyond_the_limit_is_refused_and_the_next_one_answered():
    most = ServerConfig().body
    ping = b'{"jsonrpc": "2.0", "id": 7, "method": "ping"}\n'
    done = subprocess.run(
        [LUDUS, "mcp", TARGET],
        input=b"x" * (most + 5) + b"\n" + ping,
        stdout=subprocess.PIPE,
        env=ENVIRONMENT,
        check=True,
    )
    told = {one["id"]: one for one in map(json.loads, done.stdout.splitlines())}
    assert told[None]["error"]["code"] == -32700
    assert told[7]["result"] == {}


def test_an_environment_without_tools_is_refused_with_the_reason():
    replies, done = spoken(target="CartPole-v1")
    assert (replies, done.returncode) == ([], 2)
    assert "expected tools or typed actions" in done.stderr
