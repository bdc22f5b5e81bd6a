"""`/mcp` over HTTP: OpenEnv's methods and the Model Context Protocol, at one address, with nothing but messages."""

import json
from contextlib import contextmanager

import httpx
import jsonschema
import pytest

from ludus.server.access import Access
from ludus.server.config import ServerConfig
from ludus.server.run import serve
from tests.server.mcp_worlds import HOLD, Dial

TOOLS, PLAIN = "open/EchoTools-v0", "CartPole-v1"
VERSION = {"mcp-protocol-version": "2025-06-18"}


class Caller:
    """A client that knows nothing of either protocol but how to post."""

    http: httpx.Client

    def __init__(self, url, path="/mcp", **headers):
        self.url, self.headers = f"{url}{path}", headers

    def send(self, method, *, content=b"", headers=None):
        return self.http.request(method, self.url, content=content, headers={**self.headers, **(headers or {})})

    def post(self, data, **headers):
        content = data if isinstance(data, bytes) else json.dumps(data)
        return self.send("POST", content=content, headers=headers)

    def ask(self, method, params=None, *, headers=None, number=1):
        data = {"jsonrpc": "2.0", "id": number, "method": method, "params": params or {}}
        return self.post(data, **(headers or {}))

    def result(self, method, params=None, **options):
        reply = self.ask(method, params, **options)
        assert reply.status_code == 200, reply.text
        return reply.json()["result"]

    def error(self, method, params=None, *, status=200, **options):
        reply = self.ask(method, params, **options)
        assert reply.status_code == status, reply.text
        assert reply.json().keys() == {"jsonrpc", "id", "error"}
        return reply.json()["error"]

    def initialize(self, version="2025-06-18"):
        """Headers of a new session."""
        info = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
        reply = self.ask("initialize", info)
        assert reply.status_code == 200, reply.text
        return {"mcp-session-id": reply.headers["mcp-session-id"], "mcp-protocol-version": version}


@contextmanager
def serving(*targets, **options):
    with serve(*targets, port=0, block=False, **options) as running:
        yield running


@pytest.fixture(scope="module")
def running():
    with serving(TOOLS, PLAIN, Dial) as one, httpx.Client(timeout=60) as Caller.http:
        yield one


@pytest.fixture
def call(running):
    return Caller(running.url)


@pytest.fixture
def dial(running):
    [name] = [name for name in running.server.offered if "Dial" in name]
    return Caller(running.url, f"/env/{name}/mcp")


@pytest.fixture(autouse=True)
def nothing_is_left(running):
    before = {one.id for one in running.server.sessions.infos()}
    yield
    for one in running.server.sessions.infos():
        if one.id not in before:
            Caller(running.url, f"/env/{one.env}/mcp").result("openenv/session/close", {"session_id": one.id})


# --- OpenEnv's methods ---


def test_a_session_lives_from_create_to_close(call, running):
    before = len(running.server.sessions.infos())
    session = call.result("openenv/session/create")["session_id"]
    assert len(running.server.sessions.infos()) == before + 1
    told = call.result(
        "tools/call", {"name": "echo_with_length", "arguments": {"message": "hey"}, "session_id": session}
    )
    assert told == {
        "content": [{"type": "text", "text": '{"message":"hey","length":3}'}],
        "structured_content": {"message": "hey", "length": 3},
        "meta": {"reward": pytest.approx(0.3), "done": False, "terminated": False, "truncated": False},
        "data": {"message": "hey", "length": 3},
        "is_error": False,
    }
    assert call.result("openenv/session/close", {"session_id": session}) == {"session_id": session, "closed": True}
    assert len(running.server.sessions.infos()) == before
    error = call.error("tools/call", {"name": "echo_message", "arguments": {"message": "a"}, "session_id": session})
    assert error["code"] == -32602
    assert error["message"].startswith("Unknown session_id")


