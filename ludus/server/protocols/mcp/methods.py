"""`answer_rpc`: OpenEnv's methods: sessions, and tools with a session, or without one for a single call."""

from collections.abc import Awaitable, Callable, Mapping

from ludus.errors import ServerBusy, shorten
from ludus.server.access import Principal
from ludus.server.protocols.mcp.env_access import NO_TOOLS, EnvAccess, tool_request
from ludus.server.protocols.mcp.results import CallResult, openenv_call
from ludus.server.protocols.mcp.rpc import (
    INTERNAL,
    INVALID_PARAMS,
    INVALID_REQUEST,
    NO_METHOD,
    SERVER,
    RpcError,
    error_of,
    refused,
    replied,
    request_of,
)
from ludus.server.served_env import ServedEnv
from ludus.server.server import Server
from ludus.server.session import Session

__all__ = ["answer_rpc"]

Params = Mapping[str, object]


async def answer_rpc(
    server: Server, served: ServedEnv, session: Session | None, request: object, principal: Principal
) -> dict[str, object]:
    """The reply to one request of JSON-RPC, never an exception.

    `session` is that of a WebSocket; without one, the request names it as `session_id`, or does without.
    """
    number = None
    try:
        rpc_request = request_of(request)
        number = rpc_request.id
        method = METHODS.get(rpc_request.method)
        if method is None:
            raise RpcError(NO_METHOD, f"Method not found: {shorten(rpc_request.method)}")
        return replied(number, await method(EnvAccess(server, served, principal), session, rpc_request.params))
    except Exception as error:
        return refused(number, error_of(error, trace=principal.may("run")))


async def _create(access: EnvAccess, session: Session | None, params: Params) -> dict[str, object]:
    del params
    try:
        return {"session_id": (session or await access.open()).id}
    except ServerBusy as error:
        held = {
            "active_sessions": len(access.server.sessions.infos()),
            "max_sessions": access.server.config.max_sessions,
        }
        raise RpcError(SERVER, str(error), data=held | {"retry_after": error.retry_after}) from error


async def _close(access: EnvAccess, session: Session | None, params: Params) -> dict[str, object]:
    named = params.get("session_id")
    if not named:
        raise RpcError(INVALID_PARAMS, "Invalid params - 'session_id' is required")
    if session is not None and session.id == named:
        raise RpcError(INVALID_REQUEST, "Cannot close the session of this connection; close the connection")
    found = access.find(named)
    await access.close(found)
    return {"session_id": found.id, "closed": True}


async def _tools(access: EnvAccess, session: Session | None, params: Params) -> dict[str, object]:
    entries = await access.tools(_named(access, session, params))
    if not entries:
        raise RpcError(INTERNAL, NO_TOOLS)
    return {"tools": entries}


async def _call(access: EnvAccess, session: Session | None, params: Params) -> dict[str, object]:
    call = tool_request(params)
    named = _named(access, session, params)
    await access.check(call, named, unknown=INTERNAL)
    if named is not None:
        return _result(await access.call(named, call))
    own = await access.open()
    try:
        return _result(await access.call(own, call))
    finally:
        await access.close(own)


async def _reset(access: EnvAccess, session: Session | None, params: Params) -> dict[str, object]:
    named = _named(access, session, params)
    if named is None:
        raise RpcError(INVALID_PARAMS, "Invalid params - 'session_id' is required")
    return await access.reset(named, params)


METHODS: dict[str, Callable[[EnvAccess, Session | None, Params], Awaitable[dict[str, object]]]] = {
    "openenv/session/create": _create,
    "openenv/session/close": _close,
    "tools/list": _tools,
    "tools/call": _call,
    "ludus/reset": _reset,
}


def _named(access: EnvAccess, session: Session | None, params: Params) -> Session | None:
    """The session that is meant: that of the connection, or the one that is named."""
    return session or (access.find(params["session_id"]) if params.get("session_id") else None)


def _result(answer: CallResult) -> dict[str, object]:
    """The result; OpenEnv's clients know the error of a tool as an error of the request."""
    if answer.error:
        lost = answer.meta.get("infrastructure_failure")
        raise RpcError(SERVER if lost else INTERNAL, answer.error, data=answer.meta)
    return openenv_call(answer)
