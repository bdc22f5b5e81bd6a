"""The Model Context Protocol over HTTP, as its clients speak it: `initialize` opens a session, a header names it."""

from collections.abc import Mapping
from typing import NamedTuple

from starlette.datastructures import Headers

from ludus.core.progress import Progress
from ludus.errors import CodecError, InvalidValue, ResetNeeded, shorten
from ludus.server.protocols.mcp.calls import CallGivenUp, CallsUnderWay, Send, cancelled_request
from ludus.server.protocols.mcp.env_access import EnvAccess, ToolRequest, tool_request
from ludus.server.protocols.mcp.material import MATERIAL, capabilities, material
from ludus.server.protocols.mcp.results import CallResult, McpCallResult, mcp_result
from ludus.server.protocols.mcp.rpc import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    NO_METHOD,
    UNSUPPORTED_VERSION,
    RpcError,
    RpcRequest,
    error_of,
    refused,
    replied,
    request_of,
)
from ludus.server.session import Session
from ludus.spaces.kinds import is_dict, is_list
from ludus.version import __version__

__all__ = [
    "PROTOCOL",
    "SESSION",
    "STATUSES",
    "VERSIONS",
    "McpReply",
    "Streamable",
    "call_result",
    "called",
    "instructions",
    "is_mcp",
    "progress_token",
]

SESSION, PROTOCOL = "mcp-session-id", "mcp-protocol-version"
VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""What is spoken; a client that asks for another is offered the first."""
OWN_METHODS = ("initialize", "server/discover", "ping")
"""What only this protocol has, and asks before there is a header to know it by."""
MAX_AT_ONCE = 64
STATUSES = (400, 403, 404, 503)
"""What the protocol has a status for; all else is an error inside a reply."""


class McpReply(NamedTuple):
    """What goes back: a message, several, or none; and the id of a session that was opened."""

    status: int
    message: object = None
    session: str = ""


def is_mcp(headers: Headers, data: object) -> bool:
    """Whether a request is of this protocol, and not one of OpenEnv's."""
    method: object = data.get("method") if is_dict(data) else None
    named = isinstance(method, str) and (method in OWN_METHODS or method.startswith("notifications/"))
    return named or SESSION in headers or PROTOCOL in headers


