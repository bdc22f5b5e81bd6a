"""`/mcp` against those who mean ill: whatever is sent, there is an answer, nothing is left, and neighbours go on."""

import asyncio
import json
import random
import sys
from string import printable

import httpx
import msgspec
import pytest
from websockets.sync.client import connect

from ludus.server.config import ServerConfig
from ludus.server.protocols.mcp import stdio
from ludus.server.rate import Bucket
from ludus.server.run import serve
from ludus.server.served_env import ServedEnv
from ludus.server.server import Server

pytestmark = pytest.mark.no_cover

METHODS = ("tools/call", "tools/list", "ludus/reset", "openenv/session/close", "initialize", "ping", "server/discover",
           "notifications/initialized", "resources/list", "", "tools/call\x00")  # fmt: skip
ODD = (None, True, 0, -1, 2**63, 10**40, 1e308, "", "é☃\x00", "x" * 5000, [], {}, [[[]]], {"a": {"b": [1]}},
       "NaN", {"$array": "a"}, {"__class__": "x"}, "../../etc/passwd")  # fmt: skip
HEADERS = ("mcp-session-id", "mcp-protocol-version", "accept", "x-session-id", "content-type")
STATUSES = {200, 202, 204, 400, 404, 406, 503}


class Attacker:
    """Makes messages, some nearly right, all from one seed."""

    def __init__(self, seed, session):
        self.random, self.session = random.Random(seed), session

    def value(self):
        return self.random.choice((*ODD, self.session, "echo_message"))

    def object(self, keys):
        return {key: self.value() for key in keys if self.random.random() < 0.6}

    def params(self):
        arguments = self.object(("message", "extra"))
        params = {"name": "echo_message", "arguments": arguments, "session_id": self.session}
        return params | self.object(("name", "arguments", "session_id", "seed", "options", "episode_id", "_meta"))

    def message(self):
        message = {"jsonrpc": "2.0", "id": 1, "method": self.random.choice(METHODS), "params": self.params()}
        if self.random.random() < 0.3:
            message |= self.object(("jsonrpc", "id", "method", "params", "more"))
        return message

    def body(self):
        choice = self.random.random()
        if choice < 0.08:
            return json.dumps([self.message() for _ in range(self.random.randrange(4))]).encode()
        data = bytearray(json.dumps(self.message()).encode())
        if choice < 0.3:
            for _ in range(self.random.randrange(1, 6)):
                data[self.random.randrange(len(data))] = self.random.randrange(256)
        elif choice < 0.4:
            del data[self.random.randrange(len(data)) :]
        elif choice < 0.43:
            data[:] = b'{"a":' * self.random.choice((10, 3_000, 50_000))
        return bytes(data)

    def headers(self):
        strange = "".join(self.random.sample(printable[:94], 9))
        values = (self.session, "2025-06-18", "1", "*/*", "text/event-stream", strange)
        return {name: self.random.choice(values) for name in HEADERS if self.random.random() < 0.25}


def ask(http, method, **params):
    return http.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).json()["result"]


def attack(http, attacker, number):
    """Send one message; the status of the answer."""
    method, body, headers = "DELETE" if number % 500 == 499 else "POST", attacker.body(), attacker.headers()
    reply = http.request(method, "/mcp", content=body, headers=headers)
    assert reply.status_code in STATUSES, (body, headers, reply.text)
    if "json" in reply.headers.get("content-type", ""):
        assert reply.json(), (body, headers)
    return reply.status_code


@pytest.mark.parametrize("messages", [2_000, pytest.param(100_000, marks=pytest.mark.full)])
def test_thousands_of_messages_meant_ill_are_answered(messages):
    config = ServerConfig(max_sessions=16, queue_seconds=0.01)
    with (
        serve("open/EchoTools-v0", port=0, block=False, config=config) as running,
        httpx.Client(base_url=running.url, timeout=60) as http,
    ):
        sessions = running.server.sessions
        mine, neighbour = (ask(http, "openenv/session/create")["session_id"] for _ in range(2))
        attacker, seen = Attacker(20, mine), set[int]()
        for number in range(messages):
            seen.add(attack(http, attacker, number))
            if number % 400 == 0:
                call = {"name": "echo_message", "arguments": {"message": "on"}, "session_id": neighbour}
                assert ask(http, "tools/call", **call)["data"] == "on"
                for info in sessions.infos():
                    if info.id not in (mine, neighbour):
                        ask(http, "openenv/session/close", session_id=info.id)
        assert {200, 202, 400, 404, 406} <= seen
        assert neighbour in {info.id for info in sessions.infos()}
        for info in sessions.infos():
            ask(http, "openenv/session/close", session_id=info.id)
        assert sessions.infos() == []


def test_messages_over_a_websocket_are_under_the_rate_limit_as_all_others(monkeypatch):
    taken = []

    class Counting(Bucket):
        def take(self, *given):
            taken.append(given)
            return super().take(*given)

    monkeypatch.setattr(sys.modules["ludus.server.protocols.mcp.routes"], "Bucket", Counting)
    with (
        serve("open/EchoTools-v0", port=0, block=False) as running,
        connect(f"{running.url.replace('http', 'ws', 1)}/mcp", proxy=None) as connection,
    ):
        for number in range(5):
            connection.send(json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/list", "params": {}}))
            connection.recv(60)
    assert len(taken) == 5


def test_standard_input_is_read_no_faster_than_the_rate_and_no_more_is_begun_than_can_be_under_way(monkeypatch):
    """The next line is asked for when a drop was taken for the last one, and few enough are being carried out."""
    config, count, rates, under_way, answers = ServerConfig(rate=50.0), 9, [], [], []

    class Counted(Bucket):
        def __init__(self, rate):
            super().__init__(rate)
            rates.append(rate)

        def take(self):
            rates.append("taken")
            return 1e-9

    monkeypatch.setattr(stdio, "Bucket", Counted)
    monkeypatch.setattr(stdio, "MAX_RUNNING", 2)
    lines = iter([b'{"jsonrpc": "2.0", "id": %d, "method": "ping"}\n' % number for number in range(count)])

    async def main():
        server = Server([ServedEnv("open/EchoTools-v0", config=config)], config)
        await server.sessions.start()
        talk = stdio.Stdio(server, answers.append)

        async def line():
            under_way.append(len(talk._running))
            return next(lines, b"")

        await talk.run(line)
        await server.sessions.stop()

    asyncio.run(main())
    assert rates == [50.0, *["taken"] * count]
    assert max(under_way) <= 2
    assert sorted(msgspec.json.decode(one)["id"] for one in answers) == list(range(count))
