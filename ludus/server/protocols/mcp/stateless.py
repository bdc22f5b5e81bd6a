"""The Model Context Protocol of 2026-07-28: each request says by itself what it needs, and no session is opened ahead.

A client that closes its connection gives its call up, which is how this revision cancels over HTTP.

An episode goes on where the address names a session (`/mcp?session_id=…`), or the call does: tools take `session_id`,
which the first call tells. Clients that choose their version by `server/discover` are told of it where the address
names a session; elsewhere they speak an older one, whose handshake opens a session for them.
"""

from collections.abc import Mapping
from typing import NamedTuple

from starlette.datastructures import Headers

from ludus.errors import shorten
from ludus.server.protocols.mcp.calls import CallGivenUp, CallsUnderWay, Send
from ludus.server.protocols.mcp.env_access import EnvAccess, ToolRequest, tool_request
from ludus.server.protocols.mcp.material import MATERIAL, capabilities, material
from ludus.server.protocols.mcp.results import McpCallResult, ToolEntry, mcp_text
from ludus.server.protocols.mcp.rpc import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    NO_METHOD,
    UNSUPPORTED_VERSION,
    RpcError,
    RpcRequest,
    error_of,
    refused,
    replied,
    request_of,
)
from ludus.server.protocols.mcp.streamable import PROTOCOL, STATUSES, VERSIONS, McpReply, called, instructions
from ludus.server.session import Session
from ludus.spaces.kinds import is_dict
from ludus.version import __version__

__all__ = ["REVISION", "Stateless", "is_stateless"]

REVISION = "2026-07-28"
META = "io.modelcontextprotocol/"
VERSION, CAPABILITIES, SERVER_INFO = f"{META}protocolVersion", f"{META}clientCapabilities", f"{META}serverInfo"
METHOD, NAME = "mcp-method", "mcp-name"
SESSION_ID = "session_id"
HANDLE = {
    "type": "string",
    "description": "The episode to go on with: what an earlier call told as session_id. Leave it out to begin one.",
}
COMPLETE: dict[str, object] = {"resultType": "complete"}
UNCACHED: dict[str, object] = {"ttlMs": 0, "cacheScope": "private"}


def is_stateless(headers: Headers, data: object) -> bool:
    """Whether a message is of this revision: its header says so, or the envelope in it.

    >>> is_stateless(Headers({PROTOCOL: REVISION}), {})
    True
    """
    params: object = data.get("params") if is_dict(data) else None
    meta: object = params.get("_meta") if is_dict(params) else None
    return headers.get(PROTOCOL) == REVISION or (is_dict(meta) and VERSION in meta)


class Stateless(NamedTuple):
    """One request; `headers` are None where a transport has none, `joined` is a session that comes with it."""

    access: EnvAccess
    headers: Headers | None
    joined: str = ""
    calls: CallsUnderWay | None = None
    send: Send | None = None

    async def answer(self, data: object) -> McpReply:
        """The reply to a message."""
        number = None
        try:
            request = request_of(data)
            number = request.id
            if number is None:
                return McpReply(202)  # a notification, of which this revision has none that would be for us
            self._check(request)
            return McpReply(200, replied(number, {**COMPLETE, **await self._result(request)}))
        except CallGivenUp:
            return McpReply(202)
        except Exception as error:
            refusal = error_of(error, trace=self.access.principal.may("run"))
            status = refusal.status if refusal.status in STATUSES else 200
            return McpReply(status, refused(number, refusal))

    def _check(self, request: RpcRequest) -> None:
        """The envelope is whole, and the headers say what the body says."""
        given = request.params.get("_meta")
        meta: dict[str, object] = given if is_dict(given) else {}
        missing = [key for key in (VERSION, CAPABILITIES) if key not in meta]
        if missing:
            raise RpcError(INVALID_PARAMS, f"_meta: expected {' and '.join(missing)}, got none", status=400)
        version = meta[VERSION]
        if self.headers is not None:
            expected = {PROTOCOL: version, METHOD: request.method}
            if request.method == "tools/call" and NAME in self.headers:
                expected[NAME] = request.params.get("name")
            for header, value in expected.items():
                came = self.headers.get(header)
                if came != value:
                    message = f"{header}: expected {shorten(value)}, as the body says, got {shorten(came)}"
                    raise RpcError(HEADER_MISMATCH, message, status=400)
        if version != REVISION or (request.method == "server/discover" and not self.joined):
            raise RpcError(
                UNSUPPORTED_VERSION,
                f"Unsupported protocol version: expected one of {', '.join(VERSIONS)}, whose initialize opens a "
                f"session, or {REVISION} at an address with ?session_id=…, got {shorten(version)}",
                status=400,
                data={"supported": list(VERSIONS), "requested": str(version)[:64]},
            )

    async def _result(self, request: RpcRequest) -> Mapping[str, object]:
        if request.method == "server/discover":
            return {**await self._discovered(), **UNCACHED}
        if request.method == "tools/list":
            return {"tools": await self._tools(), **UNCACHED}
        if request.method == "tools/call":
            return await self._call(request)
        if request.method in MATERIAL:
            return {**await self._material(request), **UNCACHED}
        if request.method == "ludus/reset":
            return await self.access.reset(self._session(request.params.get(SESSION_ID)), request.params)
        raise RpcError(NO_METHOD, f"Method not found: {shorten(request.method)}", status=404)

    async def _discovered(self) -> dict[str, object]:
        session = self._session(None)
        first = await self.access.begin(session)
        return {
            "supportedVersions": [REVISION],
            "capabilities": {"tools": {}, **await capabilities(session)},
            "instructions": instructions(self.access, first),
            "_meta": {SERVER_INFO: {"name": "ludus", "title": self.access.served.name, "version": __version__}},
        }

    async def _tools(self) -> list[ToolEntry]:
        entries = await self.access.tools()
        return entries if self.joined else [_with_handle(one) for one in entries]

    async def _material(self, request: RpcRequest) -> dict[str, object]:
        """Resources and prompts, of the session that is named, or of one for this request alone."""
        named = self.joined or request.params.get(SESSION_ID)
        session = await self.access.open() if named is None else self._session(named)
        try:
            return await material(self.access, session, request.method, request.params)
        finally:
            if named is None:
                await self.access.close(session)

    async def _call(self, request: RpcRequest) -> McpCallResult:
        if self.joined:
            return await called(self.access, self._session(None), request, self.calls, self.send)
        call = tool_request(request.params)
        arguments = dict(call.arguments)
        named = arguments.pop(SESSION_ID, None)
        bare = request._replace(params={**request.params, "arguments": arguments})
        await self.access.check(ToolRequest(call.tool, arguments), None, unknown=INVALID_PARAMS)
        session = await self.access.open() if named is None else self._session(named)
        try:
            found = await called(self.access, session, bare, self.calls, self.send)
        except BaseException:
            if named is None:
                await self.access.close(session)
            raise
        content = [*found["content"], mcp_text(f"{SESSION_ID}: {session.id}")] if named is None else found["content"]
        return {**found, "content": content, "_meta": {**found["_meta"], SESSION_ID: session.id}}

    def _session(self, named: object) -> Session:
        return self.access.find(self.joined or named)


def _with_handle(entry: ToolEntry) -> ToolEntry:
    """A tool that takes the episode as an argument, too, unless it has one of that name."""
    schema = entry["inputSchema"]
    known = schema.get("properties")
    properties = {SESSION_ID: HANDLE, **(known if is_dict(known) else {})}
    return {**entry, "inputSchema": {**schema, "properties": properties}}