class Streamable(NamedTuple):
    """One request: whose, with which headers; `joined` is a session that the address itself names.

    `calls` are those that others may cancel; `send` passes notifications on while this one is carried out.
    """

    access: EnvAccess
    headers: Headers
    joined: str = ""
    calls: CallsUnderWay | None = None
    send: Send | None = None

    async def answer(self, data: object) -> McpReply:
        """The reply to a message, or to several at once."""
        try:
            self._check_version()
            if SESSION in self.headers:
                self._session()
            return await (self._several(data) if is_list(data) else self._one(data))
        except RpcError as refusal:
            return McpReply(refusal.status, refused(None, refusal))

    async def end(self) -> McpReply:
        """End the session; one that the address names is only left, since it is somebody else's."""
        try:
            session = self._session()
            if session.id != self.joined:
                await self.access.close(session)
        except Exception as error:
            refusal = error_of(error)
            return McpReply(refusal.status, refused(None, refusal))
        return McpReply(204)

    # --- messages ---

    async def _several(self, data: list[object]) -> McpReply:
        if not 0 < len(data) <= MAX_AT_ONCE or any(isinstance(one, list) for one in data):
            raise RpcError(INVALID_REQUEST, f"batch: expected 1 to {MAX_AT_ONCE} messages, got others", status=400)
        replies = [await self._one(one, alone=False) for one in data]
        messages = [one.message for one in replies if one.message is not None]
        return McpReply(200, messages) if messages else McpReply(202)

    async def _one(self, data: object, *, alone: bool = True) -> McpReply:
        if is_dict(data) and "method" not in data and ("result" in data or "error" in data):
            return McpReply(202)  # an answer, though nothing was asked
        try:
            request = request_of(data)
        except RpcError as refusal:
            return McpReply(refusal.status, refused(None, refusal))
        if request.id is None:
            self._heed(data)
            return McpReply(202)
        try:
            if request.method == "initialize" and alone:
                return await self._initialize(request)
            return McpReply(200, replied(request.id, await self._result(request)))
        except CallGivenUp:
            return McpReply(202)
        except Exception as error:
            refusal = error_of(error, trace=self.access.principal.may("run"))
            status = refusal.status if refusal.status in STATUSES else 200
            return McpReply(status, refused(request.id, refusal))

    async def _initialize(self, request: RpcRequest) -> McpReply:
        version = request.params.get("protocolVersion")
        session = await self.access.open(self.joined)
        first = await self._begun(session)
        result = {
            "protocolVersion": version if version in VERSIONS else VERSIONS[0],
            "capabilities": {"tools": {"listChanged": False}, **await capabilities(session)},
            "serverInfo": {"name": "ludus", "title": self.access.served.name, "version": __version__},
            "instructions": instructions(self.access, first),
        }
        return McpReply(200, replied(request.id, result), session.id)

    async def _begun(self, session: Session) -> CallResult | None:
        try:
            return await self.access.begin(session)
        except BaseException:
            if not self.joined:
                await self.access.close(session)
            raise

    async def _result(self, request: RpcRequest) -> Mapping[str, object]:
        if request.method == "ping":
            return {}
        session = self._session()
        if request.method == "tools/list":
            return {"tools": await self.access.tools(session)}
        if request.method == "tools/call":
            return await called(self.access, session, request, self.calls, self.send)
        if request.method in MATERIAL:
            return await material(self.access, session, request.method, request.params)
        if request.method == "ludus/reset":
            return await self.access.reset(session, request.params)
        raise RpcError(NO_METHOD, f"Method not found: {shorten(request.method)}")

    def _heed(self, data: object) -> None:
        """A notification: the only one that says anything to us is that a request is given up."""
        number = cancelled_request(data)
        if number is not None and self.calls is not None:
            self.access.principal.need("step", "cancel a call")
            self.calls.cancel(self._session().id, number)

    # --- what a request says of itself ---

    def _check_version(self) -> None:
        version = self.headers.get(PROTOCOL)
        if version is not None and version not in VERSIONS:
            raise RpcError(
                UNSUPPORTED_VERSION,
                f"Unsupported protocol version: expected one of {', '.join(VERSIONS)}, got {shorten(version)}",
                status=400,
                data={"supported": list(VERSIONS), "requested": version[:64]},
            )

    def _session(self) -> Session:
        named = self.headers.get(SESSION)
        if named is None:
            raise RpcError(INVALID_REQUEST, "Mcp-Session-Id: expected what initialize gave, got none", status=400)
        return self.access.find(named)


async def called(
    access: EnvAccess, session: Session, request: RpcRequest, calls: CallsUnderWay | None, send: Send | None
) -> McpCallResult:
    """What a call gives, which can be cancelled meanwhile, and reports progress where the request asks for it."""
    call = tool_request(request.params)
    if calls is None:
        return await call_result(access, session, call)
    key, token = (session.id, request.id), progress_token(request.params)
    return await calls.carry_out(key, token, send, lambda progress: call_result(access, session, call, progress))


def progress_token(params: object) -> int | str | None:
    """What a request wants its progress reported by; None where it does not want that."""
    meta: object = params.get("_meta") if is_dict(params) else None
    token: object = meta.get("progressToken") if is_dict(meta) else None
    return token if isinstance(token, int | str) and not isinstance(token, bool) else None


async def call_result(
    access: EnvAccess, session: Session, call: ToolRequest, progress: Progress | None = None
) -> McpCallResult:
    """What a call gives. What the model can mend (its arguments, the end of an episode) is a result that it reads."""
    await access.check(call, session, unknown=INVALID_PARAMS)
    try:
        return mcp_result(await access.call(session, call, progress))
    except (ResetNeeded, InvalidValue, CodecError) as error:
        over = isinstance(error, ResetNeeded)
        return mcp_result(CallResult(str(error), None, str(error), {"reward": None, "done": over}))


def instructions(access: EnvAccess, first: CallResult | None) -> str:
    """What the environment is, and what its first observation says."""
    doc = access.served.description().doc.split("\n\n")[0]
    parts = [" ".join(doc.split()), "Each call of a tool is one step of an episode."]
    if first is not None and first.text:
        parts.append(f"The episode begins with: {first.text[:4096]}")
    return "\n\n".join(part for part in parts if part)
