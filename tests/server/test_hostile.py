"""A hundred thousand messages that nobody should send: a clear error for each, and nobody else notices."""

import asyncio
import socket
import threading
from base64 import b64encode
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from random import Random
from typing import Any
from urllib.parse import urlsplit

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

import ludus
from ludus import errors
from ludus.errors import CodecError
from ludus.server.access import Principal
from ludus.server.config import ServerConfig
from ludus.server.connection import serve_connection
from ludus.server.run import serve
from ludus.server.served_env import ServedEnv
from ludus.server.server import Server
from ludus.wire import FrameLimits
from ludus.wire.compression import Compression
from ludus.wire.dialogue import WINDOW_REQUESTS
from ludus.wire.messages import (
    CancelRequest,
    FailedReply,
    HelloRequest,
    NumberedRequest,
    ResetRequest,
    StepRequest,
    WelcomeReply,
    read_answered,
    read_asked,
)
from ludus.wire.messages import (
    write_message as written,
)
from tests.patience import PATIENCE_S
from tests.server.hostility import Hostility
from tests.server.wired_worlds import Calm

pytestmark = pytest.mark.no_cover
LIMITS = FrameLimits(size=1 << 20)
KNOWN = {*vars(errors), "Cancelled"}
OURS = {"SessionLost"}
"""What may be marked as a failure of the server's: sessions that were closed."""
ROLES: list[Any] = ["orchestrator", "orchestrator", "orchestrator", "agent", "observer"]
SETTINGS = ServerConfig(
    max_sessions=48, queue_seconds=0.001, rate=1e12, limits=LIMITS, body=1 << 20, max_lanes=64, max_snapshots=4
)
PER_CONNECTION = 150


class Wire:
    """A link in memory, both of whose ends are in one event loop."""

    direct = None

    def __init__(self) -> None:
        self.incoming: asyncio.Queue[bytes | None] = asyncio.Queue()
        self.outgoing: asyncio.Queue[bytes | None] = asyncio.Queue()

    async def receive(self) -> bytes | None:
        return await self.incoming.get()

    async def send(self, data: bytes) -> None:
        self.outgoing.put_nowait(data)

    async def close(self) -> None:
        self.incoming.put_nowait(None)
        self.outgoing.put_nowait(None)

    async def ask(self, data: bytes) -> bytes | None:
        """Send, and wait for what comes; None at the end of the connection."""
        self.incoming.put_nowait(data)
        return await self.outgoing.get()


class Tally:
    """What was answered."""

    def __init__(self) -> None:
        self.sent, self.kinds, self.sessions = 0, Counter[str](), list[str]()
        self.turns = asyncio.Semaphore(0)
        """One for the neighbour, for every ten messages."""

    def take(self, data: bytes, compression: Compression) -> Any:
        """Every answer is a message; every error is one of ours, and no caller's fault is marked as the server's."""
        answered = read_answered(compression.unpack(data, FrameLimits()), FrameLimits())
        reply = answered.reply
        kind = type(reply).__name__
        if type(reply) is FailedReply:
            kind = reply.kind
            assert reply.kind in KNOWN, reply
            assert reply.message
            assert not reply.infrastructure or reply.kind in OURS, reply
        self.kinds[kind] += 1
        if self.sent % 10 == 0:
            self.turns.release()
        return answered


async def attack(server: Server, seed: int, tally: Tally) -> None:
    """One connection, in step with its server: each message is answered, or ends the connection."""
    hostility, wire = Hostility(seed), Wire()
    rng = hostility.rng
    principal = Principal(rng.choice(ROLES), f"attacker {seed % 3}")
    talk = asyncio.create_task(serve_connection(server, wire, principal))
    compression = Compression()
    if rng.random() < 0.4:
        first = hostility.hello(tally.sessions[-20:])
    else:
        env, lanes = rng.choice([*([("CartPole-v1", 0), ("open/Echo-v0", 0)] * 5), ("CartPole-v1", 4), ("calm", 0)])
        packing: Any = rng.choice(["none", "zstd"])
        first = written(NumberedRequest(0, HelloRequest(env=env, lanes=lanes, compression=packing)))
    tally.sent += 1
    data = await wire.ask(first)
    welcome = None if data is None else tally.take(data, compression).reply
    if type(welcome) is WelcomeReply:
        tally.sessions.append(welcome.session)
        compression = Compression(welcome.compression)
        await _insist(wire, hostility, tally, compression, welcome.last)
    wire.incoming.put_nowait(None)
    await talk


