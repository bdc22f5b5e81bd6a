"""What goes from one worker to another: the parts of a request, and WebSockets that belong there, carried both ways."""

import asyncio
from collections.abc import Iterable
from contextlib import suppress

from starlette.types import Receive, Scope, Send
from websockets.asyncio.client import ClientConnection, unix_connect
from websockets.exceptions import ConnectionClosed, WebSocketException

__all__ = ["passed_headers", "relay_socket", "target"]

OPEN_TIMEOUT_S = 10.0
RESTARTED_CODE = 1012
"""The close code that says: the process ended, connect anew."""
CODES = {None: RESTARTED_CODE, 1006: RESTARTED_CODE, 1005: 1000}
"""Those that are only shown and never sent: an end without a word is that of a process."""
OWN = (b"host", b"origin", b"user-agent")
HOP = {b"connection", b"keep-alive", b"transfer-encoding", b"content-length", b"upgrade", b"te", b"trailer", b"expect"}
FORWARDED = {b"x-forwarded-for", b"x-forwarded-proto", b"forwarded"}


def passed_headers(scope: Scope, without: Iterable[bytes] = ()) -> list[tuple[bytes, bytes]]:
    """The headers that go to another worker, with the caller's address as ours saw it."""
    dropped = {*HOP, *FORWARDED, *without}
    client: tuple[str, int] | None = scope.get("client")
    kept = [one for one in scope["headers"] if one[0] not in dropped]
    if client is not None:
        kept.append((b"x-forwarded-for", client[0].encode()))
    kept.append((b"x-forwarded-proto", scope["scheme"].encode()))
    return kept


def target(scope: Scope) -> bytes:
    """Path and query, as they came."""
    path: bytes = scope.get("raw_path") or scope["path"].encode()
    query: bytes = scope.get("query_string", b"")
    return path + b"?" + query if query else path


async def relay_socket(
    path: str, scope: Scope, receive: Receive, send: Send, *, most: int, first: bytes | None = None
) -> None:
    """Carry a WebSocket to the worker at `path`. With `first` it was accepted already, and that was its message."""
    if first is None:
        await receive()
    try:
        other = await _connected(path, scope, most)
    except (OSError, WebSocketException, TimeoutError):
        await send({"type": "websocket.close", "code": RESTARTED_CODE, "reason": "the worker of this session ended"})
        return
    async with other:
        with suppress(ConnectionClosed):
            await _begin(other, send, first)
            await _carry(other, receive, send)
    with suppress(RuntimeError):
        code = CODES.get(other.close_code, other.close_code)
        await send({"type": "websocket.close", "code": code, "reason": other.close_reason or ""})


async def _connected(path: str, scope: Scope, most: int) -> ClientConnection:
    headers = {name: value.decode("latin1") for name, value in scope["headers"]}
    given = [
        (name.decode("latin1"), value.decode("latin1"))
        for name, value in passed_headers(scope, OWN)
        if not name.startswith(b"sec-websocket")
    ]
    options: dict[str, object] = {
        "compression": None,
        "max_size": most,
        "ping_interval": None,
        "open_timeout": OPEN_TIMEOUT_S,
    }
    return await unix_connect(
        path,
        f"ws://{headers.get(b'host', 'localhost')}{target(scope).decode('latin1')}",
        origin=headers.get(b"origin"),
        additional_headers=given,
        subprotocols=scope.get("subprotocols") or None,
        user_agent_header=headers.get(b"user-agent"),
        **options,
    )


async def _begin(other: ClientConnection, send: Send, first: bytes | None) -> None:
    if first is None:
        await send({"type": "websocket.accept", "subprotocol": other.subprotocol})
    else:
        await other.send(first)


async def _carry(other: ClientConnection, receive: Receive, send: Send) -> None:
    """Until either side ends."""
    ways = [asyncio.ensure_future(_there(other, receive)), asyncio.ensure_future(_back(other, send))]
    try:
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for way in ways:
            way.cancel()
        await asyncio.gather(*ways, return_exceptions=True)


async def _there(other: ClientConnection, receive: Receive) -> None:
    while True:
        message = await receive()
        if message["type"] != "websocket.receive":
            return
        data = message.get("bytes")
        await other.send(message["text"] if data is None else data)


async def _back(other: ClientConnection, send: Send) -> None:
    async for data in other:
        part = {"text": data} if isinstance(data, str) else {"bytes": data}
        await send({"type": "websocket.send", **part})
