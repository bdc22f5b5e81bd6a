"""What `/mcp` has beside calls and their results: progress, cancellation, resources and prompts."""

import asyncio
import json
import sys
import threading
from pathlib import Path

import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.session import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError

from ludus.errors import InvalidArgument
from ludus.server.config import ServerConfig
from ludus.server.protocols.mcp.stateless import CAPABILITIES, REVISION, VERSION
from ludus.server.run import serve
from ludus.tools import ToolEnv, ToolOutcome, progress, tool
from tests.patience import until

BEGUN = threading.Event()
GO = threading.Event()
STOPPED = threading.Event()
LUDUS = str(Path(sys.executable).with_name("ludus"))


class Library(ToolEnv):
    """Books to copy."""

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed, options=options)
        return ToolOutcome(result="a library"), {}

    @tool
    def copy(self, pages: int) -> int:
        """Copy pages."""
        for page in range(pages):
            progress(page + 1, pages, f"page {page + 1}")
        return pages

    @tool
    async def dictate(self, pages: int) -> int:
        """Dictate pages."""
        for page in range(pages):
            await asyncio.sleep(0)
            progress(page + 1)
        return pages

    @tool
    def illuminate(self) -> str:
        """Paint, which takes long."""
        progress(1, 2)
        GO.wait(600)
        try:
            progress(2, 2)
        except Exception:
            STOPPED.set()
            raise
        return "gold"

    @tool
    def gild(self) -> str:
        """Lay leaf after leaf, until nobody waits."""
        try:
            while True:
                progress(1)
                BEGUN.set()
        except Exception:
            STOPPED.set()
            raise

    def list_resources(self):
        return [
            {"uri": "library://rules", "description": "What one may do", "mimeType": "text/markdown"},
            {"uri": "library://shelf", "name": "shelf"},
            {"uri": "library://seal"},
        ]

    def read_resource(self, uri):
        return {"library://rules": "# Silence", "library://shelf": {"books": 3}, "library://seal": b"\x00\xff"}[uri]

    def list_prompts(self):
        arguments = [{"name": "book", "required": True}]
        return [{"name": "begin", "description": "How to begin", "arguments": arguments}, {"name": "talk"}]

    def get_prompt(self, name, arguments):
        if name == "begin":
            return f"Copy {arguments['book']}."
        return [{"role": "user", "content": "Read?"}, {"role": "assistant", "content": "I do."}]


@pytest.fixture(scope="module")
def running():
    with serve(Library, "open/EchoTools-v0", port=0, block=False) as one:
        yield one


def url_of(running):
    [name] = [one for one in running.server.offered if "Library" in one]
    return f"{running.url}/env/{name}/mcp"


async def seen_of(client):
    """All that a client is shown, as plain data."""
    listed = (await client.list_resources()).resources
    contents = [(await client.read_resource(one.uri)).contents[0] for one in listed]
    prompts = (await client.list_prompts()).prompts
    begun = await client.get_prompt("begin", {"book": "Aesop"})
    talk = await client.get_prompt("talk")
    return (
        [(str(one.uri), one.name, one.description) for one in listed],
        [(one.mime_type, getattr(one, "text", None) or one.blob) for one in contents],
        [(one.name, one.description, [(a.name, a.required) for a in one.arguments or ()]) for one in prompts],
        [(one.role, one.content.text) for one in (*begun.messages, *talk.messages)],
    )


SEEN = (
    [
        ("library://rules", "library://rules", "What one may do"),
        ("library://shelf", "shelf", None),
        ("library://seal", "library://seal", None),
    ],
    [("text/markdown", "# Silence"), ("application/json", '{"books":3}'), ("application/octet-stream", "AP8=")],
    [("begin", "How to begin", [("book", True)]), ("talk", None, [])],
    [("user", "Copy Aesop."), ("user", "Read?"), ("assistant", "I do.")],
)


