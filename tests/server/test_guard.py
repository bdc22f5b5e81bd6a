"""The guard before every endpoint, asked as an ASGI server asks it."""

import json
import random
from typing import Any

import pytest
from starlette.middleware.exceptions import ExceptionMiddleware

from ludus.server.access import Access
from ludus.server.config import ServerConfig
from ludus.server.guard import HEADERS, Guard

AGENT, RUNNER = "the-token-of-an-agent", "the-token-of-a-runner"
TOKENS: dict[str, Any] = {AGENT: "agent", RUNNER: "orchestrator"}
PEER = ("127.0.0.1", 5000)


class Endpoint:
    """An application that reads a body and says who asked."""

    def __init__(self, *, deaf: bool = False, careless: bool = False) -> None:
        self.deaf, self.careless, self.read = deaf, careless, 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.accept"})
            return
        status = 200
        try:
            while not self.deaf:
                message = await receive()
                self.read += len(message.get("body", b""))
                if not message.get("more_body"):
                    break
        except Exception:
            if not self.careless:
                raise
            status = 500
        told = scope.get("state", {}).get("principal")
        await send({"type": "http.response.start", "status": status, "headers": [(b"x-frame-options", b"SAMEORIGIN")]})
        await send({"type": "http.response.body", "body": b"" if told is None else told.role.encode()})


class Answer:
    """What came back."""

    def __init__(self, messages: list[Any]) -> None:
        self.messages = messages
        start = messages[0]
        self.kind = start["type"]
        self.status = start.get("status")
        self.headers = {name.decode(): value.decode() for name, value in start.get("headers", [])}
        self.body = b"".join(one.get("body", b"") for one in messages[1:])


