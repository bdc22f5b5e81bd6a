"""Lines of asyncio: the same framings over its streams, and somebody else's transport in a thread."""

import asyncio
from collections.abc import Awaitable
from contextlib import suppress
from math import inf
from typing import cast

from ludus.client.access import ServerAccess
from ludus.client.flow import Opener
from ludus.client.framing import Framing
from ludus.client.transport import FIRST_CHUNK, LARGEST_CHUNK, CustomTransport

__all__ = ["AsyncSocketTransport", "AsyncCustomTransport"]


class StreamProtocol(asyncio.BufferedProtocol):
    """A connection whose bytes are taken apart as they come, so that a server that asks whether we live is answered."""

    _transport: asyncio.Transport

    def __init__(self, framing: Framing) -> None:
        self.framing = framing
        self._loop = asyncio.get_running_loop()
        self._error: OSError | None = None
        self._waiting: asyncio.Future[None] | None = None
        self._ends = inf
        self._timer: asyncio.TimerHandle | None = None
        """One for many messages: it looks whether the one that is waited for now is late, and goes on."""
        self._buffer = memoryview(bytearray(FIRST_CHUNK))
        """Without one of its own, asyncio makes and frees 256 KiB for each message."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        self._transport = cast("asyncio.Transport", transport)  # a connection has one that writes
        self.write(self.framing.begin())

    def get_buffer(self, sizehint: int) -> memoryview:
        """Where to put what comes."""
        del sizehint
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        """Take what came, and answer what has to be."""
        framing = self.framing
        try:
            framing.feed(bytes(self._buffer[:nbytes]))
        except OSError as error:
            self._error = error
        if nbytes == len(self._buffer) < LARGEST_CHUNK:
            self._buffer = memoryview(bytearray(4 * nbytes))
        due = framing.due()
        if due:
            self.write(due)
        waiting = self._waiting
        if waiting is not None:
            self._waiting = None
            if not waiting.done():
                waiting.set_result(None)

    def connection_lost(self, exc: Exception | None) -> None:
        """It is over; what is left of a message tells why, if it does."""
        try:
            self.framing.feed(b"")
        except OSError as error:
            self._error = self._error or error
        self._error = self._error or ConnectionResetError(f"the server ended the connection{f': {exc}' if exc else ''}")
        if self._timer is not None:
            self._timer.cancel()
        self._wake(None)

    def write(self, data: bytes) -> None:
        """Send bytes; ConnectionError where there is nobody to send them to."""
        if data:
            if self._transport.is_closing():
                raise self._error or ConnectionResetError("there is no connection")
            self._transport.write(data)

    async def message(self, seconds: float) -> bytes:
        """The next message, within so many seconds; the error that ended the connection."""
        framing = self.framing
        message = framing.next()
        if message is None:
            ends = self._loop.time() + seconds
            while message is None:
                await self.more(ends)
                message = framing.next()
        return message

    def more(self, ends: float = inf) -> "asyncio.Future[None]":
        """What is done once something came; TimeoutError where that is later than at a time of the event loop's."""
        if self._error is not None:
            raise self._error
        self._waiting = waiting = self._loop.create_future()
        self._ends = ends
        if ends < (inf if self._timer is None else self._timer.when()):
            self._set_timer(ends)
        return waiting

    def _set_timer(self, when: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_at(when, self._check)

    def _check(self) -> None:
        """Whoever waits for too long is told, and the connection stays as it is."""
        self._timer = None
        if self._waiting is None or self._ends == inf:
            return
        if self._loop.time() < self._ends:
            self._set_timer(self._ends)
        else:
            self._wake(TimeoutError("timed out"))

    def _wake(self, error: Exception | None) -> None:
        waiting, self._waiting = self._waiting, None
        if waiting is None or waiting.done():
            return
        if error is None:
            waiting.set_result(None)
        else:
            waiting.set_exception(error)

    def close(self) -> None:
        """Send what is to be sent, and close."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._transport.close()


class AsyncSocketTransport:
    """A line over TCP, TLS or a Unix socket, on the event loop that it is used on."""

    def __init__(self, access: ServerAccess) -> None:
        self.access = access
        self._stream: StreamProtocol | None = None

    async def open(self, path: str, text: bool, seconds: float) -> None:
        """Connect, and see the handshake through."""
        await self.close()
        framings = self.access.framings(path, text)
        async with asyncio.timeout(seconds):
            for place, make in enumerate(framings, start=1):
                try:
                    await self._begin(make(), seconds)
                except (ConnectionResetError, BrokenPipeError):
                    if place == len(framings):
                        raise
                else:
                    return

    async def _begin(self, framing: Framing, seconds: float) -> None:
        """Names are looked up, and connections made, in a thread; TLS is asyncio's."""
        link = await asyncio.to_thread(self.access.link, seconds)
        link.setblocking(False)
        try:
            context = self.access.context()
            host = None if context is None else self.access.address.host
            _, stream = await asyncio.get_running_loop().create_connection(
                lambda: StreamProtocol(framing), sock=link, ssl=context, server_hostname=host
            )
        except BaseException:
            link.close()
            raise
        self._stream = stream
        try:
            while not framing.ready:
                await stream.more()
        except BaseException:
            self.drop()
            raise
        self.access.spoken(framing)

    def exchange(self, data: bytes, seconds: float) -> Awaitable[bytes]:
        """Send a message, and wait for the next one."""
        stream = self._opened()
        stream.write(stream.framing.wrap(data))
        return stream.message(seconds)

    async def send(self, data: bytes) -> None:
        """Send a message."""
        stream = self._opened()
        stream.write(stream.framing.wrap(data))

    def receive(self, seconds: float) -> Awaitable[bytes]:
        """The next message, within so many seconds."""
        return self._opened().message(seconds)

    def _opened(self) -> StreamProtocol:
        if self._stream is None:
            raise ConnectionResetError("there is no connection")
        return self._stream

    async def fetch(self, method: str, path: str, body: bytes | None, seconds: float) -> tuple[int, bytes]:
        """Status and body of an HTTP request, in a thread, over a connection of its own."""
        return await asyncio.to_thread(self.access.fetch, method, path, body, seconds)

    async def pause(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)

    async def close(self) -> None:
        """Say goodbye, and close; harmless twice."""
        stream = self._stream
        if stream is not None:
            with suppress(OSError):
                stream.write(stream.framing.farewell())
            self.drop()
            await asyncio.sleep(0)

    def drop(self) -> None:
        """Close it without waiting; harmless twice."""
        stream, self._stream = self._stream, None
        if stream is not None:
            stream.close()


class AsyncCustomTransport:
    """A line over a transport that blocks: every call is made in a thread."""

    def __init__(self, opener: Opener) -> None:
        self._line = CustomTransport(opener)

    def open(self, path: str, text: bool, seconds: float) -> Awaitable[None]:
        """Open a transport, in place of the one that there was."""
        return asyncio.to_thread(self._line.open, path, text, seconds)

    def exchange(self, data: bytes, seconds: float) -> Awaitable[bytes]:
        """Send a message, and wait for the next one."""
        return asyncio.to_thread(self._line.exchange, data, seconds)

    def send(self, data: bytes) -> Awaitable[None]:
        """Send a message."""
        return asyncio.to_thread(self._line.send, data)

    def receive(self, seconds: float) -> Awaitable[bytes]:
        """The next message."""
        return asyncio.to_thread(self._line.receive, seconds)

    def fetch(self, method: str, path: str, body: bytes | None, seconds: float) -> Awaitable[tuple[int, bytes]]:
        """Refused, as by the line that it stands for."""
        return asyncio.to_thread(self._line.fetch, method, path, body, seconds)

    def pause(self, seconds: float) -> Awaitable[None]:
        """Wait."""
        return asyncio.sleep(seconds)

    def close(self) -> Awaitable[None]:
        """Close the transport; harmless twice."""
        return asyncio.to_thread(self._line.close)

    def drop(self) -> None:
        """Close it from wherever."""
        self._line.close()