async def reports_of(client, name):
    told = []

    async def tell(done, total, message):
        told.append((done, total, message))

    result = await client.call_tool(name, {"pages": 3}, progress_callback=tell)
    async with asyncio.timeout(60):  # the client tells of each in a task of its own, which the result may overtake
        while len(told) < 3:
            await asyncio.sleep(0)
    return told, result.is_error


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_client_finds_resources_prompts_and_progress(running, mode):
    async def talk():
        async with Client(url_of(running), mode=mode) as client:
            assert client.server_capabilities.resources is not None
            assert client.server_capabilities.prompts is not None
            return await seen_of(client), await reports_of(client, "copy"), await reports_of(client, "dictate")

    seen, copied, dictated = asyncio.run(talk())
    assert seen == SEEN
    assert copied == ([(1.0, 3.0, "page 1"), (2.0, 3.0, "page 2"), (3.0, 3.0, "page 3")], False)
    assert dictated == ([(1.0, None, None), (2.0, None, None), (3.0, None, None)], False)


@pytest.fixture
def session_url(running):
    """The address of a session, where a client chooses the newest revision."""
    made = {"jsonrpc": "2.0", "id": 1, "method": "openenv/session/create", "params": {}}
    known = httpx2.post(url_of(running), json=made).json()["result"]["session_id"]
    return f"{url_of(running)}?session_id={known}"


def test_the_newest_revision_has_resources_prompts_and_progress_with_a_session_and_without(running, session_url):
    async def talk(url, mode):
        async with Client(url, mode=mode) as client:
            assert client.protocol_version == REVISION
            return await seen_of(client), await reports_of(client, "copy")

    before = len(running.server.sessions.infos())
    for url, mode in ((session_url, "auto"), (url_of(running), REVISION)):
        seen, copied = asyncio.run(talk(url, mode))
        assert seen == SEEN
        assert copied == ([(1.0, 3.0, "page 1"), (2.0, 3.0, "page 2"), (3.0, 3.0, "page 3")], False)
    assert len(running.server.sessions.infos()) == before + 1  # the episode that a call began; no other is left


@pytest.mark.parametrize("token", [None, "t"])
def test_in_the_newest_revision_who_closes_the_connection_gives_the_call_up(session_url, token):
    STOPPED.clear(), BEGUN.clear()
    meta = {VERSION: REVISION, CAPABILITIES: {}} | ({} if token is None else {"progressToken": token})
    headers = {"accept": "application/json, text/event-stream", "mcp-protocol-version": REVISION}
    params = {"name": "gild", "arguments": {}, "_meta": meta}
    call = {"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": params}

    async def leave():
        async with httpx2.AsyncClient(headers={**headers, "mcp-method": "tools/call"}, timeout=60) as http:
            asked = asyncio.ensure_future(http.post(session_url, json=call))
            await asyncio.to_thread(until, BEGUN.is_set, "the tool to begin")
            asked.cancel()
            await asyncio.gather(asked, return_exceptions=True)

    asyncio.run(leave())
    until(STOPPED.is_set, "the tool to learn that nobody waits")


def test_in_isolation_there_are_resources_and_prompts_too():
    isolated = ServerConfig(isolation="process")

    async def talk(url):
        async with Client(f"{url}/mcp") as client:
            return await seen_of(client)

    with serve(f"{__name__}:Library", port=0, block=False, config=isolated) as server:
        assert asyncio.run(talk(server.url)) == SEEN


def test_over_stdio_as_well():
    async def talk():
        program = StdioServerParameters(command=LUDUS, args=["mcp", f"{__name__}:Library"])
        async with stdio_client(program) as streams, ClientSession(*streams) as client:
            await client.initialize()
            return await seen_of(client), await reports_of(client, "copy")

    seen, (told, wrong) = asyncio.run(talk())
    assert (seen, [one[0] for one in told], wrong) == (SEEN, [1.0, 2.0, 3.0], False)


@pytest.mark.parametrize(
    ("ask", "word"),
    [
        (lambda client: client.read_resource("library://attic"), "Resource not found"),
        (lambda client: client.get_prompt("end"), "Unknown prompt"),
        (lambda client: client.get_prompt("begin"), "expected ['book']"),
        (lambda client: client.get_prompt("begin", {"book": "a", "page": "b"}), "expected ['book'"),
    ],
)
def test_what_there_is_not_is_refused(running, ask, word):
    async def talk():
        async with Client(url_of(running)) as client:
            with pytest.raises(MCPError) as refusal:
                await ask(client)
            return str(refusal.value)

    assert word in asyncio.run(talk())