def test_tools_are_listed_with_and_without_a_session(call):
    session = call.result("openenv/session/create")["session_id"]
    listed = call.result("tools/list")
    assert listed == call.result("tools/list", {"session_id": session})
    first = listed["tools"][0]
    assert (first["name"], first["title"], first["description"]) == (
        "echo_message",
        "Echo message",
        "Say a message back.",
    )
    jsonschema.Draft202012Validator.check_schema(first["inputSchema"])
    assert call.error("tools/list", {"session_id": "0.other"})["code"] == -32602


def test_a_call_without_a_session_has_an_environment_of_its_own(call, running):
    before = len(running.server.sessions.infos())
    assert call.result("tools/call", {"name": "echo_message", "arguments": {"message": "a"}})["data"] == "a"
    assert len(running.server.sessions.infos()) == before


def test_calls_in_a_session_are_steps_of_one_episode(dial):
    session = dial.result("openenv/session/create")["session_id"]
    first = dial.result("tools/call", {"name": "turn", "arguments": {"number": 1}, "session_id": session})
    assert (first["data"], first["meta"]["done"]) == ({"open": False}, False)
    last = dial.result("tools/call", {"name": "turn", "arguments": {"number": 7}, "session_id": session})
    assert last["meta"] == {"reward": 1.0, "done": True, "terminated": True, "truncated": False}
    over = dial.error("tools/call", {"name": "turn", "arguments": {"number": 7}, "session_id": session})
    assert (over["code"], over["data"]["kind"]) == (-32000, "ResetNeeded")
    assert "after 2 steps; begin anew, with the method ludus/reset" in over["message"]
    began = dial.result("ludus/reset", {"session_id": session, "seed": 5, "episode_id": "mine"})
    assert began["content"][0]["text"] == "a door with a dial"
    assert began["episode_id"] == "mine"
    assert began["observation"]["result"] == "a door with a dial"
    code, left = dial.result("tools/call", {"name": "listen", "session_id": session})["data"]
    again = dial.result("ludus/reset", {"session_id": session, "seed": 5})
    assert again["episode_id"] != "mine"
    assert dial.result("tools/call", {"name": "listen", "session_id": session})["data"] == [code, left]
    assert left == 2


@pytest.mark.parametrize(
    ("method", "params", "code", "text"),
    [
        ("tools/call", {"name": "steal"}, -32603, "Unknown tool: 'steal'"),
        ("tools/call", {}, -32602, "Missing 'name'"),
        ("tools/call", {"name": 3}, -32602, "Missing 'name'"),
        ("tools/call", {"name": "echo_message", "arguments": [1]}, -32602, "arguments: expected an object"),
        ("tools/call", {"name": "echo_message"}, -32602, "got no message"),
        ("tools/call", {"name": "echo_message", "arguments": {"message": 3}}, -32602, "echo_message.message: "),
        ("tools/call", {"name": "echo_message", "arguments": {"m": 3}}, -32602, "got 'm'"),
        ("tools/call", {"name": "echo_message", "session_id": 3}, -32602, "Unknown session_id"),
        ("tools/drop", {}, -32601, "Method not found: 'tools/drop'"),
        ("openenv/session/close", {}, -32602, "'session_id' is required"),
        ("openenv/session/close", {"session_id": "0.none"}, -32602, "Unknown session_id"),
        ("ludus/reset", {}, -32602, "'session_id' is required"),
    ],
)
def test_what_cannot_be_done_says_why(call, method, params, code, text):
    error = call.error(method, params)
    assert (error["code"], text in error["message"]) == (code, True), error


@pytest.mark.parametrize(
    ("params", "kind"),
    [({"seed": "x"}, "InvalidSeed"), ({"options": 3}, "InvalidArgument"), ({"episode_id": 3}, "InvalidArgument")],
)
def test_a_reset_is_honoured_or_refused(call, params, kind):
    session = call.result("openenv/session/create")["session_id"]
    error = call.error("ludus/reset", {"session_id": session, **params})
    assert (error["code"], error["data"]["kind"]) == (-32602, kind)
    refused = call.error("ludus/reset", {"session_id": session, "options": {"strange": 1}})
    assert refused["data"]["kind"] == "InvalidArgument"