def ask(
    app: Any,
    *headers: tuple[str, str],
    parts: tuple[bytes, ...] = (b"",),
    host: str | None = "localhost:8000",
    **more: Any,
) -> Answer:
    given = [] if host is None else [("host", host)]
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/step",
        "raw_path": b"/step",
        "query_string": b"",
        "client": PEER,
        "headers": [(name.encode("latin1"), value.encode("latin1")) for name, value in (*given, *headers)],
        **more,
    }
    waiting = [
        {"type": "http.request", "body": part, "more_body": place + 1 < len(parts)} for place, part in enumerate(parts)
    ]
    if scope["type"] == "websocket":
        waiting = [{"type": "websocket.connect"}]
    found: list[Any] = []

    async def receive() -> Any:
        return waiting.pop(0) if waiting else {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        found.append(message)

    with pytest.raises(StopIteration):  # nothing here waits for anything
        app(scope, receive, send).send(None)
    return Answer(found)


def guard(tokens: Any = None, hosts: Any = (), endpoint: Any = None, **config: Any) -> Guard:
    return Guard(endpoint or Endpoint(), ServerConfig(**config, access=Access(tokens)), hosts)


# --- hosts: a page that rebinds its name to this machine ---


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:8000", "127.0.0.1:1", "[::1]:8000", "[::1]"])
def test_this_machines_own_names_are_served(host: str) -> None:
    assert ask(guard(), host=host).status == 200


@pytest.mark.parametrize(
    "host",
    [
        None,
        "",
        "evil.example",
        "evil.example:8000",
        "localhost.evil.example",
        "evil.example@localhost",
        "localhost@evil.example",
        "localhost:8000:9",
        "localhost:port",
        "localhost:123456",
        "localhost/",
        "localhost#",
        "[::1",
        "::1",
        "[localhost]",
        "localhost.",
        "local host",
        "testserver",
        "0.0.0.0",
        "\xff",
        "169.254.169.254",
    ],
)
def test_other_names_are_refused(host: str | None) -> None:
    answer = ask(guard(), host=host)
    assert answer.status == 421
    assert b"--allow-host" in answer.body


def test_names_that_were_allowed_are_served_and_none_allows_all() -> None:
    ours = guard(hosts=["My.Machine", "fe80::1"])
    assert [ask(ours, host=one).status for one in ("my.machine:80", "[fe80::1]:80", "other")] == [200, 200, 421]
    assert ask(guard(hosts=None), host="anything.example").status == 200


def test_a_second_host_header_is_refused() -> None:
    assert ask(guard(), ("host", "evil.example")).status == 400
    assert ask(guard(TOKENS), ("authorization", f"Bearer {AGENT}"), ("Authorization", "Bearer x")).status == 400


def test_the_test_client_is_known_by_having_no_socket() -> None:
    assert ask(guard(), host="testserver", client=("testclient", 50000)).status == 200
    assert ask(guard(), host="testserver", client=("testclient", 50001)).status == 421


# --- origins ---


@pytest.mark.parametrize("origin", ["http://localhost:8000", "https://LOCALHOST:8000"])
def test_our_own_pages_may_ask(origin: str) -> None:
    assert ask(guard(), ("origin", origin)).status == 200


@pytest.mark.parametrize(
    "origin",
    [
        "null",
        "",
        "http://evil.example",
        "http://localhost:9000",
        "http://localhost",
        "http://[",
        "file://",
        "\xff",
        "//x",
    ],
)
@pytest.mark.parametrize("kind", ["http", "websocket"])
def test_other_pages_may_not(origin: str, kind: str) -> None:
    answer = ask(guard(), ("origin", origin), type=kind, extensions={"websocket.http.response": {}})
    assert answer.status == 403
    assert not any("access-control" in name for name in answer.headers)


def test_nobody_is_told_that_another_origin_may_ask() -> None:
    headers = [("origin", "http://evil.example"), ("access-control-request-method", "POST")]
    answer = ask(guard(), *headers, method="OPTIONS")
    assert answer.status == 403
    assert not any(name.startswith("access-control") for name in ask(guard()).headers)


# --- tokens ---


def test_a_token_makes_its_owner_known() -> None:
    ours = guard(TOKENS)
    assert ask(ours, ("authorization", f"Bearer {AGENT}")).body == b"agent"
    assert ask(ours, ("authorization", f"bearer  {RUNNER} ")).body == b"orchestrator"
    assert ask(guard()).body == b"orchestrator"


@pytest.mark.parametrize(
    "given", ["", "Bearer", "Bearer x", f"Basic {AGENT}", AGENT, f"Bearer {AGENT}x", "Bearer \xff"]
)
def test_without_a_token_nobody_passes(given: str) -> None:
    answer = ask(guard(TOKENS), ("authorization", given))
    assert (answer.status, answer.headers["www-authenticate"]) == (401, "Bearer")
    assert AGENT.encode() not in answer.body


def test_a_token_in_the_address_is_for_websockets_alone() -> None:
    ours, query = guard(TOKENS), f"x=1&token={AGENT}".encode()
    assert ask(ours, query_string=query).status == 401
    assert ask(ours, type="websocket", query_string=query).kind == "websocket.accept"
    for torn in (b"", b"token=", b"token=x", b"%ff%fe=%00", b"&" * 5000, b"a=1&" * 100 + query):
        assert ask(ours, type="websocket", query_string=torn).kind == "websocket.close"


def test_health_needs_no_token() -> None:
    answer = ask(guard(TOKENS), path="/health")
    assert (answer.status, answer.body) == (200, b"")
    assert ask(guard(TOKENS), path="/health/x").status == 401
    assert ask(guard(TOKENS), path="/health", type="websocket").kind == "websocket.close"


def test_a_refused_websocket_gets_a_status_where_the_server_can_send_one() -> None:
    extensions = {"websocket.http.response": {}}
    answer = ask(guard(TOKENS), type="websocket", extensions=extensions)
    assert (answer.kind, answer.status) == ("websocket.http.response.start", 401)
    closed = ask(guard(TOKENS), type="websocket").messages[0]
    assert (closed["type"], closed["code"]) == ("websocket.close", 4401)


# --- headers ---


def test_every_answer_has_the_headers_that_protect_a_browser() -> None:
    for answer in (ask(guard(hosts=[]), host="evil"), ask(guard(TOKENS)), ask(guard())):
        for name, value in HEADERS.items():
            assert answer.headers[name] in (value, "SAMEORIGIN")
    assert ask(guard()).headers["x-frame-options"] == "SAMEORIGIN"  # an endpoint may say more
    policy = HEADERS["content-security-policy"]
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy


# --- sizes ---


@pytest.mark.parametrize("length", ["101", "99999999999999999999", "-1", "x", "1e2", "", " 5", "0x10", "\xb2"])
def test_a_body_that_announces_too_much_is_not_read(length: str) -> None:
    endpoint = Endpoint()
    assert ask(guard(endpoint=endpoint, body=100), ("content-length", length), parts=(bytes(50),)).status == 413
    assert endpoint.read == 0


@pytest.mark.parametrize("handled", [False, True])
@pytest.mark.parametrize("careless", [False, True])
def test_a_body_that_announces_nothing_is_read_to_the_limit(careless: bool, handled: bool) -> None:
    endpoint = Endpoint(careless=careless)
    ours = guard(endpoint=_Handling(endpoint) if handled else endpoint, body=100)
    assert ask(ours, parts=(bytes(50), bytes(50))).status == 200
    answer = ask(ours, parts=(bytes(50),) * 1000)
    assert answer.status == 413
    assert endpoint.read <= 200


class _Handling:
    """Starlette's own handling of HTTPException around an endpoint."""

    def __init__(self, endpoint: Any) -> None:
        self.app = ExceptionMiddleware(endpoint)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        scope["app"] = self
        await self.app(scope, receive, send)


# --- rates ---


def test_a_peer_that_asks_too_often_is_told_to_come_again() -> None:
    ours = guard(rate=3)
    answers = [ask(ours) for _ in range(6)]
    assert [one.status for one in answers] == [200] * 3 + [429] * 3
    assert answers[-1].headers["retry-after"] == "1"
    assert ask(ours, client=("10.0.0.1", 1)).status == 200  # others do not mind
    assert ask(ours, client=None).status == 200


# --- garbage ---


def test_whatever_comes_is_answered_and_never_by_an_error_of_the_server() -> None:
    rng = random.Random(7)
    names = ["host", "origin", "authorization", "content-length", "cookie", "x-session-id", "\xff", ""]
    texts = [
        "localhost:8000",
        "http://localhost:8000",
        f"Bearer {AGENT}",
        "5",
        "null",
        "[",
        "http://[::1",
        "%",
        "\0",
        "\r\n",
        "",
    ]
    ours = {True: guard(TOKENS, rate=1e9, body=10), False: guard(rate=1e9, body=10)}
    seen = set()
    for _ in range(5000):
        headers = [(rng.choice(names), _torn(rng, rng.choice(texts))) for _ in range(rng.randint(0, 4))]
        host = rng.choice(["localhost", None, _torn(rng, "localhost:8000")])
        query = rng.randbytes(rng.randint(0, 20))
        kind = rng.choice(["http", "websocket"])
        answer = ask(ours[rng.random() < 0.5], *headers, host=host, query_string=query, type=kind)
        if answer.status is not None:
            seen.add(answer.status)
    assert seen <= {200, 400, 401, 403, 413, 421}
    assert seen >= {200, 401, 403, 413, 421}


def _torn(rng: random.Random, text: str) -> str:
    if rng.random() < 0.5:
        return text
    chars = list(text)
    for _ in range(rng.randint(1, 3)):
        chars.insert(rng.randint(0, len(chars)), chr(rng.randrange(256)))
    return "".join(chars)


def test_what_is_refused_is_told_as_json() -> None:
    answer = ask(guard(), host="evil")
    assert set(json.loads(answer.body)) == {"detail"}
