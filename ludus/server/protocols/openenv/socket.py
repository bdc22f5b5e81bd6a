"""`/ws`: OpenEnv's conversation in text messages of JSON; one reply to each request, in order."""

import asyncio
from contextlib import suppress
from urllib.parse import parse_qs

import msgspec
from starlette.routing import BaseRoute, WebSocketRoute
from starlette.types import Message, Receive, Scope, Send

from ludus.errors import (
    AccessDenied,
    InvalidArgument,
    InvalidType,
    InvalidValue,
    LudusError,
    ServerBusy,
    SessionLost,
    shorten,
)
from ludus.server.access import Principal
from ludus.server.failures import error_reply
from ludus.server.protocols import mcp
from ludus.server.protocols.openenv.env_endpoint import EnvEndpoint
from ludus.server.protocols.openenv.envelope import to_json
from ludus.server.rate import Bucket
from ludus.server.session import Session
from ludus.spaces.kinds import is_dict

__all__ = ["Socket", "routes"]

TYPES = ("reset", "step", "state", "mcp", "close")
KEYS = {"type", "data"}
REFUSED = (InvalidValue, InvalidArgument, InvalidType)
_decoder = msgspec.json.Decoder()


class Socket:
    """An ASGI application: one connection with one session, its own or one that was there before."""

    def __init__(self, endpoint: EnvEndpoint) -> None:
        self.endpoint = endpoint

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if (await receive())["type"] != "websocket.connect":
            return

        async def sending(message: Message) -> None:
            try:
                await send(message)
            except (OSError, RuntimeError) as error:  # by which ASGI servers say that the other end is gone
                raise Gone from error

        with suppress(Gone):
            await sending({"type": "websocket.accept"})
            await self._serve(scope, receive, sending)
            await sending({"type": "websocket.close", "code": 1000})

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        principal: Principal = scope["state"]["principal"]
        name = parse_qs(scope["query_string"].decode("latin1")).get("session_id", [""])[0]
        first = asyncio.ensure_future(receive())
        try:
            session = self._found(name, principal) if name else await self._opened(principal, first)
            if session is not None:
                await self._converse(session, principal, TextConnection(first, receive, send), kept=bool(name))
        except Unopened as error:
            await send(_text(_first(error.why, self.endpoint)))
        finally:
            first.cancel()

    def _found(self, name: str, principal: Principal) -> Session:
        try:
            principal.need("step", "go on with a session")
            session = self.endpoint.find(name)
            if session is None:
                raise SessionLost(
                    f"session {name[:8]}…: expected one of {self.endpoint.served.name}, got one of another"
                )
            if session.connection is not None:
                raise SessionLost(f"Session {name} already has an attached WebSocket")
        except LudusError as error:
            raise Unopened(error) from error
        return session

    async def _opened(self, principal: Principal, first: "asyncio.Future[Message]") -> Session | None:
        """A new session; None where the caller left while it waited for one."""
        opening = asyncio.ensure_future(self.endpoint.open(principal, patience=0.0))
        try:
            await asyncio.wait({opening, first}, return_when=asyncio.FIRST_COMPLETED)
            if not opening.done() and first.result()["type"] == "websocket.disconnect":
                return None
            return await opening
        except Exception as error:
            raise Unopened(error) from error
        finally:
            opening.cancel()

    async def _converse(
        self, session: Session, principal: Principal, connection: "TextConnection", *, kept: bool
    ) -> None:
        session.connection = connection
        try:
            await SocketSession(self.endpoint, session, principal).run(connection)
        finally:
            if session.connection is connection:  # else another one has taken it over
                session.connection = None
                session.touch()
                if not kept:
                    await self.endpoint.server.sessions.close(session, "its connection ended")


class Gone(Exception):
    """Nobody is there to be sent anything."""


class Unopened(Exception):
    """There is no session for a connection."""

    def __init__(self, why: Exception) -> None:
        super().__init__(str(why))
        self.why = why


class TextConnection:
    """Text messages, of which the first may have come while the session was being opened."""

    def __init__(self, first: "asyncio.Future[Message]", receive: Receive, send: Send) -> None:
        self._first: asyncio.Future[Message] | None = first
        self._receive, self._send = receive, send

    async def receive(self) -> str | bytes | None:
        """The next message; None at the end."""
        first, self._first = self._first, None
        message = await (self._receive() if first is None else first)
        if message["type"] != "websocket.receive":
            return None
        return message.get("text") or message.get("bytes") or b""

    async def send(self, data: bytes) -> None:
        """Send a message."""
        await self._send(_text(data))

    async def close(self) -> None:
        """End it, since another connection takes the session over."""
        with suppress(Gone):
            await self._send({"type": "websocket.close", "code": 1000})