def test_an_environment_without_them_says_so(running):
    async def talk():
        async with Client(f"{running.url}/env/open/EchoTools-v0/mcp") as client:
            assert client.server_capabilities.resources is None
            with pytest.raises(MCPError, match="has no resources"):
                await client.list_resources()

    asyncio.run(talk())


def begun(http, url):
    """A session; what names it."""
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    reply = http.post(url, json={"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
    return {"mcp-session-id": reply.headers["mcp-session-id"]}


def test_a_call_that_is_cancelled_gets_no_reply_and_its_tool_learns_of_it(running):
    GO.clear(), STOPPED.clear()
    accept = {"accept": "application/json, text/event-stream"}
    url = url_of(running)
    with httpx2.Client(headers=accept, timeout=60) as http:
        named = begun(http, url)
        params = {"name": "illuminate", "arguments": {}, "_meta": {"progressToken": "t"}}
        call = {"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": params}
        told = []
        with http.stream("POST", url, json=call, headers=named) as stream:
            for line in stream.iter_lines():
                if not line.startswith("data: "):
                    continue
                told.append(json.loads(line[6:]))
                gone = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 5}}
                assert http.post(url, json=gone, headers=named).status_code == 202
        params = {"progressToken": "t", "progress": 1.0, "total": 2.0}
        assert told == [{"jsonrpc": "2.0", "method": "notifications/progress", "params": params}]
        GO.set()
        until(STOPPED.is_set, "the tool to stop")
        again = {
            "jsonrpc": "2.0",
            "id": 6,
            "method": "tools/call",
            "params": {"name": "copy", "arguments": {"pages": 1}},
        }
        assert http.post(url, json=again, headers=named).json()["result"]["isError"] is False
        http.delete(url, headers=named)


def reported_call(http, url, named, name, arguments):
    """The messages that a call is answered with, one by one."""
    params = {"name": name, "arguments": arguments, "_meta": {"progressToken": "t"}}
    call = {"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": params}
    with http.stream("POST", url, json=call, headers=named) as stream:
        for line in stream.iter_lines():
            if line.startswith("data: "):
                yield json.loads(line[6:])


@pytest.mark.parametrize("isolation", ["process", "sandbox"])
def test_progress_and_cancellation_pass_through_isolation(isolation):
    with (
        serve("tests.server.mcp_worlds:Kiln", port=0, block=False, config=ServerConfig(isolation=isolation)) as one,
        httpx2.Client(headers={"accept": "application/json, text/event-stream"}, timeout=120) as http,
    ):
        url = f"{one.url}/mcp"
        named = begun(http, url)
        *told, reply = reported_call(http, url, named, "bake", {"loaves": 3})
        reports = [(one["params"]["progress"], one["params"]["total"], one["params"]["message"]) for one in told]
        assert reports == [(1.0, 3.0, "loaf 1"), (2.0, 3.0, "loaf 2"), (3.0, 3.0, "loaf 3")]
        assert reply["result"]["isError"] is False
        gone = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 5}}
        glowing = reported_call(http, url, named, "glow", {})  # which ends only by being cancelled
        assert next(glowing)["method"] == "notifications/progress"
        assert http.post(url, json=gone, headers=named).status_code == 202
        assert list(glowing) == []
        again = {"jsonrpc": "2.0", "id": 6, "method": "tools/call", "params": {"name": "ended", "arguments": {}}}
        result = http.post(url, json=again, headers=named).json()["result"]
        assert "the call was cancelled" in result["content"][0]["text"]


def test_cancelling_what_is_over_or_never_was_is_no_error(running):
    url = url_of(running)
    with httpx2.Client(timeout=60) as http:
        named = begun(http, url)
        for number in (5, "x", None, {}, [1]):
            gone = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}}
            assert http.post(url, json=gone, headers=named).status_code == 202
        http.delete(url, headers=named)


def test_progress_is_of_numbers():
    with pytest.raises(InvalidArgument, match="expected finite numbers"):
        progress(float("nan"))
