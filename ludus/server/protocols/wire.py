"""The wire over WebSocket: binary messages at `/v1/ws`."""

from starlette.routing import BaseRoute, WebSocketRoute
from starlette.types import Receive, Scope, Send

from ludus.server.connection import serve_connection
from ludus.server.direct import DirectTransport
from ludus.server.quick_socket import EXTENSION
from ludus.server.server import Server

__all__ = ["routes"]

BINARY_ONLY_CODE = 1003
"""The code that says: binary messages only."""


class WebSocketTransport:
    """A WebSocket as a link: each binary message is one message. Plain ASGI, since every step comes through here."""

    def __init__(self, receive: Receive, send: Send, direct: DirectTransport | None = None) -> None:
        self._receive, self._send, self.direct = receive, send, direct
        self._over = False

    async def receive(self) -> bytes | None:
        """The next binary message; a text message ends the connection, since it cannot be one of ours."""
        if self._over:
            return None
        message = await self._receive()
        if message["type"] == "websocket.receive":
            data = message.get("bytes")
            if data is not None:
                return data
            await self.close(BINARY_ONLY_CODE)
        self._over = True
        return None

    async def send(self, data: bytes) -> None:
        """Send a binary message."""
        if self._over:
            raise ConnectionResetError("the connection is closed")
        try:
            await self._send({"type": "websocket.send", "bytes": data})
        except RuntimeError as error:  # the server's word for a message after the end
            self._over = True
            raise ConnectionResetError(str(error)) from error

    async def close(self, code: int = 1000) -> None:
        """Close it, if it is open."""
        if self._over:
            return
        self._over = True
        try:
            await self._send({"type": "websocket.close", "code": code})
        except RuntimeError as error:
            raise ConnectionResetError(str(error)) from error


class WireEndpoint:
    """The endpoint, as an ASGI application."""

    def __init__(self, server: Server) -> None:
        self._server = server

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Accept, and serve_connection."""
        message = await receive()
        if message["type"] == "websocket.connect":
            await send({"type": "websocket.accept"})
            link = WebSocketTransport(receive, send, scope.get("extensions", {}).get(EXTENSION))
            await serve_connection(self._server, link, scope["state"]["principal"])


def routes(server: Server) -> list[BaseRoute]:
    """`/v1/ws`."""
    return [WebSocketRoute("/v1/ws", WireEndpoint(server))]