async def _insist(wire: Wire, hostility: Hostility, tally: Tally, compression: Compression, last: int) -> None:
    number = last + 1
    for _ in range(PER_CONNECTION):
        message = hostility.message(number)
        asked = _meaning(message, compression)
        tally.sent += 1
        if asked is not None and asked.number == 0 and isinstance(asked.request, CancelRequest):
            wire.incoming.put_nowait(message)  # the one that has no reply
            continue
        data = await wire.ask(message)
        if data is None:
            return
        answered = tally.take(data, compression)
        assert answered.number == (0 if asked is None else asked.number)
        if asked is not None and asked.number == number:
            number += 1


def _meaning(message: bytes, compression: Compression) -> NumberedRequest | None:
    try:
        return read_asked(compression.unpack(message, LIMITS), LIMITS)
    except CodecError:
        return None


async def neighbour(server: Server, over: asyncio.Event, turns: asyncio.Semaphore) -> int:
    """Plays on, whatever others do, and sees what it would see alone."""
    wire, steps, number = Wire(), 0, 1
    talk = asyncio.create_task(serve_connection(server, wire, Principal("orchestrator", "neighbour")))
    assert await wire.ask(written(NumberedRequest(0, HelloRequest())))
    with ludus.make("CartPole-v1") as env:
        while not over.is_set():
            first, _ = env.reset(seed=number)
            reply: Any = read_answered(
                await wire.ask(written(NumberedRequest(number, ResetRequest(number, None)))) or b"", LIMITS
            )
            assert reply.reply.observation == first.tobytes()
            done = False
            while not done and not over.is_set():
                await turns.acquire()
                number += 1
                step = env.step(number & 1)
                reply = read_answered(
                    await wire.ask(written(NumberedRequest(number, StepRequest(number & 1)))) or b"", LIMITS
                )
                assert reply.reply.observation == step.observation.tobytes()
                done = bool(step.terminated or step.truncated)
                steps += 1
            number += 1
    wire.incoming.put_nowait(None)
    await talk
    return steps


@pytest.mark.parametrize("messages", [6_000, pytest.param(100_000, marks=pytest.mark.full)])
def test_thousands_of_messages_do_no_harm(messages: int) -> None:
    threads, tally = set(threading.enumerate()), Tally()

    async def work() -> int:
        server = Server(["CartPole-v1", "open/Echo-v0", ServedEnv(Calm, "calm", config=SETTINGS)], SETTINGS)
        await server.sessions.start()
        over = asyncio.Event()
        playing = asyncio.create_task(neighbour(server, over, tally.turns))
        seed = 0
        while tally.sent < messages:
            async with asyncio.timeout(PATIENCE_S):
                await attack(server, seed, tally)
            seed += 1
            await asyncio.sleep(0)
            theirs = [one for one in server.sessions.infos() if one.owner != "neighbour"]
            for info in theirs[:-20]:  # as the reaper would, in time
                await server.sessions.close(server.sessions.find(info.id))
        over.set()
        tally.turns.release()
        steps = await playing
        held = [server.sessions.find(one.id) for one in server.sessions.infos()]
        assert all(one.dialogue.kept <= WINDOW_REQUESTS and not one.cancelled and not one.tasks for one in held)
        await server.sessions.stop()
        assert server.sessions.infos() == []
        assert asyncio.all_tasks() == {asyncio.current_task()}
        await asyncio.get_running_loop().shutdown_default_executor()
        return steps

    steps = asyncio.run(work())
    for one in set(threading.enumerate()) - threads:
        one.join(60)
    assert set(threading.enumerate()) <= threads
    assert steps > messages // 100
    assert tally.kinds["CodecError"] > messages // 5
    assert {"StepReply", "ResetReply", "WelcomeReply", "InvalidAction", "AccessDenied", "SnapshotError"} <= set(
        tally.kinds
    )


# --- over a real WebSocket ---


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serve(
        "CartPole-v1", port=0, block=False, config=ServerConfig(rate=1e12, limits=LIMITS, body=1 << 20)
    ) as running:
        yield running.url.replace("http", "ws") + "/v1/ws"


def _closing(connection: ClientConnection) -> int:
    with suppress(ConnectionClosed, TimeoutError):
        while True:
            connection.recv(10)
    return connection.close_code or 0


