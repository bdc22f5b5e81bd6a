"""The wire over a Unix socket: frames of four bytes of length, for programs of one user on one machine."""

import asyncio
import os
import socket
import stat
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import cast

from ludus.errors import CodecError, InvalidArgument
from ludus.server.access import Principal
from ludus.server.connection import serve_connection
from ludus.server.direct import DirectProtocol, DirectSocket, Piece
from ludus.server.server import Server
from ludus.wire.frame import HEADER, FrameLimits, payload_length

__all__ = ["UnixServer", "serve_unix"]

OWNER = Principal("orchestrator", "unix")
"""Whoever may open the socket, which is its owner alone."""
MAX_WAITING = 64
"""Messages that wait to be read; then the other side has to."""
BACKLOG = 128
BROKEN: Piece = (None, b"")
"""In place of a message: what came is none."""


class FrameTransport(DirectProtocol, asyncio.Protocol):
    """A stream as a link: takes frames apart as they come."""

    def __init__(self, server: Server, connected: "Callable[[FrameTransport], object]") -> None:
        self._limits: FrameLimits = server.config.limits
        self._connected = connected
        self._buffer = bytearray()
        self._messages: deque[bytes] = deque()
        self._ended = self._held = False
        self._reader: asyncio.Future[None] | None = None
        self._writable: asyncio.Future[None] | None = None

    # --- what asyncio calls ---

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        self.transport = cast("asyncio.Transport", transport)  # a connection has one that writes
        self._connected(self)

    def data_received(self, data: bytes) -> None:
        """Take the frames that are whole; one that announces too much ends the connection."""
        self._take(self._split(data))

    def _split(self, data: bytes) -> list[Piece]:
        """The messages that are whole; last, None where what follows cannot be read."""
        buffer, found = self._buffer, list[Piece]()
        buffer += data
        at = 0
        try:
            while len(buffer) - at >= HEADER.size:
                end = at + HEADER.size + payload_length(buffer[at : at + HEADER.size], self._limits)
                if end > len(buffer):
                    break
                found.append((bytes(buffer[at + HEADER.size : end]), b""))
                at = end
        except CodecError:
            found.append(BROKEN)
        del buffer[:at]
        return found

    def _take(self, pieces: Sequence[Piece]) -> None:
        for message, _ in pieces:
            if message is None:
                self._finish()
                self.transport.abort()
                return
            self._messages.append(message)
        if len(self._messages) > MAX_WAITING and not self._held:
            self._held = True
            self.transport.pause_reading()
        self._wake()

    def connection_lost(self, exc: Exception | None) -> None:
        """The other side is gone; a thread that reads the connection lets go of it."""
        del exc
        self._finish()
        self.after_direct(lambda: None)

    def pause_writing(self) -> None:
        """The other side does not read as fast as it is written to."""
        self._writable = asyncio.get_running_loop().create_future()

    def resume_writing(self) -> None:
        """It has read on."""
        waiting, self._writable = self._writable, None
        if waiting is not None and not waiting.done():
            waiting.set_result(None)

    def _finish(self) -> None:
        self._ended = True
        self._buffer.clear()
        self._wake()
        self.resume_writing()

    def _wake(self) -> None:
        reader, self._reader = self._reader, None
        if reader is not None and not reader.done():
            reader.set_result(None)

    # --- the link ---

    async def receive(self) -> bytes | None:
        """The next message; None at the end."""
        while not self._messages:
            if self._ended:
                return None
            self._reader = asyncio.get_running_loop().create_future()
            await self._reader
        message = self._messages.popleft()
        if self._held and not self._messages and not self._ended:
            self._held = False
            self.transport.resume_reading()
        return message

    async def send(self, data: bytes) -> None:
        """Send a message, and wait while the other side does not read."""
        if self._ended or self.transport.is_closing():
            raise ConnectionResetError("the connection is closed")
        self.transport.write(_framed(data))
        if self._writable is not None:
            await self._writable

    async def close(self) -> None:
        """End the connection, once what was written is sent."""
        self.after_direct(self.transport.close)

    # --- a thread that reads ---

    @property
    def direct(self) -> "FrameTransport":
        """A thread may read it."""
        return self

    def start_direct(self, recall: Callable[[], object]) -> DirectSocket | None:
        """Read and write it no more."""
        if self._ended or self._held or self._messages or self._writable is not None:
            return None
        copy = self.copy_socket(recall)
        return None if copy is None else DirectSocket(copy, self._split, _framed)

    def end_direct(self, pieces: Sequence[Piece], unsent: bytes) -> None:
        """Go on with it."""
        if self.drop_copy(unsent):
            self._take(pieces)
            if not self._held and not self.transport.is_closing():
                self.transport.resume_reading()
        self.run_afterwards()


def _framed(data: bytes) -> bytes:
    return HEADER.pack(len(data)) + data


class UnixServer:
    """A Unix socket that is listened at; `close` ends it and its connections, and removes the file."""

    def __init__(self, path: Path, listener: asyncio.Server, links: "dict[FrameTransport, asyncio.Task[None]]") -> None:
        self.path, self._listener, self._links = path, listener, links

    async def close(self) -> None:
        """Stop; harmless twice."""
        self._listener.close()
        self.path.unlink(missing_ok=True)
        for link in list(self._links):
            await link.close()
        if self._links:
            await asyncio.wait(list(self._links.values()))

    async def __aenter__(self) -> "UnixServer":
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()


async def serve_unix(server: Server, path: str | os.PathLike[str]) -> UnixServer:
    """Listen at a socket that its owner alone may open; whoever does has the orchestrator role."""
    where, loop = Path(path), asyncio.get_running_loop()
    links: dict[FrameTransport, asyncio.Task[None]] = {}

    def connected(link: FrameTransport) -> None:
        task = loop.create_task(serve_connection(server, link, OWNER))
        links[link] = task
        task.add_done_callback(lambda _: links.pop(link, None))

    listener = await loop.create_unix_server(
        lambda: FrameTransport(server, connected), sock=_bound(where), backlog=BACKLOG
    )
    return UnixServer(where, listener, links)


def _bound(path: Path) -> socket.socket:
    """The socket under its name, with its mode set before anybody can connect; one that nobody serves is replaced."""
    if path.exists():
        if not stat.S_ISSOCK(path.lstat().st_mode) or _answers(path):
            raise InvalidArgument(f"unix socket: expected a path that is free, got {path}")
        path.unlink()
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        made.bind(str(path))
        path.chmod(0o600)
        made.setblocking(False)
    except OSError as error:
        made.close()
        raise InvalidArgument(f"unix socket: expected a path that can be bound, got {path}: {error}") from error
    return made


def _answers(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as caller:
        caller.settimeout(1.0)
        try:
            caller.connect(str(path))
        except OSError:
            return False
        return True
