"""The engine: uvicorn as we run it. It is told when to stop by a word, never by a signal of its own."""

import asyncio
import socket
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Literal

import uvicorn
from starlette.types import ASGIApp

from ludus.errors import ServiceError
from ludus.server.config import ServerConfig
from ludus.server.http_limits import Config, Connections, LimitedHttp
from ludus.server.listen_config import BACKLOG
from ludus.server.quick_socket import QuickSocket

__all__ = ["UvicornServer", "uvicorn_config"]

STOP_TIMEOUT_S = 5
"""Seconds for what is under way when a server stops."""
PING_INTERVAL_S = 20.0
KEEPALIVE_S = 75
"""Seconds that an idle connection is kept for."""


class UvicornServer(uvicorn.Server):
    """One application on sockets that are bound already; `stop` may come from any thread."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], object] = lambda: None) -> None:
        super().__init__(config)
        self._ready = ready
        self._loop: asyncio.AbstractEventLoop | None = None
        self._told = asyncio.Event()

    def stop(self) -> None:
        """Close every connection, then every session, and end."""
        self.should_exit = True
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._told.set)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """As uvicorn's; then say that it is ready. What the application could not do is raised, where uvicorn exits."""
        self._loop = asyncio.get_running_loop()
        try:
            await super().startup(sockets)
        except SystemExit:
            state: object = getattr(self.config.app, "state", None)
            raise getattr(state, "failure", None) or ServiceError(
                "serve: expected an application that begins"
            ) from None
        self._ready()

    async def main_loop(self) -> None:
        """Wait to be told, instead of looking ten times a second; the clock of the `Date` header goes on."""
        while not await self.on_tick(0):
            try:
                await asyncio.wait_for(self._told.wait(), 1.0)
            except TimeoutError:
                continue

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Leave signals alone: whoever runs us has them."""
        yield


def uvicorn_config(
    app: ASGIApp,
    config: ServerConfig,
    *,
    lifespan: Literal["on", "off"] = "on",
    proxy_headers: bool = False,
    forwarded_allow_ips: str | None = None,
) -> Config:
    """How uvicorn is set up: the quickest of its parts, our limits, nothing about itself in headers, no log of it."""
    found = Config(
        app,
        loop="uvloop",
        http=LimitedHttp,
        ws=QuickSocket,
        interface="asgi3",
        lifespan=lifespan,
        log_config=None,
        log_level="critical",
        access_log=False,
        server_header=False,
        proxy_headers=proxy_headers,
        forwarded_allow_ips=forwarded_allow_ips,
        backlog=BACKLOG,
        ws_max_size=config.body,
        ws_ping_interval=PING_INTERVAL_S,
        ws_ping_timeout=PING_INTERVAL_S,
        ws_per_message_deflate=False,
        timeout_keep_alive=KEEPALIVE_S,
        timeout_graceful_shutdown=STOP_TIMEOUT_S,
        ssl_certfile=config.listen.tls_cert,
        ssl_keyfile=config.listen.tls_key,
    )
    found.connections = Connections()
    return found
