"""What pages and agents' sockets speak, by those who mean ill: each message is answered, and neighbours go on."""

import json
import random
from collections import Counter
from contextlib import contextmanager
from urllib.parse import quote

import httpx
import pytest
from websockets.sync.client import connect

import ludus
from ludus.server.config import ServerConfig
from ludus.server.run import serve
from tests.server.test_mcp_hostile import ODD, Attacker

pytestmark = pytest.mark.no_cover

WHOLE = pytest.param(100_000, marks=pytest.mark.full)
ENV, TOOLS = "CartPole-v1", "open/EchoTools-v0"
KINDS = ("reset", "step", "random", "state", "frame", "", "close", "reset\x00")
ASKED = ("/v1/envs", "/v1/envs/", "/v1/picture?env=", "/v1/sessions", "/v1/sessions/", "/metrics", "/static/",
         "/schema", "/openapi.json", "/health", "/metadata", "/state", "/web", "/list_environments", "/")  # fmt: skip
NAMES = (ENV, TOOLS, "..", "../../etc/passwd", "%2e%2e%2fx", "\x00", "x" * 4000, "é☃", "a b", "{name}", "'\"<script>")
METHODS = ("GET", "GET", "GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "BREW")


@pytest.fixture(scope="module")
def running():
    config = ServerConfig(rate=1e12, max_sessions=16, queue_seconds=0.05)
    with serve(ENV, TOOLS, port=0, block=False, config=config) as found:
        yield found


@contextmanager
def neighbour(running):
    """Somebody else's episode: whenever it is called, a step of it is what it would be alone."""
    with ludus.connect(running.url, env=ENV) as theirs, ludus.make(ENV) as alone:
        seeds = iter(range(1_000_000))

        def go_on():
            seed = next(seeds)
            assert (theirs.reset(seed=seed)[0] == alone.reset(seed=seed)[0]).all()
            assert (theirs.step(seed % 2).observation == alone.step(seed % 2).observation).all()

        yield go_on


def played(rng):
    """A message of a page, nearly right or not at all."""
    message = {"type": rng.choice(KINDS), "id": rng.choice(ODD), "action": rng.choice((0, 1, *ODD))}
    message |= {"seed": rng.choice((3, *ODD)), "options": rng.choice((None, {}, *ODD))}
    message |= {"count": rng.choice((1, 3, *ODD)), "frame": rng.random() < 0.02, "choices": rng.choice(ODD)}
    message = {name: value for name, value in message.items() if rng.random() < 0.7}
    if rng.random() < 0.05:
        return json.dumps([message]).encode()
    data = bytearray(json.dumps(message).encode())
    pick = rng.random()
    if pick < 0.2:
        data[rng.randrange(len(data))] = rng.randrange(256)
    elif pick < 0.3:
        del data[rng.randrange(len(data)) :]
    elif pick < 0.33:
        data[:] = b'{"a":' * rng.choice((10, 3_000, 50_000))
    return bytes(data)


def spoken(connection, data, rng):
    """Send as text where it is some, else as bytes; the answer, which has to be JSON."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = data
    connection.send(data if rng.random() < 0.1 else text)
    return json.loads(connection.recv(60), parse_constant=lambda found: pytest.fail(found))


@pytest.mark.parametrize("messages", [1_500, WHOLE])
def test_a_page_that_means_ill_is_answered_each_time(running, messages):
    rng, seen = random.Random(41), Counter()
    url = f"{running.url.replace('http', 'ws', 1)}/v1/play?env={ENV}"
    with neighbour(running) as go_on, connect(url, proxy=None, compression=None) as connection:
        for number in range(messages):
            told = spoken(connection, played(rng), rng)
            error = told.get("error") or {"kind": "none", "infrastructure": False}
            assert not error["infrastructure"], told
            seen[error["kind"]] += 1
            if number % 500 == 0:
                go_on()
    assert {"none", "CodecError", "InvalidArgument", "InvalidAction", "ResetNeeded"} <= set(seen), seen
    assert seen["none"] > messages // 50


@pytest.mark.parametrize("messages", [1_500, WHOLE])
def test_an_agent_that_means_ill_is_answered_over_its_socket(running, messages):
    rng, attacker, seen = random.Random(42), Attacker(42, "nobody's"), Counter()
    url = f"{running.url.replace('http', 'ws', 1)}/env/{TOOLS}/mcp"
    with neighbour(running) as go_on, connect(url, proxy=None, compression=None) as connection:
        for number in range(messages):
            told = spoken(connection, attacker.body(), rng)
            seen["error" if "error" in told else "result"] += 1
            if number % 500 == 0:
                go_on()
        call = {"name": "echo_message", "arguments": {"message": "on"}}
        asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
        assert "on" in json.dumps(spoken(connection, json.dumps(asked).encode(), rng)["result"])
    assert seen["error"] > messages // 5
    assert seen["result"] > messages // 50


@pytest.mark.parametrize("requests", [1_000, WHOLE])
def test_whatever_is_asked_of_the_other_addresses_has_a_status_below_500(running, requests):
    rng, seen = random.Random(43), Counter()
    with neighbour(running) as go_on, httpx.Client(base_url=running.url, timeout=60) as http:
        for number in range(requests):
            path = rng.choice(ASKED) + (quote(rng.choice(NAMES), safe=rng.choice(("", "/.%"))) * (rng.random() < 0.6))
            headers = {"if-none-match": '"x"', "accept": rng.choice(("*/*", "", "text/html")), "range": "bytes=9-"}
            body = rng.choice((b"", b"{}", rng.randbytes(30)))
            reply = http.request(rng.choice(METHODS), path[:8000], content=body, headers=headers)
            assert reply.status_code < 500, (path, reply.text)
            seen[reply.status_code] += 1
            if number % 500 == 0:
                go_on()
    assert {200, 404, 405} <= set(seen), seen
