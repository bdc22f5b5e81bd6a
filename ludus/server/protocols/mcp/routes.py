"""The routes of `/mcp`: one address for POST and DELETE, and for WebSockets; the rest is refused (405)."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import suppress

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from ludus.server.access import Principal
from ludus.server.protocols.mcp.calls import CallsUnderWay
from ludus.server.protocols.mcp.env_access import EnvAccess
from ludus.server.protocols.mcp.methods import answer_rpc
from ludus.server.protocols.mcp.rpc import INVALID_REQUEST, RpcError, error_of, read, refused
from ludus.server.protocols.mcp.stateless import Stateless, is_stateless
from ludus.server.protocols.mcp.streamable import PROTOCOL, SESSION, McpReply, Streamable, is_mcp, progress_token
from ludus.server.rate import Bucket
from ludus.server.served_env import ServedEnv
from ludus.server.server import Server
from ludus.server.session import Session
from ludus.spaces.kinds import is_dict

__all__ = ["routes"]

JSON, EVENTS = "application/json", "text/event-stream"


def routes(server: Server, served: ServedEnv) -> list[BaseRoute]:
    """The routes of one environment."""
    calls = CallsUnderWay()

    async def endpoint(request: Request) -> Response:
        if request.method == "DELETE":
            return _written(await _spoken(server, served, request, calls).end(), request)
        try:
            data = read(await _body(request, server.config.body))
        except ClientDisconnect:
            return Response(None, 400)  # which nobody reads
        except RpcError as refusal:
            status = refusal.status if refusal.status == 413 or _has_headers(request) else 200
            return _json(status, refused(None, refusal))
        if is_stateless(request.headers, data):
            access, joined = (
                EnvAccess(server, served, request.state.principal),
                request.query_params.get("session_id", ""),
            )
            return await _answered(Stateless(access, request.headers, joined, calls), data, request)
        if is_mcp(request.headers, data):
            if not _accepts(request, JSON) and not _accepts(request, EVENTS):
                return _json(406, refused(None, RpcError(INVALID_REQUEST, f"Accept: expected {JSON} or {EVENTS}")))
            return await _answered(_spoken(server, served, request, calls), data, request)
        return _json(200, await answer_rpc(server, served, None, data, request.state.principal))

    async def socket(connection: WebSocket) -> None:
        await connection.accept()
        await _converse(server, served, connection)

    return [Route("/mcp", endpoint, methods=["POST", "DELETE"]), WebSocketRoute("/mcp", socket)]


# --- HTTP ---


def _spoken(server: Server, served: ServedEnv, request: Request, calls: CallsUnderWay) -> Streamable:
    access = EnvAccess(server, served, request.state.principal)
    return Streamable(access, request.headers, request.query_params.get("session_id", ""), calls)


async def _answered(spoken: Streamable | Stateless, data: object, request: Request) -> Response:
    """The reply; a stream of events where the request wants its progress reported, and the client reads those."""
    params: object = data.get("params") if is_dict(data) else None
    if progress_token(params) is None or not _accepts(request, EVENTS):
        return _written(await _waited_for(spoken, data, request), request)
    return StreamingResponse(_events(spoken, data), 200, {"cache-control": "no-store"}, EVENTS)


async def _waited_for(spoken: Streamable | Stateless, data: object, request: Request) -> McpReply:
    """The reply; where leaving means to cancel, leaving is noticed."""
    if isinstance(spoken, Streamable):
        return await spoken.answer(data)
    answering, leaving = asyncio.ensure_future(spoken.answer(data)), asyncio.ensure_future(request.receive())
    try:
        await asyncio.wait({answering, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if answering.done():
            return answering.result()
        answering.cancel()
        return McpReply(202)  # which nobody reads
    finally:
        leaving.cancel()


async def _events(spoken: Streamable | Stateless, data: object) -> AsyncGenerator[bytes]:
    """Notifications as they come, and the reply, unless the request was cancelled."""
    queue: asyncio.Queue[object] = asyncio.Queue()
    answering = asyncio.ensure_future(spoken._replace(send=queue.put_nowait).answer(data))
    answering.add_done_callback(lambda _: queue.put_nowait(None))
    try:
        while (message := await queue.get()) is not None:
            yield _event(message)
        reply = answering.result()
        if reply.message is not None:
            yield _event(reply.message)
    finally:
        if isinstance(spoken, Stateless):  # older revisions go on: there a client says that it gives up
            answering.cancel()


def _event(message: object) -> bytes:
    return b"event: message\ndata: " + msgspec.json.encode(message) + b"\n\n"


def _has_headers(request: Request) -> bool:
    return SESSION in request.headers or PROTOCOL in request.headers


async def _body(request: Request, most: int) -> bytes:
    parts, size = list[bytes](), 0
    async for part in request.stream():
        size += len(part)
        if size > most:
            raise RpcError(INVALID_REQUEST, f"body: expected at most {most} bytes, got more", status=413)
        parts.append(part)
    return b"".join(parts)


def _accepts(request: Request, kind: str) -> bool:
    """Whether the client reads a kind of content; one that says nothing reads any."""
    accepted = request.headers.get("accept", "*/*").lower()
    return kind in accepted or "*/*" in accepted or f"{kind.partition('/')[0]}/*" in accepted


def _written(reply: McpReply, request: Request) -> Response:
    """As JSON where the client reads that, as the one event of a stream where it reads only those."""
    headers = {SESSION: reply.session} if reply.session else None
    if reply.message is None:
        return Response(None, reply.status, headers)
    if reply.status == 200 and not _accepts(request, JSON):
        return Response(_event(reply.message), 200, {"cache-control": "no-store", **(headers or {})}, EVENTS)
    return _json(reply.status, reply.message, headers)


def _json(status: int, message: object, headers: dict[str, str] | None = None) -> Response:
    error: object = message.get("error") if is_dict(message) else None
    data: object = error.get("data") if is_dict(error) else None
    after: object = data.get("retry_after") if is_dict(data) else None
    if status == 503 and isinstance(after, int | float):
        headers = {**(headers or {}), "retry-after": str(max(1, round(after)))}
    return Response(msgspec.json.encode(message), status, headers, JSON)


# --- WebSocket ---


async def _converse(server: Server, served: ServedEnv, connection: WebSocket) -> None:
    """Serve one connection, which has an environment of its own, or joins the session that its address names."""
    joined = connection.query_params.get("session_id", "")
    try:
        session = await EnvAccess(server, served, connection.state.principal).open(joined)
    except Exception as error:
        await _send(connection, refused(None, error_of(error)))
        await _end(connection)
        return
    if not joined:
        session.connection = connection
    bucket = Bucket(server.config.rate)
    try:
        while session.lost is None:
            message = await connection.receive()
            if message["type"] != "websocket.receive":
                break
            if pause := bucket.take():
                await asyncio.sleep(pause)
            text = message.get("text") or message.get("bytes") or b""
            await _send(connection, await _reply(server, served, session, connection.state.principal, text))
    finally:
        if session.connection is connection:  # else somebody took the session over
            session.connection = None
            await server.sessions.close(session, "its connection ended")
        await _end(connection)


async def _reply(
    server: Server, served: ServedEnv, session: Session, principal: Principal, text: str | bytes
) -> dict[str, object]:
    try:
        data = read(text)
    except RpcError as refusal:
        return refused(None, refusal)
    return await answer_rpc(server, served, session, data, principal)


async def _send(connection: WebSocket, message: dict[str, object]) -> None:
    """Send a message; to a connection that is gone, nothing, which the next `receive` finds out."""
    with suppress(OSError, RuntimeError, WebSocketDisconnect):
        await connection.send_text(msgspec.json.encode(message).decode())


async def _end(connection: WebSocket) -> None:
    with suppress(OSError, RuntimeError, WebSocketDisconnect):
        await connection.close()
