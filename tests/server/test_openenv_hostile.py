"""Messages and requests of strangers, by the thousand: each has a clear answer, and the neighbour's episode goes on."""

import asyncio
import json
import random
from copy import deepcopy

import pytest
from starlette.routing import Route

from ludus.server.access import Principal
from ludus.server.protocols.openenv import routes
from ludus.server.protocols.openenv.env_endpoint import EnvEndpoint
from ludus.server.protocols.openenv.socket import SocketSession
from ludus.server.served_env import ServedEnv
from ludus.server.server import Server
from tests.server.openenv_worlds import Riddle

pytestmark = pytest.mark.no_cover
SOMEBODY = Principal("orchestrator", "anybody")
WHOLE = pytest.param(100_000, marks=pytest.mark.full)
CODES = {"INVALID_JSON", "UNKNOWN_TYPE", "VALIDATION_ERROR", "EXECUTION_ERROR"}
GOOD = (
    b'{"type":"step","data":{"answer":"no"}}',
    b'{"type":"step","data":{"type":"call_tool","tool_name":"echo_message","arguments":{"message":"hi"}}}',
    b'{"type":"step","data":{"action":1}}',
    b'{"type":"reset","data":{"seed":3,"index":1,"episode_id":"x"}}',
    b'{"type":"state"}',
    b'{"type":"mcp","data":{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}}',
)
PATHS = (*("/step", "/reset") * 5, "/state", "/{env:path}/task", "/{env:path}/task_range")
ODD = (None, True, -1, 2**80, 1e308, -0.0, "", "\u0000", "x" * 300, [], {}, [[[]]], {"a": {"b": []}}, "a candle")


def value(rng, depth=3):
    """Any value of JSON, the strange ones more often."""
    if depth and rng.random() < 0.3:
        items = [value(rng, depth - 1) for _ in range(rng.randrange(4))]
        return items if rng.random() < 0.5 else {rng.choice(("answer", "action", "type", "seed", "")): items}
    return deepcopy(rng.choice(ODD))


def mutated(rng, good):
    """A good message that was cut, mangled, or filled with something else."""
    kind = rng.randrange(6)
    if kind == 0:
        return good[: rng.randrange(len(good))]
    if kind == 1:
        return bytes(rng.randrange(256) if rng.random() < 0.05 else byte for byte in good)
    if kind == 2:
        return b"[" * rng.randrange(1, 3000) + good
    if kind == 3:
        return good + rng.choice((b"}", b"\x00", b" ", good))
    data = json.loads(good)
    for key in list(data):
        if rng.random() < 0.4:
            data[key] = value(rng)
    if isinstance(data.get("data"), dict):
        for key in (*data["data"], rng.choice(("answer", "seed", "options", "metadata", "more"))):
            if rng.random() < 0.4:
                data["data"][key] = value(rng)
    return json.dumps(data).encode()


def subjects():
    server = Server([ServedEnv(Riddle, "riddle"), "CartPole-v1", "open/EchoTools-v0"])
    return server, [EnvEndpoint(server, one) for one in server.offered.values()]


@pytest.mark.parametrize("messages", [6_000, WHOLE])
def test_every_message_is_answered_and_the_neighbour_goes_on(messages):
    async def attack():
        rng, (server, offers) = random.Random(7), subjects()
        neighbour = await offers[0].open(SOMEBODY)
        await offers[0].reset(neighbour, {"index": 0}, full=False)
        sessions = [await one.open(SOMEBODY) for one in offers]
        talks = [SocketSession(*pair, SOMEBODY) for pair in zip(offers, sessions, strict=True)]
        told = set()
        for number in range(messages):
            text = mutated(rng, rng.choice(GOOD))
            reply = await talks[number % len(talks)].answer(text)
            if reply is None:  # it made up a farewell
                assert json.loads(text)["type"] == "close"
                continue
            data = json.loads(reply, parse_constant=lambda found: pytest.fail(found))
            assert data["type"] in ("observation", "state", "mcp", "error")
            if data["type"] == "error":
                told.add(data["data"]["code"])
                assert not data["data"].get("infrastructure_failure"), (text, data)
        assert told == CODES
        assert all(one.lost is None for one in sessions)
        assert json.loads(await offers[0].step(neighbour, {"answer": "a candle"}, full=False))["done"]
        await server.sessions.stop()
        assert not server.sessions.infos()

    asyncio.run(attack())


@pytest.mark.parametrize("requests", [2_000, WHOLE])
def test_every_request_is_answered_with_a_status_below_500(requests):
    async def ask(route, path, body, headers):
        parts = [{"type": "http.request", "body": body, "more_body": False}]
        sent = []

        async def receive():
            return parts.pop() if parts else {"type": "http.disconnect"}

        async def send(message):
            sent.append(message)

        method = next(iter(sorted(route.methods - {"HEAD"})))
        scope = {"type": "http", "method": method, "path": path, "query_string": b"", "headers": headers}
        await route.endpoint(
            {**scope, "state": {"principal": SOMEBODY}, "path_params": {"env": "riddle"}}, receive, send
        )
        return sent[0]["status"], sent[1]["body"]

    async def attack():
        rng, (server, offers) = random.Random(11), subjects()
        session = await offers[0].open(SOMEBODY)
        await offers[0].reset(session, {"index": 0}, full=True)
        asked = {one.path: one for one in routes(server, offers[0].served) if isinstance(one, Route)}
        name, met = session.id.encode(), set()
        for _ in range(requests):
            path = rng.choice(PATHS)
            good = json.dumps({"action": {"answer": "no"}, "seed": 1, "split": "first", "index": 0}).encode()
            noise = bytes(rng.randrange(33, 127) for _ in range(rng.randrange(20)))
            ways = ([(b"x-session-id", rng.choice((name, noise)))], [(b"cookie", b"ludus_session=" + name + noise)])
            body = b'{"action":{"answer":"no"}}' if rng.random() < 0.2 else mutated(rng, good)
            status, reply = await ask(asked[path], path, body, rng.choice(ways))
            assert status < 500, (path, body, reply)
            json.loads(reply, parse_constant=lambda found: pytest.fail(found))
            met.add(status)
        assert met >= {200, 404, 422}
        assert session.lost is None
        await server.sessions.stop()

    asyncio.run(attack())
