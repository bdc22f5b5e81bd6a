"""The wire over a Unix socket."""

import asyncio
import socket
import stat
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest

from ludus.errors import InvalidArgument
from ludus.server.config import ServerConfig
from ludus.server.protocols.unix import serve_unix
from ludus.server.server import Server
from ludus.wire import FrameLimits
from ludus.wire.dialogue import WINDOW_REQUESTS
from ludus.wire.frame import HEADER
from ludus.wire.messages import (
    HelloRequest,
    NumberedRequest,
    ResetReply,
    ResetRequest,
    StepReply,
    StepRequest,
    WelcomeReply,
    read_answered,
    write_message,
)
from tests.patience import PATIENCE_S
from tests.server.wired_worlds import Gate

LIMITS = FrameLimits()


def run(work: Coroutine[Any, Any, None]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(5 * PATIENCE_S):
            await work

    asyncio.run(bounded())


class Line:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def ask(self, number: int, request: Any) -> Any:
        self.post(number, request)
        return await self.read()

    def post(self, number: int, request: Any) -> None:
        data = write_message(NumberedRequest(number, request))
        self.writer.write(HEADER.pack(len(data)) + data)

    async def read(self) -> Any:
        (length,) = HEADER.unpack(await self.reader.readexactly(4))
        return read_answered(await self.reader.readexactly(length), LIMITS).reply

    async def close(self) -> None:
        self.writer.close()
        await self.writer.wait_closed()


async def line(path: Path) -> Line:
    return Line(*await asyncio.open_unix_connection(path))


def test_a_session_over_a_unix_socket(tmp_path: Path) -> None:
    async def work() -> None:
        server, path = Server(["CartPole-v1"]), tmp_path / "door"
        async with await serve_unix(server, path):
            me = "a client"
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
            first = await line(path)
            welcome = await first.ask(0, HelloRequest(client=me))
            assert type(welcome) is WelcomeReply
            assert welcome.role == "orchestrator"
            assert type(await first.ask(1, ResetRequest(0, None))) is ResetReply
            await first.close()
            again = await line(path)
            assert (await again.ask(0, HelloRequest(session=welcome.session, client=me))).last == 1
            assert type(await again.ask(2, StepRequest(0))) is StepReply
            await again.close()
        assert not path.exists()
        await server.sessions.stop()

    run(work())


def test_frames_come_in_any_pieces_and_many_at_once(tmp_path: Path) -> None:
    async def work() -> None:
        server, path = Server([Gate], ServerConfig(rate=1e9)), tmp_path / "door"
        async with await serve_unix(server, path):
            caller = await line(path)
            for byte in HEADER.pack(4) + b"\x92\x00\x91\x14":
                caller.writer.write(bytes([byte]))
                await caller.writer.drain()
            assert type(await caller.read()) is WelcomeReply
            caller.post(1, ResetRequest(0, None))
            assert type(await caller.read()) is ResetReply
            for first in range(2, 5 * WINDOW_REQUESTS, WINDOW_REQUESTS):
                for number in range(first, first + WINDOW_REQUESTS):
                    caller.post(number, StepRequest(0))
                assert {type(await caller.read()) for _ in range(WINDOW_REQUESTS)} == {StepReply}
            await caller.close()
        await server.sessions.stop()

    run(work())


@pytest.mark.parametrize("data", [b"\xff\xff\xff\xff", b"\0\0\0\0", b"\x00\x10\x00\x01", b"\0\0\0\4abc"])
def test_what_is_no_frame_ends_the_connection_and_nothing_else(tmp_path: Path, data: bytes) -> None:
    async def work() -> None:
        config = ServerConfig(limits=FrameLimits(size=1 << 20))
        server, path = Server(["CartPole-v1"], config), tmp_path / "door"
        async with await serve_unix(server, path):
            neighbour, caller = await line(path), await line(path)
            await neighbour.ask(0, HelloRequest())
            caller.writer.write(data)
            if len(data) > 4:
                caller.writer.write_eof()
            with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
                await caller.read()
            await caller.close()
            assert type(await neighbour.ask(1, ResetRequest(0, None))) is ResetReply
            await neighbour.close()
        await server.sessions.stop()

    run(work())


def test_closing_ends_the_connections(tmp_path: Path) -> None:
    async def work() -> None:
        server, path = Server(["CartPole-v1"]), tmp_path / "door"
        listening = await serve_unix(server, path)
        caller = await line(path)
        await caller.ask(0, HelloRequest())
        await listening.close()
        await listening.close()
        assert await caller.reader.read() == b""
        await caller.close()
        assert len(server.sessions.infos()) == 1  # the session goes on
        await server.sessions.stop()

    run(work())


def test_a_path_is_taken_only_where_nobody_serves_it(tmp_path: Path) -> None:
    async def work() -> None:
        server, path = Server(["CartPole-v1"]), tmp_path / "door"
        left = socket.socket(socket.AF_UNIX)
        left.bind(str(path))
        left.close()
        listening = await serve_unix(server, path)  # one that nobody listens at is replaced
        with pytest.raises(InvalidArgument, match="expected a path that is free"):
            await serve_unix(server, path)
        await listening.close()
        path.write_text("a file")
        with pytest.raises(InvalidArgument, match="expected a path that is free"):
            await serve_unix(server, path)
        assert path.read_text() == "a file"
        for bad in (tmp_path / "nowhere" / "door", tmp_path / ("x" * 200)):
            with pytest.raises(InvalidArgument, match="expected a path that can be bound"):
                await serve_unix(server, bad)

    run(work())


def test_a_client_that_does_not_read_is_waited_for_and_holds_nobody_up(tmp_path: Path) -> None:
    async def work() -> None:
        server, path = Server([Gate], ServerConfig(rate=1e9)), tmp_path / "door"
        async with await serve_unix(server, path):
            deaf, caller = await line(path), await line(path)
            await deaf.ask(0, HelloRequest(lanes=4096))
            await caller.ask(0, HelloRequest())
            for number in range(1, 60):
                deaf.post(number, ResetRequest(0, None))  # refused, but answered
            assert type(await caller.ask(1, ResetRequest(0, None))) is ResetReply
            await deaf.close()
            await caller.close()
        await server.sessions.stop()

    run(work())
