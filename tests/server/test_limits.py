"""Limits: config that are none, rates of connections, and memory of sessions."""

import asyncio
import gc
import tracemalloc
from collections.abc import Coroutine
from typing import Any

import pytest

from ludus.errors import InvalidArgument
from ludus.server.access import Principal
from ludus.server.config import ServerConfig
from ludus.server.connection import serve_connection
from ludus.server.rate import Bucket, Buckets
from ludus.server.server import Server
from ludus.wire.messages import (
    HelloRequest,
    NumberedRequest,
    ResetRequest,
    StepRequest,
    write_message,
)

OWNER = Principal("orchestrator", "me")


def run(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(work)


@pytest.mark.parametrize(
    "name",
    [
        "max_sessions",
        "sessions_per_token",
        "max_lanes",
        "max_snapshots",
        "queue_seconds",
        "idle_seconds",
        "rate",
        "body",
    ],
)
@pytest.mark.parametrize("value", [0, -1, None, "many", True, float("nan")])
def test_settings_are_checked(name: str, value: Any) -> None:
    with pytest.raises(InvalidArgument, match=f"config {name}: expected a number above 0, got"):
        ServerConfig(**{name: value})


@pytest.mark.parametrize("name", ["queue_seconds", "deadline"])
def test_timers_are_finite(name: str) -> None:
    with pytest.raises(InvalidArgument, match=f"config {name}: expected at most 1e\\+07 seconds, got inf"):
        ServerConfig(**{name: float("inf")})  # type: ignore[arg-type]


def test_a_bucket_lets_through_what_its_rate_allows() -> None:
    bucket = Bucket(10.0, now=0.0)
    assert [bucket.take(now=0.0) for _ in range(10)] == [0.0] * 10
    assert bucket.take(now=0.0) == pytest.approx(0.1)
    assert bucket.take(now=0.0) == pytest.approx(0.2)
    assert bucket.take(now=100.0) == 0.0
    passed, now = 0, 1000.0
    bucket = Bucket(50.0, now=now)
    for _ in range(1000):  # ten seconds of a hundred a second
        now += 0.01
        passed += bucket.refill(now) and bucket.take(now=now) == 0.0
    assert 540 <= passed <= 560


def test_peers_are_forgotten_when_there_are_too_many() -> None:
    buckets = Buckets(1.0, most=10)
    for number in range(100):
        assert buckets.admit(str(number)) == 0.0
    assert buckets.admit("99") > 0.0
    assert buckets.admit("5") == 0.0
    assert len(buckets._buckets) == 10  # pyright: ignore[reportPrivateUsage]


class Script:
    """A link that says what it is given, keeps what it hears, and ends when all is answered."""

    direct = None

    def __init__(self, *messages: Any) -> None:
        self.messages, self.heard, self.count = list(messages), list[bytes](), len(messages)

    async def receive(self) -> bytes | None:
        await asyncio.sleep(0)
        while not self.messages and len(self.heard) < self.count:
            await asyncio.sleep(0)
        return write_message(self.messages.pop(0)) if self.messages else None

    async def send(self, data: bytes) -> None:
        self.heard.append(data)

    async def close(self) -> None:
        pass


def test_a_connection_that_says_too_much_is_slowed_down_and_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    sleep = asyncio.sleep

    async def counted(seconds: float) -> None:
        if seconds:
            slept.append(seconds)
        await sleep(0)

    monkeypatch.setattr(asyncio, "sleep", counted)

    async def work() -> None:
        server = Server(["CartPole-v1"], ServerConfig(rate=5.0))
        script = Script(
            NumberedRequest(0, HelloRequest()),
            NumberedRequest(1, ResetRequest(0, None)),
            *(NumberedRequest(n, StepRequest(0)) for n in range(2, 12)),
        )
        await serve_connection(server, script, OWNER)
        assert len(script.heard) == 12
        assert len(slept) >= 5
        assert max(slept) <= 2.0
        await server.sessions.stop()

    run(work())


def test_a_session_takes_little_memory() -> None:
    async def work() -> None:
        server = Server(["CartPole-v1"])

        async def opened(count: int) -> None:
            for _ in range(count):
                session = await server.sessions.open("", OWNER)
                await session.call(lambda hosted: hosted.answer(ResetRequest(0, None)))

        await opened(20)
        gc.collect()
        tracemalloc.start()
        try:
            await opened(100)
            gc.collect()
            size = tracemalloc.get_traced_memory()[0]
        finally:
            tracemalloc.stop()
        assert size / 100 < 24_000
        await server.sessions.stop()

    run(work())