def test_errors_of_tools_and_faults_of_the_environment_are_told_apart(dial):
    session = dial.result("openenv/session/create")["session_id"]
    refused = dial.error("tools/call", {"name": "refuse", "session_id": session})
    assert (refused["code"], refused["message"]) == (-32603, "it does not move")
    fault = dial.error("tools/call", {"name": "fault", "session_id": session})
    assert (fault["code"], fault["message"]) == (-32000, "of its own")
    assert (fault["data"]["kind"], fault["data"]["infrastructure_failure"]) == ("ZeroDivisionError", True)
    assert dial.result("tools/call", {"name": "listen", "session_id": session})["data"] == [7, 2]


def test_an_environment_without_tools_says_so(running):
    cart = Caller(running.url, f"/env/{PLAIN}/mcp")
    for method, params in (("tools/call", {"name": "a"}), ("tools/list", {})):
        error = cart.error(method, params)
        assert (error["code"], error["message"]) == (-32603, "Environment does not support MCP")
    headers = cart.initialize()
    assert cart.result("tools/list", headers=headers) == {"tools": []}
    assert cart.error("tools/call", {"name": "a"}, headers=headers)["code"] == -32603


def test_a_session_belongs_to_its_environment(call, running):
    session = call.result("openenv/session/create")["session_id"]
    cart = Caller(running.url, f"/env/{PLAIN}/mcp")
    assert cart.error("openenv/session/close", {"session_id": session})["code"] == -32602
    same = Caller(running.url, f"/env/{TOOLS}/mcp")
    assert same.result("openenv/session/close", {"session_id": session})["closed"]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", -32700),
        (b"{", -32700),
        (b"\xff\xfe", -32700),
        (b"[" * 100_000, -32700),
        (b'{"a":' * 5_000 + b"1" + b"}" * 5_000, -32700),
        (b'{"jsonrpc":"2.0","method":"\\ud800"}', -32700),
        (b"{}", -32600),
        (b"[]", -32600),
        (b"3", -32600),
        (b'{"jsonrpc":"1.0","method":"tools/list","id":1}', -32600),
        (b'{"jsonrpc":"2.0","id":1}', -32600),
        (b'{"jsonrpc":"2.0","method":3,"id":1}', -32600),
        (b'{"jsonrpc":"2.0","method":"tools/list","params":[],"id":1}', -32600),
        (b'{"jsonrpc":"2.0","method":"tools/list","id":[1]}', -32600),
        (b'{"jsonrpc":"2.0","method":"tools/list","id":true}', -32600),
        (b'{"jsonrpc":"2.0","method":"tools/list","id":1' + b"0" * 4000 + b"}", -32600),
        (b'{"jsonrpc":"2.0","method":"tools/list","id":"' + b"0" * 300 + b'"}', -32600),
        (b'{"jsonrpc":"2.0","method":"tools/list","id":1,"more":2}', -32600),
    ],
)
def test_what_is_no_request_is_answered_all_the_same(call, body, code):
    reply = call.post(body)
    assert reply.status_code == 200
    assert (reply.json()["jsonrpc"], reply.json()["error"]["code"]) == ("2.0", code)
    assert reply.headers["content-type"] == "application/json"
    strict = call.post(body, **VERSION)
    assert strict.status_code == 400


def test_a_request_without_an_id_is_answered_without_one(call):
    reply = call.post({"jsonrpc": "2.0", "method": "tools/list"}).json()
    assert reply["id"] is None
    assert reply["result"]["tools"]


# --- the Model Context Protocol ---


