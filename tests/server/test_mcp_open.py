"""The twelve open environments as servers of the Model Context Protocol, with its official client: HTTP and stdio."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
from mcp.client.client import Client
from mcp.client.session import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client

from ludus.server.run import serve
from tests.interop.open_twelve import TWELVE

QUICK = ("open/Connect4-v0", "open/Git-v0")
LUDUS = str(Path(sys.executable).with_name("ludus"))


@pytest.fixture(scope="module")
def running():
    with serve(*TWELVE, port=0, block=False) as one:
        yield one


async def conversation(client, name):
    """Tools as they are listed, what a call of one gives, and what a wrong call gives."""
    called, arguments = TWELVE[name]
    tools = {one.name: one for one in (await client.list_tools()).tools}
    wrong = await client.call_tool(called, {**arguments, "nonsense": 1})
    return tools, await client.call_tool(called, arguments), wrong


def check(name, tools, told, wrong):
    called, arguments = TWELVE[name]
    for one in tools.values():
        jsonschema.Draft202012Validator.check_schema(one.input_schema)
        assert one.description
    jsonschema.validate(arguments, tools[called].input_schema)
    assert not told.is_error
    assert told.content[0].text
    assert isinstance(told.structured_content, dict)
    assert isinstance(told.meta["reward"], float)
    assert wrong.is_error
    assert "'nonsense'" in wrong.content[0].text


@pytest.mark.parametrize("name", TWELVE)
def test_one_server_of_all_twelve_has_tools_for_each(running, name):
    async def talk():
        async with Client(f"{running.url}/env/{name}/mcp") as client:
            return await conversation(client, name)

    check(name, *asyncio.run(talk()))


@pytest.mark.parametrize("name", [pytest.param(one, marks=() if one in QUICK else pytest.mark.full) for one in TWELVE])
def test_each_is_a_server_that_an_application_starts(name):
    async def talk():
        started = StdioServerParameters(command=LUDUS, args=["mcp", name, "--seed", "5"])
        async with stdio_client(started) as (read, write), ClientSession(read, write) as client:
            begun = await client.initialize()
            assert begun.server_info.title == name
            return await conversation(client, name)

    check(name, *asyncio.run(talk()))


def test_frames_are_no_text_but_a_value(running):
    async def talk():
        async with Client(f"{running.url}/env/open/Atari-v0/mcp") as client:
            return await client.call_tool("atari", {"action_id": 0})

    told = asyncio.run(talk())
    assert "screen: (100800 numbers)" in told.content[0].text
    assert len(told.structured_content["screen"]) == 100_800


def test_a_seed_decides_the_episode_over_stdio_and_lines_that_are_no_messages_are_answered():
    lines = (
        b'{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}',
        b'{"jsonrpc": "2.0", "method": "notifications/initialized"}',
        b"hello",
        b'{"jsonrpc": "2.0", "id": 2, "method": "dance"}',
    )

    def first(seed):
        command = [LUDUS, "mcp", "open/Git-v0", "--seed", str(seed)]
        done = subprocess.run(command, input=b"\n".join(lines) + b"\n", stdout=subprocess.PIPE, check=True)
        told = {one["id"]: one for one in map(json.loads, done.stdout.splitlines())}
        assert told[None]["error"]["code"] == -32700
        assert told[2]["error"]["code"] == -32601
        assert len(told) == 3
        return told[1]["result"]["instructions"]

    assert first(1) == first(1) != first(2)


def test_what_an_environment_prints_is_no_message(tmp_path):
    (tmp_path / "loud.py").write_text(LOUD, encoding="utf8")

    async def talk():
        started = StdioServerParameters(command=LUDUS, args=["mcp", "loud:Loud"], cwd=tmp_path)
        async with stdio_client(started) as (read, write), ClientSession(read, write) as client:
            await client.initialize()
            return await client.call_tool("shout", {})

    assert asyncio.run(talk()).content[0].text == "done"


LOUD = '''
import os
from ludus.tools import ToolEnv, tool

class Loud(ToolEnv):
    """Prints."""

    @tool
    def shout(self) -> str:
        """Shout."""
        print("{", flush=True)
        os.write(1, b"an engine's line\\n")
        return "done"
'''