class SocketSession:
    """The requests of one connection, carried out one after another."""

    def __init__(self, endpoint: EnvEndpoint, session: Session, principal: Principal) -> None:
        self.endpoint, self.session, self.principal = endpoint, session, principal

    async def run(self, connection: TextConnection) -> None:
        """Until the connection ends, or asks to, or its session is lost or another's; no faster than the rate."""
        bucket = Bucket(self.endpoint.server.config.rate)
        while (text := await connection.receive()) is not None and self.session.connection is connection:
            pause = bucket.take()
            if pause:
                await asyncio.sleep(pause)
            try:
                reply = await self.answer(text)
            except SessionLost as error:
                await connection.send(_error(error, "SESSION_ERROR"))
                return
            if reply is None:
                return
            await connection.send(reply)

    async def answer(self, text: str | bytes) -> bytes | None:
        """The reply to a message; None to the one that ends it. SessionLost is raised, anything else is a reply."""
        try:
            data: object = _decoder.decode(text)
        except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
            return _reply("error", to_json({"message": f"Invalid JSON: {error}", "code": "INVALID_JSON"}))
        if not is_dict(data) or data.get("type") not in TYPES:
            shown = shorten(data.get("type", "") if is_dict(data) else data)
            return _reply("error", to_json({"message": f"Unknown message type: {shown}", "code": "UNKNOWN_TYPE"}))
        try:
            return await self._carry_out(data)
        except SessionLost:
            raise
        except AccessDenied as error:
            return _error(error, "ACCESS_DENIED")
        except REFUSED as error:
            shown = str(error)
            return _error(error, "VALIDATION_ERROR", errors=[{"type": type(error).__name__, "msg": shown}])
        except Exception as error:
            self.endpoint.server.metrics.count("errors", env=self.endpoint.served.name, kind=type(error).__name__)
            return _error(error, "EXECUTION_ERROR")

    async def _carry_out(self, message: dict[str, object]) -> bytes | None:
        data, kind = message.get("data", {}), str(message["type"])
        if not message.keys() <= KEYS or not is_dict(data):
            raise InvalidArgument(f"message: expected 'type', and an object as 'data' at most, got {shorten(message)}")
        if kind == "step":
            self.principal.need("step", "step")
            begins = self.principal.may("run")
            return _reply("observation", await self.endpoint.step(self.session, data, full=False, begins=begins))
        if kind == "reset":
            self.principal.need("run", "reset")
            return _reply("observation", await self.endpoint.reset(self.session, data, full=False))
        if kind == "close":
            return None
        self.principal.need("step", kind)
        if kind == "state":
            return _reply("state", await self.endpoint.state(self.session, private=self.principal.may("run")))
        server, served = self.endpoint.server, self.endpoint.served
        return _reply("mcp", to_json(await mcp.answer_rpc(server, served, self.session, data, self.principal)))


def _reply(kind: str, data: bytes) -> bytes:
    return b'{"type":"%b","data":%b}' % (kind.encode(), data)


def _error(error: BaseException, code: str, **more: object) -> bytes:
    told = error_reply(error)
    data = {"message": told.message, "code": code, "kind": told.kind, "infrastructure_failure": told.infrastructure}
    return _reply("error", to_json({**data, **more}))


def _first(error: BaseException, endpoint: EnvEndpoint) -> bytes:
    """Why there is no session; sent unasked, before the connection is closed."""
    if isinstance(error, ServerBusy):
        held, most = len(endpoint.server.sessions.infos()), endpoint.server.config.max_sessions
        return _error(error, "CAPACITY_REACHED", active_sessions=held, max_sessions=most, retry_after=error.retry_after)
    if isinstance(error, SessionLost | AccessDenied):
        return _error(error, "SESSION_ERROR")
    return _error(error, "FACTORY_ERROR", factory_name=endpoint.served.name)


def _text(data: bytes) -> dict[str, object]:
    return {"type": "websocket.send", "text": data.decode()}


def routes(endpoint: EnvEndpoint) -> list[BaseRoute]:
    """`/ws`."""
    return [WebSocketRoute("/ws", Socket(endpoint))]