def test_a_few_thousand_messages_over_a_websocket_do_no_harm(url: str) -> None:
    tally, hostility = Tally(), Hostility(99)
    with connect(url, compression=None) as neighbour:
        neighbour.send(written(NumberedRequest(0, HelloRequest())))
        neighbour.recv(10)
        neighbour.send(written(NumberedRequest(1, ResetRequest(0, None))))
        neighbour.recv(10)
        number = 2
        while tally.sent < 3000:
            _attack_over_socket(url, hostility, tally)
            neighbour.send(written(NumberedRequest(number, ResetRequest(number, None))))
            assert b"CodecError" not in bytes(neighbour.recv(10))
            number += 1
    assert tally.kinds["CodecError"] > 500


def _attack_over_socket(url: str, hostility: Hostility, tally: Tally) -> None:
    plain = Compression()
    with connect(url, compression=None) as socket_:
        try:
            socket_.send(written(NumberedRequest(0, HelloRequest())))
            tally.take(bytes(socket_.recv(10)), plain)
            number, ends = 1, (1000,)  # it may be asked to close the session
            for _ in range(100):
                message = hostility.message(number)
                asked = _meaning(message, plain)
                socket_.send(message)
                tally.sent += 1
                if asked is not None and asked.number == 0 and isinstance(asked.request, CancelRequest):
                    continue
                tally.take(bytes(socket_.recv(10)), plain)
                number += asked is not None and asked.number == number
            ends = (1003, 1009)  # which may come before all of it is sent
            socket_.send(hostility.rng.choice(["text", b"\0" * ((1 << 20) + 1), "\0" * 5000]))
            assert _closing(socket_) in ends
        except ConnectionClosed:
            assert socket_.close_code in ends


def test_who_goes_on_sending_too_large_a_message_is_still_told_why(url: str) -> None:
    parts = urlsplit(url)
    announced = (1 << 20) + 1
    with socket.create_connection((parts.hostname, parts.port), 10) as raw:
        key = b64encode(bytes(16)).decode()
        raw.sendall(
            f"GET {parts.path or '/'} HTTP/1.1\r\nHost: {parts.netloc}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        answer = b""
        while b"\r\n\r\n" not in answer:
            answer += raw.recv(4096)
        assert answer.startswith(b"HTTP/1.1 101")
        raw.sendall(b"\x82\xff" + announced.to_bytes(8, "big") + bytes(4) + bytes(1000))
        assert raw.recv(2, socket.MSG_PEEK)  # it has decided
        for _ in range(20):
            raw.sendall(bytes(50_000))
        told = b""
        while some := raw.recv(4096):
            told += some
    assert told[0] == 0x88
    assert int.from_bytes(told[2:4], "big") == 1009


@pytest.mark.parametrize(("message", "code"), [("text", 1003), (bytes((1 << 20) + 1), 1009)])
def test_what_is_no_message_of_ours_closes_with_the_code_for_it(url: str, message: Any, code: int) -> None:
    with connect(url, compression=None) as connection:
        connection.send(written(NumberedRequest(0, HelloRequest())))
        connection.recv(10)
        connection.send(message)
        assert _closing(connection) == code
    with connect(url, compression=None) as connection:
        connection.send(message)
        assert _closing(connection) == code


def test_connections_that_are_refused_get_a_status_of_the_four_hundreds(url: str) -> None:
    for headers in ({"Origin": "http://evil.example"}, {"Host": "evil.example"}):
        with pytest.raises(InvalidStatus) as caught:
            connect(url, additional_headers=headers).close()
        assert caught.value.response.status_code in (400, 403, 421)


@pytest.mark.parametrize("requests", [150, pytest.param(100_000, marks=pytest.mark.full)])
def test_torn_requests_to_the_server_itself_do_no_harm(url: str, requests: int) -> None:
    rng, port = Random(5), int(url.split(":")[2].split("/")[0])
    key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
    upgrade = f"Upgrade: websocket\r\nConnection: Upgrade\r\n{key}"
    good = f"GET /v1/ws HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{upgrade}\r\n".encode()
    seen = Counter[str]()
    for _ in range(requests):
        torn = bytearray(good)
        for _ in range(rng.randint(1, 5)):
            torn[rng.randrange(len(torn))] = rng.randrange(256)
        with socket.create_connection(("127.0.0.1", port), 10) as raw:
            raw.sendall(bytes(torn) + rng.randbytes(rng.randint(0, 40)))
            raw.shutdown(socket.SHUT_WR)
            answer = b""
            with suppress(OSError):
                while part := raw.recv(4096):
                    answer += part
        seen[answer[9:12].decode("latin1")] += 1
    assert not any(status.startswith("5") for status in seen), seen
    assert seen.total() == requests