@pytest.mark.parametrize("version", ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"])
def test_initialize_agrees_on_a_version_and_opens_a_session(dial, version):
    reply = dial.ask("initialize", {"protocolVersion": version, "capabilities": {}})
    told = reply.json()["result"]
    assert told["protocolVersion"] == version
    assert told["capabilities"] == {"tools": {"listChanged": False}}
    assert told["serverInfo"]["name"] == "ludus"
    assert "A dial, to be turned to the right number." in told["instructions"]
    assert "for people" not in told["instructions"]
    assert told["instructions"].endswith("The episode begins with: a door with a dial")
    headers = {"mcp-session-id": reply.headers["mcp-session-id"], "mcp-protocol-version": version}
    assert len(dial.result("tools/list", headers=headers)["tools"]) == 5


def test_a_version_that_nobody_speaks_is_answered_with_ours(dial):
    assert dial.result("initialize", {"protocolVersion": "1999-01-01"})["protocolVersion"] == "2025-11-25"
    assert dial.result("initialize", {})["protocolVersion"] == "2025-11-25"
    error = dial.error("server/discover", status=400, headers={"mcp-protocol-version": "2027-01-01"})
    assert error["code"] == -32022
    assert error["data"]["requested"] == "2027-01-01"
    assert "2025-06-18" in error["data"]["supported"]


def test_an_episode_through_the_protocol(dial):
    headers = dial.initialize()
    notice = dial.post({"jsonrpc": "2.0", "method": "notifications/initialized"}, **headers)
    assert (notice.status_code, notice.content) == (202, b"")
    assert dial.result("ping", headers=headers) == {}
    schema = next(one for one in dial.result("tools/list", headers=headers)["tools"] if one["name"] == "turn")
    told = dial.result("tools/call", {"name": "turn", "arguments": {"number": 1}}, headers=headers)
    assert told == {
        "content": [{"type": "text", "text": '{"open":false}'}],
        "structuredContent": {"open": False},
        "isError": False,
        "_meta": {"reward": 0.0, "done": False, "terminated": False, "truncated": False},
    }
    jsonschema.validate(told["structuredContent"], schema["outputSchema"])
    listened = dial.result("tools/call", {"name": "listen"}, headers=headers)
    assert listened["content"][0]["text"] == "[7,1]"
    assert "structuredContent" not in listened
    last = dial.result("tools/call", {"name": "turn", "arguments": {"number": 7}}, headers=headers)
    assert (last["_meta"]["reward"], last["_meta"]["done"]) == (1.0, True)
    over = dial.result("tools/call", {"name": "listen"}, headers=headers)
    assert over["isError"]
    assert "the episode is over, after 3 steps; begin anew" in over["content"][0]["text"]
    assert dial.result("ludus/reset", {"seed": 3}, headers=headers)["content"][0]["text"] == "a door with a dial"
    assert not dial.result("tools/call", {"name": "listen"}, headers=headers)["isError"]


def test_what_a_model_can_mend_is_a_result_and_the_rest_an_error(dial):
    headers = dial.initialize()
    wrong = dial.result("tools/call", {"name": "turn", "arguments": {"number": "x"}}, headers=headers)
    assert wrong["isError"]
    assert wrong["content"][0]["text"].startswith("turn.number: ")
    missing = dial.result("tools/call", {"name": "turn"}, headers=headers)
    assert (missing["isError"], "got no number" in missing["content"][0]["text"]) == (True, True)
    refused = dial.result("tools/call", {"name": "refuse"}, headers=headers)
    assert (refused["isError"], refused["content"][0]["text"]) == (True, "it does not move")
    assert dial.error("tools/call", {"name": "steal"}, headers=headers)["code"] == -32602
    assert dial.error("tools/call", {"name": "fault"}, headers=headers)["code"] == -32000
    assert dial.error("resources/list", headers=headers)["code"] == -32601


def test_a_session_ends_by_delete(dial):
    headers = dial.initialize()
    assert dial.send("DELETE", headers=headers).status_code == 204
    assert dial.send("DELETE", headers=headers).status_code == 404
    assert dial.error("tools/list", status=404, headers=headers)["code"] == -32602
    notice = dial.post({"jsonrpc": "2.0", "method": "notifications/initialized"}, **headers)
    assert notice.status_code == 404
    assert dial.send("DELETE").status_code == 400


def test_a_request_of_the_protocol_names_its_session(dial):
    assert "Mcp-Session-Id" in dial.error("tools/list", status=400, headers=VERSION)["message"]
    assert dial.result("ping") == {}


def test_there_is_no_stream_to_listen_to(call):
    reply = call.send("GET", headers={"accept": "text/event-stream"})
    assert reply.status_code == 405
    assert set(reply.headers["allow"].split(", ")) == {"DELETE", "POST"}


def test_answers_are_events_for_whoever_reads_only_those(dial):
    headers = dial.initialize()
    reply = dial.ask("ping", headers={**headers, "accept": "text/event-stream"})
    assert reply.headers["content-type"].startswith("text/event-stream")
    assert reply.text == 'event: message\ndata: {"jsonrpc":"2.0","id":1,"result":{}}\n\n'
    both = dial.ask("ping", headers={**headers, "accept": "application/json, text/event-stream"})
    assert both.headers["content-type"] == "application/json"
    assert dial.ask("ping", headers={**headers, "accept": "image/png"}).status_code == 406


def test_several_messages_at_once(dial):
    headers = dial.initialize("2025-03-26")
    ask = {"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "listen"}}
    notice = {"jsonrpc": "2.0", "method": "notifications/cancelled"}
    reply = dial.post([{**ask, "id": "a"}, notice, {**ask, "id": "b", "method": "nothing"}], **headers)
    assert [(one["id"], "result" in one) for one in reply.json()] == [("a", True), ("b", False)]
    assert dial.post([notice], **headers).status_code == 202
    assert dial.post([], **headers).status_code == 400
    assert dial.post([notice] * 65, **headers).status_code == 400
    partly = dial.post([{**ask, "id": 1}, {"jsonrpc": "1.0"}, {**ask, "id": 2}], **headers)
    assert [one["id"] for one in partly.json()] == [1, None, 2]
    start = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}
    assert dial.post([start], **headers).json()[0]["error"]["code"] == -32601


def test_an_answer_to_nothing_is_taken(dial):
    headers = dial.initialize()
    assert dial.post({"jsonrpc": "2.0", "id": 3, "result": {}}, **headers).status_code == 202


def test_somebody_else_may_act_in_a_session_and_leave_it(running, dial):
    session = dial.result("openenv/session/create")["session_id"]
    dial.result("ludus/reset", {"session_id": session, "seed": 5})
    guest = Caller(dial.url, f"?session_id={session}")
    told = guest.result("initialize", {"protocolVersion": "2025-06-18"})
    assert told["instructions"].endswith("The episode begins with: a door with a dial")
    headers = guest.initialize()
    assert headers["mcp-session-id"] == session
    guest.result("tools/call", {"name": "turn", "arguments": {"number": 1}}, headers=headers)
    assert guest.send("DELETE", headers=headers).status_code == 204
    code, left = dial.result("tools/call", {"name": "listen", "session_id": session})["data"]
    assert (code != 7, left) == (True, 1)
    assert "begins with" not in guest.result("initialize")["instructions"]
    assert Caller(dial.url, "?session_id=0.x").error("initialize", status=404)["code"] == -32602


# --- limits ---


def test_roles_are_kept():
    tokens = {f"{role}-of-the-test-{number}": role for number, role in enumerate(("orchestrator", "agent", "observer"))}
    with serving(TOOLS, access=Access(tokens)) as running:
        runner, agent, observer = (Caller(running.url, authorization=f"Bearer {token}") for token in tokens)
        assert Caller(running.url).ask("tools/list").status_code == 401
        session = {"session_id": runner.result("openenv/session/create")["session_id"]}
        told = {"name": "echo_message", "arguments": {"message": "a"}, **session}
        assert agent.result("tools/call", told)["data"] == "a"
        assert observer.result("tools/list")["tools"][0]["name"] == "echo_message"
        for who, method, params in (
            (agent, "openenv/session/create", {}),
            (agent, "openenv/session/close", session),
            (agent, "ludus/reset", session),
            (agent, "tools/call", {**told, "session_id": None}),
            (observer, "tools/call", told),
        ):
            error = who.error(method, params)
            assert (error["code"], error["data"]["kind"]) == (-32000, "AccessDenied"), (method, error)
            assert "trace" not in error["data"]
        assert agent.error("initialize", status=403)["data"]["kind"] == "AccessDenied"
        guest = Caller(running.url, f"/mcp?{httpx.QueryParams(session)}", **agent.headers)
        headers = guest.initialize()
        assert not guest.result("tools/call", told, headers=headers)["isError"]
        assert guest.error("ludus/reset", status=403, headers=headers)["code"] == -32000
        assert agent.send("DELETE", headers=headers).status_code == 403
        assert runner.send("DELETE", headers=headers).status_code == 204


def test_a_full_server_says_when_to_come_again():
    with serving(TOOLS, config=ServerConfig(max_sessions=1, queue_seconds=0.01)) as running:
        caller = Caller(running.url)
        session = caller.result("openenv/session/create")
        error = caller.error("openenv/session/create")
        assert error["code"] == -32000
        assert (error["data"]["active_sessions"], error["data"]["max_sessions"]) == (1, 1)
        assert error["data"]["retry_after"] > 0
        busy = caller.ask("initialize", {})
        assert busy.status_code == 503
        assert int(busy.headers["retry-after"]) >= 1
        caller.result("openenv/session/close", session)
        assert caller.initialize()


def test_a_tool_has_the_time_of_its_session():
    with serving(Dial, config=ServerConfig(deadline=2.5)) as running:
        caller = Caller(running.url)
        session = caller.result("openenv/session/create")
        try:
            late = caller.error("tools/call", {"name": "hang", **session})
            assert (late["code"], late["data"]["infrastructure_failure"]) == (-32000, True)
            gone = caller.error("tools/call", {"name": "listen", **session})
            assert gone["code"] == -32602
        finally:
            HOLD.set()


@pytest.mark.no_cover
def test_a_tool_in_isolation_is_called_and_killed_when_it_takes_too_long():
    with serving("tests.server.mcp_worlds:Dial", config=ServerConfig(isolation="process", deadline=15)) as running:
        caller = Caller(running.url)
        headers = caller.initialize()
        told = caller.result("tools/call", {"name": "turn", "arguments": {"number": 1}}, headers=headers)
        assert told["structuredContent"] == {"open": False}
        assert caller.result("tools/call", {"name": "listen"}, headers=headers)["content"][0]["text"] == "[7,1]"
        fault = caller.error("tools/call", {"name": "fault"}, headers=headers)
        assert (fault["code"], fault["message"]) == (-32000, "Dial: ZeroDivisionError: of its own")
        killed = caller.result("tools/call", {"name": "hang"}, headers=headers)
        assert killed["isError"]
        assert "process ended, and with it the episode: " in killed["content"][0]["text"]
        assert (killed["_meta"]["truncated"], killed["_meta"]["infrastructure_failure"]) == (True, True)
        assert "begin anew" in caller.result("tools/call", {"name": "listen"}, headers=headers)["content"][0]["text"]
        caller.result("ludus/reset", headers=headers)
        assert caller.result("tools/call", {"name": "listen"}, headers=headers)["content"][0]["text"] == "[7,2]"


def test_a_body_is_limited():
    with serving(TOOLS, config=ServerConfig(body=4096)) as running:
        caller = Caller(running.url)
        assert caller.ask("tools/call", {"name": "a" * 5000}).status_code == 413
        assert caller.result("tools/list")
