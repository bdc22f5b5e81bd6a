"""A connection of asyncio: one timer for all of its messages, and one time for each, however it comes."""

import asyncio
from typing import Any

import pytest

from ludus.client.async_transport import StreamProtocol
from ludus.client.framing import Lengths
from ludus.client.transport import FIRST_CHUNK, LARGEST_CHUNK


class Wire:
    """A transport that keeps what is written."""

    def __init__(self) -> None:
        self.sent = b""
        self.closed = False

    def write(self, data: bytes) -> None:
        self.sent += data

    def is_closing(self) -> bool:
        return self.closed

    def close(self) -> None:
        self.closed = True


def opened() -> tuple[StreamProtocol, Any]:
    stream, wire = StreamProtocol(Lengths(1 << 24)), Wire()
    stream.connection_made(wire)  # type: ignore[arg-type]
    return stream, wire


def receive(stream: StreamProtocol, data: bytes) -> None:
    """As asyncio does it."""
    while data:
        buffer = stream.get_buffer(-1)
        part, data = data[: len(buffer)], data[len(buffer) :]
        buffer[: len(part)] = part
        stream.buffer_updated(len(part))


def framed(message: bytes) -> bytes:
    return Lengths(1 << 24).wrap(message)


def test_many_messages_have_one_timer(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> int:
        stream, _ = opened()
        loop, timers = asyncio.get_running_loop(), list[float]()
        set_timer: Any = loop.call_at
        monkeypatch.setattr(loop, "call_at", lambda when, *do: timers.append(when) or set_timer(when, *do))
        for number in range(20):
            waiting = asyncio.ensure_future(stream.message(30.0))
            await asyncio.sleep(0)
            receive(stream, framed(b"%d" % number))
            assert await waiting == b"%d" % number
        stream.close()
        return len(timers)

    assert asyncio.run(main()) == 1


def test_a_message_that_comes_byte_by_byte_has_no_more_time_than_one_that_does_not_come() -> None:
    async def main() -> None:
        stream, _ = opened()
        whole = iter(framed(bytes(1000)))
        loop = asyncio.get_running_loop()

        def drip() -> None:
            receive(stream, bytes([next(whole)]))
            loop.call_later(0.005, drip)

        drip()
        with pytest.raises(TimeoutError):  # in five seconds all of it would be there
            await stream.message(0.05)
        stream.close()

    asyncio.run(main())


def test_a_shorter_time_after_a_longer_one_is_kept_and_the_connection_stays() -> None:
    async def main() -> None:
        stream, _ = opened()
        receive(stream, framed(b"one"))
        assert await stream.message(60.0) == b"one"
        long = asyncio.ensure_future(stream.message(60.0))
        await asyncio.sleep(0)
        receive(stream, framed(b"two"))
        assert await long == b"two"
        with pytest.raises(TimeoutError):
            await stream.message(0.01)
        receive(stream, framed(b"three"))
        assert await stream.message(0.01) == b"three"
        stream.close()

    asyncio.run(main())


def test_the_buffer_grows_with_what_comes_and_no_further_than_it_may() -> None:
    async def main() -> None:
        stream, _ = opened()
        assert len(stream.get_buffer(-1)) == FIRST_CHUNK
        message = bytes(range(256)) * 8192
        receive(stream, framed(message))
        assert await stream.message(1.0) == message
        assert FIRST_CHUNK < len(stream.get_buffer(-1)) <= LARGEST_CHUNK
        stream.close()

    asyncio.run(main())


def test_whoever_waits_when_the_connection_ends_is_told() -> None:
    async def main() -> None:
        stream, wire = opened()
        waiting = asyncio.ensure_future(stream.message(60.0))
        await asyncio.sleep(0)
        wire.closed = True
        stream.connection_lost(None)
        with pytest.raises(ConnectionResetError):
            await waiting
        with pytest.raises(ConnectionResetError):
            stream.write(b"more")

    asyncio.run(main())
