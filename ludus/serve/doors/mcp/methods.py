"""`answer_rpc`: OpenEnv's methods: sessions, and tools with a session, or without one for a single call."""

from collections.abc import Awaitable, Callable
from typing import Any

from ludus.errors import ServerBusy, shorten
from ludus.serve.access import Principal
from ludus.serve.doors.mcp.acting import NO_TOOLS, Door, asked_tool
from ludus.serve.doors.mcp.results import Answer, openenv_call
from ludus.serve.doors.mcp.rpc import (
    INTERNAL,
    INVALID_PARAMS,
    INVALID_REQUEST,
    NO_METHOD,
    SERVER,
    Refusal,
    error_of,
    refused,
    replied,
    request_of,
)
from ludus.serve.served import Served
from ludus.serve.server import Server
from ludus.serve.session import Session

__all__ = ["answer_rpc"]

Params = dict[str, Any]


async def answer_rpc(
    server: Server, served: Served, session: Session | None, request: Any, principal: Principal
) -> dict[str, Any]:
    """The reply to one request of JSON-RPC, never an exception.

    `session` is that of a WebSocket; without one, the request names it as `session_id`, or does without.
    """
    number = None
    try:
        asked = request_of(request)
        number = asked.id
        method = METHODS.get(asked.method)
        if method is None:
            raise Refusal(NO_METHOD, f"Method not found: {shorten(asked.method)}")
        return replied(number, await method(Door(server, served, principal), session, asked.params))
    except Exception as error:
        return refused(number, error_of(error, trace=principal.may("run")))


async def _create(door: Door, session: Session | None, params: Params) -> dict[str, Any]:
    del params
    try:
        return {"session_id": (session or await door.open()).id}
    except ServerBusy as error:
        held = {"active_sessions": len(door.server.sessions.infos()), "max_sessions": door.server.settings.max_sessions}
        raise Refusal(SERVER, str(error), data=held | {"retry_after": error.retry_after}) from error


async def _close(door: Door, session: Session | None, params: Params) -> dict[str, Any]:
    named = params.get("session_id")
    if not named:
        raise Refusal(INVALID_PARAMS, "Invalid params - 'session_id' is required")
    if session is not None and session.id == named:
        raise Refusal(INVALID_REQUEST, "Cannot close the session of this connection; close the connection")
    found = door.find(named)
    await door.close(found)
    return {"session_id": found.id, "closed": True}


async def _tools(door: Door, session: Session | None, params: Params) -> dict[str, Any]:
    entries = await door.tools(_named(door, session, params))
    if not entries:
        raise Refusal(INTERNAL, NO_TOOLS)
    return {"tools": entries}


async def _call(door: Door, session: Session | None, params: Params) -> dict[str, Any]:
    asked = asked_tool(params)
    named = _named(door, session, params)
    await door.check(asked, named, unknown=INTERNAL)
    if named is not None:
        return _told(await door.call(named, asked))
    own = await door.open()
    try:
        return _told(await door.call(own, asked))
    finally:
        await door.close(own)


async def _reset(door: Door, session: Session | None, params: Params) -> dict[str, Any]:
    named = _named(door, session, params)
    if named is None:
        raise Refusal(INVALID_PARAMS, "Invalid params - 'session_id' is required")
    return await door.reset(named, params)


METHODS: dict[str, Callable[[Door, Session | None, Params], Awaitable[dict[str, Any]]]] = {
    "openenv/session/create": _create,
    "openenv/session/close": _close,
    "tools/list": _tools,
    "tools/call": _call,
    "ludus/reset": _reset,
}


def _named(door: Door, session: Session | None, params: Params) -> Session | None:
    """The session that is meant: that of the connection, or the one that is named."""
    return session or (door.find(params["session_id"]) if params.get("session_id") else None)


def _told(answer: Answer) -> dict[str, Any]:
    """The result; OpenEnv's clients know the error of a tool as an error of the request."""
    if answer.error:
        lost = answer.meta.get("infrastructure_failure")
        raise Refusal(SERVER if lost else INTERNAL, answer.error, data=answer.meta)
    return openenv_call(answer)
