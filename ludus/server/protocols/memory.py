"""The wire within one process: a server whose event loop runs in a thread, and connections that are two queues."""

import asyncio
import queue
from collections import deque
from collections.abc import Coroutine
from contextlib import suppress
from threading import Thread
from typing import TypeVar

import msgspec

from ludus.registry.resolution import Target
from ludus.server.access import Access, Principal
from ludus.server.config import ServerConfig
from ludus.server.connection import serve_connection
from ludus.server.served_env import ServedEnv
from ludus.server.server import Server

__all__ = ["LocalConnection", "LocalServer"]

T = TypeVar("T")
OWNER = Principal("orchestrator", "memory")


class LocalServer:
    """A server in this process. Calling it opens a connection, as a transport of `ludus.connect` does.

    >>> with LocalServer("CartPole-v1") as server:
    ...     connection = server()
    ...     connection.close()
    """

    def __init__(
        self, *targets: Target | ServedEnv, config: ServerConfig | None = None, access: Access | None = None
    ) -> None:
        own = config or ServerConfig()
        self.server = Server(targets, own if access is None else msgspec.structs.replace(own, access=access))
        self.loop = asyncio.new_event_loop()
        self._tasks: set[asyncio.Task[None]] = set()
        self._thread = Thread(target=self._run, name="ludus-local-server", daemon=True)
        self._thread.start()
        self.run(self.server.sessions.start())

    def _run(self) -> None:
        try:
            self.loop.run_forever()
        finally:
            self.loop.close()

    def run(self, work: Coroutine[object, object, T], seconds: float | None = 60.0) -> T:
        """Have a coroutine run by the server's event loop, and wait for it."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(seconds)

    def __call__(self, token: str = "") -> "LocalConnection":
        """A connection, by a client that has the token; AccessDenied where the server knows no such token."""
        access = self.server.access
        return self.connect(OWNER if access.open else access.principal(token))

    def connect(self, principal: Principal) -> "LocalConnection":
        """A connection by somebody."""
        link = LocalTransport()
        connection = LocalConnection(self.loop, link)

        def begin() -> None:
            task = self.loop.create_task(serve_connection(self.server, link, principal))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

        self.loop.call_soon_threadsafe(begin)
        return connection

    def close(self) -> None:
        """Close every session and connection, and end the thread; harmless twice."""
        if not self._thread.is_alive():
            return
        self.run(self._stop())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()

    async def _stop(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.server.sessions.stop()

    def __enter__(self) -> "LocalServer":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class LocalTransport:
    """The server's end of a connection; used by its event loop alone, but for `outgoing`."""

    direct = None
    """There is no socket that a thread could wait at."""

    def __init__(self) -> None:
        self.outgoing: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._incoming: deque[bytes] = deque()
        self._ended = False
        self._reader: asyncio.Future[None] | None = None

    def put(self, data: bytes | None) -> None:
        """A message from the client; None: its end."""
        if data is None:
            self._ended = True
        else:
            self._incoming.append(data)
        reader, self._reader = self._reader, None
        if reader is not None and not reader.done():
            reader.set_result(None)

    async def receive(self) -> bytes | None:
        """The next message; None at the end."""
        while not self._incoming:
            if self._ended:
                return None
            self._reader = asyncio.get_running_loop().create_future()
            await self._reader
        return self._incoming.popleft()

    async def send(self, data: bytes) -> None:
        """Hand a message over."""
        if self._ended:
            raise ConnectionResetError("the connection is closed")
        self.outgoing.put(data)

    async def close(self) -> None:
        """End the connection."""
        if not self._ended:
            self.put(None)
        self.outgoing.put(None)


class LocalConnection:
    """The client's end of a connection: a transport. One thread uses it at a time."""

    def __init__(self, loop: asyncio.AbstractEventLoop, link: LocalTransport) -> None:
        self._loop, self._link, self._over = loop, link, False

    def send(self, data: bytes) -> None:
        """Send a message."""
        if self._over:
            raise ConnectionError("the connection is closed")
        try:
            self._loop.call_soon_threadsafe(self._link.put, bytes(data))
        except RuntimeError as error:  # the loop is closed
            raise ConnectionError("the server is gone") from error

    def receive(self, seconds: float | None = None) -> bytes:
        """The next message; TimeoutError where none comes in time, ConnectionError at the end."""
        if self._over:
            raise ConnectionError("the connection is closed")
        try:
            message = self._link.outgoing.get(timeout=seconds)
        except queue.Empty:
            raise TimeoutError(f"expected a message within {seconds} seconds, got none") from None
        if message is None:
            self._over = True
            raise ConnectionError("the server ended the connection")
        return message

    def close(self) -> None:
        """End the connection, as one that is lost: the session goes on."""
        self._over = True
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._link.put, None)
