"""`Peers`: the workers of one server as each of them sees the others, and plain HTTP between them."""

import asyncio
from collections.abc import AsyncGenerator, Iterable, Sequence
from time import monotonic
from typing import NamedTuple

import httptools

from ludus.errors import SessionLost
from ludus.server.session_counts import SessionCounts

__all__ = ["ResponseHead", "Peers", "worker_of"]

IDLE_CONNECTION_S = 30.0
"""Seconds after which an idle connection is not used again; the other end closes it later than that."""
MAX_IDLE_CONNECTIONS = 64
CHUNK_BYTES = 1 << 16
MAX_NUMBER_CHARS = 4
COUNTED = {"opened": 1, "closed": -1}
Headers = Iterable[tuple[bytes, bytes]]


class ResponseHead(NamedTuple):
    """The first part of an answer; its body follows."""

    status: int
    headers: list[tuple[bytes, bytes]]


def worker_of(session: str) -> int | None:
    """The number of the worker that holds a session.

    >>> worker_of("3.b2xk"), worker_of("b2xk")
    (3, None)
    """
    number, dot, _ = session.partition(".")
    return int(number) if dot and len(number) <= MAX_NUMBER_CHARS and number.isascii() and number.isdigit() else None


class Peers:
    """Worker `number` of those that listen at `paths`, in the order of their numbers."""

    def __init__(self, number: int, paths: Sequence[str], session_counts: SessionCounts | None = None) -> None:
        self.number, self.paths, self.session_counts = number, tuple(paths), session_counts
        self._idle: dict[int, list[tuple[PeerConnection, float]]] = {}

    @property
    def others(self) -> list[int]:
        """The numbers of the others."""
        return [one for one in range(len(self.paths)) if one != self.number]

    def holder(self, session: str) -> int | None:
        """Which other worker holds a session; None: this one, or none at all."""
        number = worker_of(session)
        return number if number is not None and number != self.number and number < len(self.paths) else None

    def least_loaded(self) -> int | None:
        """Another worker that has a place for a new session, where this one has none."""
        if self.session_counts is None or not self.session_counts.is_full(self.number):
            return None
        return self.session_counts.roomiest()

    def hear(self, event: str, fields: dict[str, object]) -> None:
        """What happened to a session of this worker: it holds one more, or one less."""
        del fields
        if self.session_counts is not None and event in COUNTED:
            self.session_counts.add(self.number, COUNTED[event])

    async def ask(
        self, number: int, method: str, target: bytes, headers: Headers = (), body: bytes = b""
    ) -> AsyncGenerator[ResponseHead | bytes]:
        """Send a request to a worker; its head comes first, then its body in parts.

        SessionLost where the worker ends meanwhile: what it held is gone. Nothing is ever sent twice.
        """
        connection = await self._connection(number)
        whole = False
        try:
            async for part in connection.ask(method, target, headers, body):
                yield part
            whole = True
        except (OSError, httptools.HttpParserError) as error:
            raise lost(number) from error
        finally:
            if whole and connection.reusable:
                self._idle.setdefault(number, []).append((connection, monotonic()))
            else:
                connection.close()

    async def whole(self, number: int, target: bytes, headers: Headers = ()) -> tuple[int, bytes]:
        """GET from a worker: status and body."""
        status, body = 0, bytearray()
        async for part in self.ask(number, "GET", target, headers):
            if isinstance(part, ResponseHead):
                status = part.status
            else:
                body += part
        return status, bytes(body)

    async def _connection(self, number: int) -> "PeerConnection":
        idle = self._idle.get(number, [])
        while idle:
            connection, since = idle.pop()
            if monotonic() - since < IDLE_CONNECTION_S and connection.reusable and len(idle) < MAX_IDLE_CONNECTIONS:
                return connection
            connection.close()
        try:
            return PeerConnection(*await asyncio.open_unix_connection(self.paths[number]))
        except OSError as error:
            raise lost(number) from error

    def close(self) -> None:
        """Close what is idle."""
        for idle in self._idle.values():
            for connection, _ in idle:
                connection.close()
        self._idle.clear()


def lost(number: int) -> SessionLost:
    """What is said of the sessions of a worker that ended."""
    return SessionLost(f"session: expected its worker {number} to answer, got its end; sessions ended with the process")


class PeerConnection:
    """A connection to a worker that carries one request after another."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._kept = True

    @property
    def reusable(self) -> bool:
        """Whether it may carry another request."""
        return self._kept and not self._reader.at_eof() and not self._writer.is_closing()

    def close(self) -> None:
        """Close it."""
        self._writer.close()

    async def ask(
        self, method: str, target: bytes, headers: Headers, body: bytes
    ) -> AsyncGenerator[ResponseHead | bytes]:
        """One request, and the parts of its answer as they come."""
        lines = [b"%b %b HTTP/1.1" % (method.encode(), target), *(b"%b: %b" % one for one in headers)]
        lines.append(b"content-length: %d" % len(body))
        self._writer.write(b"\r\n".join([*lines, b"", body]))
        await self._writer.drain()
        answer = PeerAnswer(headless=method == "HEAD")
        parser = httptools.HttpResponseParser(answer)
        answer.parser = parser
        while not answer.complete:
            data = await self._reader.read(CHUNK_BYTES)
            if not data:
                raise ConnectionResetError("the worker closed the connection")
            parser.feed_data(data)
            for part in answer.taken():
                yield part
        self._kept = answer.kept and not answer.headless


class PeerAnswer:
    """What httptools calls while it reads an answer."""

    def __init__(self, *, headless: bool) -> None:
        self.headless = headless
        """Whether no body follows, whatever the headers say."""
        self.parser: httptools.HttpResponseParser | None = None
        self.complete, self.kept = False, False
        self._headers: list[tuple[bytes, bytes]] = []
        self._parts: list[ResponseHead | bytes] = []

    def taken(self) -> list[ResponseHead | bytes]:
        """What came since the last time."""
        parts, self._parts = self._parts, []
        return parts

    def on_header(self, name: bytes, value: bytes) -> None:
        """One line."""
        self._headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        """The head."""
        status = 0 if self.parser is None else self.parser.get_status_code()
        self._parts.append(ResponseHead(status, self._headers))
        self.complete = self.headless

    def on_body(self, body: bytes) -> None:
        """Some of the body."""
        self._parts.append(body)

    def on_message_complete(self) -> None:
        """The end."""
        self.complete = True
        self.kept = self.parser is not None and self.parser.should_keep_alive()
