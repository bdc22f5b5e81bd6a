"""`WorkerProxy`: under several workers, what names a session goes to the worker that holds it, whoever accepted it."""

import asyncio

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ludus.errors import CodecError, SessionLost
from ludus.server.config import ServerConfig
from ludus.server.failures import status_of
from ludus.server.peers import Peers, ResponseHead
from ludus.server.session_names import named_by_cookies, named_in_body, named_outright
from ludus.server.sockets import passed_headers, relay_socket, target
from ludus.wire.messages import HelloRequest, read_asked

__all__ = ["WorkerProxy"]

WIRE = "/v1/ws"
"""Where the first message, not the address, names the session."""
HANDSHAKE_TIMEOUT_S = 30.0
"""Seconds for the hello."""
OPENING = ("/reset", "/mcp")
"""How the addresses end whose requests open a session, if they name none."""
WITHIN = "ludus.within"
"""In a scope: it comes from another worker."""
OWN = {b"connection", b"keep-alive", b"transfer-encoding", b"date"}


class WorkerProxy:
    """Passes a request or WebSocket on to the worker whose session it names; all others are served here.

    One that opens a session goes to a worker that has a place for it, if this one has none.
    """

    def __init__(self, app: ASGIApp, peers: Peers, config: ServerConfig) -> None:
        self.app, self.peers, self.config = app, peers, config

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope.get(WITHIN):
            await self.app(scope, receive, send)
        elif scope["type"] == "http":
            await self._request(scope, receive, send)
        elif scope["type"] == "websocket":
            await self._socket(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    # --- requests ---

    async def _request(self, scope: Scope, receive: Receive, send: Send) -> None:
        named, body = named_outright(scope), None
        if not named and scope["method"] in ("POST", "DELETE"):
            body = await _body(receive)
            if body is None:
                return
            named = named_in_body(body)
            receive = _replayed([{"type": "http.request", "body": body, "more_body": False}], receive)
        named = named or next(iter(named_by_cookies(scope)), "")
        number = self.peers.holder(named)
        if not named and scope["method"] == "POST" and scope["path"].endswith(OPENING):
            number = self.peers.least_loaded()
        if number is None:
            await self.app(scope, receive, send)
            return
        if body is None:
            body = await _body(receive)
            if body is None:
                return
        await self._pass_on(number, scope, body, receive, send)

    async def _pass_on(self, number: int, scope: Scope, body: bytes, receive: Receive, send: Send) -> None:
        """Have another worker answer; a caller that leaves ends it, too."""
        leaving = asyncio.ensure_future(_left(receive))
        answering = asyncio.ensure_future(self._answer(number, scope, body, send))
        try:
            await asyncio.wait({leaving, answering}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            left = leaving.done() and not answering.done()
            for task in (leaving, answering) if left else (leaving,):
                task.cancel()
        if not left:
            await answering

    async def _answer(self, number: int, scope: Scope, body: bytes, send: Send) -> None:
        begun = False
        try:
            async for part in self.peers.ask(number, scope["method"], target(scope), passed_headers(scope), body):
                if isinstance(part, ResponseHead):
                    headers = [one for one in part.headers if one[0] not in OWN]
                    await send({"type": "http.response.start", "status": part.status, "headers": headers})
                    begun = True
                else:
                    await send({"type": "http.response.body", "body": part, "more_body": True})
        except SessionLost as error:
            if begun:
                raise  # half an answer cannot be mended: the connection ends
            failure = {"detail": str(error), "kind": type(error).__name__, "infrastructure": True}
            await JSONResponse(failure, status_of(error))(scope, _nothing, send)
            return
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    # --- WebSockets ---

    async def _socket(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] == WIRE:
            await self._wire(scope, receive, send)
            return
        named = named_outright(scope) or next(iter(named_by_cookies(scope)), "")
        number = self.peers.holder(named) if named else self.peers.least_loaded()
        if number is None:
            await self.app(scope, receive, send)
        else:
            await relay_socket(self.peers.paths[number], scope, receive, send, most=self.config.body)

    async def _wire(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Accept, read the hello, and decide."""
        await receive()
        await send({"type": "websocket.accept"})
        try:
            first = await asyncio.wait_for(receive(), HANDSHAKE_TIMEOUT_S)
        except TimeoutError:
            await send({"type": "websocket.close", "code": 1008, "reason": "expected a hello, got nothing"})
            return
        named, data = self._session_named(first), first.get("bytes")
        number = self.peers.holder(named) if named else self.peers.least_loaded()
        if number is None or data is None:
            await self.app(scope, _replayed([{"type": "websocket.connect"}, first], receive), _accepted(send))
        else:
            path, most = self.peers.paths[number], self.config.body
            await relay_socket(path, scope, receive, send, most=most, first=data)

    def _session_named(self, message: Message) -> str:
        """The session that a hello names."""
        try:
            request = read_asked(message.get("bytes") or b"", self.config.limits).request
        except CodecError:
            return ""
        return request.session if isinstance(request, HelloRequest) else ""


async def _body(receive: Receive) -> bytes | None:
    """The whole body, whose size the guard limits; None where the caller is gone."""
    parts: list[bytes] = []
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        parts.append(message.get("body", b""))
        if not message.get("more_body", False):
            return b"".join(parts)


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _nothing() -> Message:
    return {"type": "http.disconnect"}


def _replayed(messages: list[Message], receive: Receive) -> Receive:
    waiting = messages[::-1]

    async def replayed() -> Message:
        return waiting.pop() if waiting else await receive()

    return replayed


def _accepted(send: Send) -> Send:
    """A WebSocket that was accepted already is not accepted again."""

    async def accepted(message: Message) -> None:
        if message["type"] != "websocket.accept":
            await send(message)

    return accepted
