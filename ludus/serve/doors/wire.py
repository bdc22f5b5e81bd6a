"""The wire over WebSocket: binary messages at `/v1/ws`."""

from typing import Any

from starlette.routing import BaseRoute, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketState

from ludus.serve.conversation import converse
from ludus.serve.server import Server

__all__ = ["routes"]


class WebSocketLink:
    """A WebSocket as a link: each binary message is one message."""

    def __init__(self, socket: WebSocket) -> None:
        self._socket = socket

    async def receive(self) -> bytes | None:
        """The next binary message; a text message ends the connection, since it cannot be one of ours."""
        message: Any = await self._socket.receive()
        return message.get("bytes") if message["type"] == "websocket.receive" else None

    async def send(self, data: bytes) -> None:
        """Send a binary message."""
        if self._socket.application_state is not WebSocketState.CONNECTED:
            raise ConnectionResetError("the connection is closed")
        try:
            await self._socket.send({"type": "websocket.send", "bytes": data})
        except RuntimeError as error:
            raise ConnectionResetError(str(error)) from error

    async def close(self) -> None:
        """Close it, if it is open."""
        if self._socket.application_state is WebSocketState.CONNECTED:
            await self._socket.close()


def routes(server: Server) -> list[BaseRoute]:
    """`/v1/ws`."""

    async def endpoint(socket: WebSocket) -> None:
        await socket.accept()
        link = WebSocketLink(socket)
        await converse(server, link, socket.state.principal)
        await link.close()

    return [WebSocketRoute("/v1/ws", endpoint)]
