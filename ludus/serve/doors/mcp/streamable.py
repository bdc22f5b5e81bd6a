"""The Model Context Protocol over HTTP, as its clients speak it: `initialize` opens a session, a header names it."""

from typing import Any, NamedTuple

from starlette.datastructures import Headers

from ludus import __version__
from ludus.errors import CodecError, InvalidValue, ResetNeeded, shorten
from ludus.serve.doors.mcp.acting import Door, asked_tool
from ludus.serve.doors.mcp.results import Answer, mcp_result
from ludus.serve.doors.mcp.rpc import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    NO_METHOD,
    UNSUPPORTED_VERSION,
    Refusal,
    Request,
    error_of,
    refused,
    replied,
    request_of,
)
from ludus.serve.session import Session

__all__ = ["PROTOCOL", "SESSION", "Reply", "Streamable", "is_mcp"]

SESSION, PROTOCOL = "mcp-session-id", "mcp-protocol-version"
VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""What is spoken; a client that asks for another is offered the first."""
OWN_METHODS = ("initialize", "server/discover", "ping")
"""What only this protocol has, and asks before there is a header to know it by."""
MOST_AT_ONCE = 64
STATUSES = (400, 403, 404, 503)
"""What the protocol has a status for; all else is an error inside a reply."""


class Reply(NamedTuple):
    """What goes back: a message, several, or none; and the id of a session that was opened."""

    status: int
    message: Any = None
    session: str = ""


def is_mcp(headers: Headers, data: Any) -> bool:
    """Whether a request is of this protocol, and not one of OpenEnv's."""
    method = data.get("method") if isinstance(data, dict) else None
    named = isinstance(method, str) and (method in OWN_METHODS or method.startswith("notifications/"))
    return named or SESSION in headers or PROTOCOL in headers


class Streamable(NamedTuple):
    """One request: at whose door, with which headers; `joined` is a session that the address itself names."""

    door: Door
    headers: Headers
    joined: str = ""

    async def answer(self, data: Any) -> Reply:
        """The reply to a message, or to several at once."""
        try:
            self._check_version()
            if SESSION in self.headers:
                self._session()
            return await (self._several(data) if isinstance(data, list) else self._one(data))
        except Refusal as refusal:
            return Reply(refusal.status, refused(None, refusal))

    async def end(self) -> Reply:
        """End the session; one that the address names is only left, since it is somebody else's."""
        try:
            session = self._session()
            if session.id != self.joined:
                await self.door.close(session)
        except Exception as error:
            refusal = error_of(error)
            return Reply(refusal.status, refused(None, refusal))
        return Reply(204)

    # --- messages ---

    async def _several(self, data: list[Any]) -> Reply:
        if not 0 < len(data) <= MOST_AT_ONCE or any(isinstance(one, list) for one in data):
            raise Refusal(INVALID_REQUEST, f"batch: expected 1 to {MOST_AT_ONCE} messages, got others", status=400)
        replies = [await self._one(one, alone=False) for one in data]
        messages = [one.message for one in replies if one.message is not None]
        return Reply(200, messages) if messages else Reply(202)

    async def _one(self, data: Any, *, alone: bool = True) -> Reply:
        if isinstance(data, dict) and "method" not in data and ("result" in data or "error" in data):
            return Reply(202)  # an answer, though nothing was asked
        try:
            asked = request_of(data)
        except Refusal as refusal:
            return Reply(refusal.status, refused(None, refusal))
        if asked.id is None:
            return Reply(202)
        try:
            if asked.method == "initialize" and alone:
                return await self._initialize(asked)
            return Reply(200, replied(asked.id, await self._result(asked)))
        except Exception as error:
            refusal = error_of(error, trace=self.door.principal.may("run"))
            status = refusal.status if refusal.status in STATUSES else 200
            return Reply(status, refused(asked.id, refusal))

    async def _initialize(self, asked: Request) -> Reply:
        wanted = asked.params.get("protocolVersion")
        session = await self.door.open(self.joined)
        first = await self._begun(session)
        result = {
            "protocolVersion": wanted if wanted in VERSIONS else VERSIONS[0],
            "capabilities": {"tools": {"listChanged": False}},
            "serverInfo": {"name": "ludus", "title": self.door.served.name, "version": __version__},
            "instructions": self._instructions(first),
        }
        return Reply(200, replied(asked.id, result), session.id)

    async def _begun(self, session: Session) -> Answer | None:
        try:
            return await self.door.begin(session)
        except BaseException:
            if not self.joined:
                await self.door.close(session)
            raise

    async def _result(self, asked: Request) -> dict[str, Any]:
        if asked.method == "ping":
            return {}
        session = self._session()
        if asked.method == "tools/list":
            return {"tools": await self.door.tools(session)}
        if asked.method == "tools/call":
            return await self._call(session, asked.params)
        if asked.method == "ludus/reset":
            return await self.door.reset(session, asked.params)
        raise Refusal(NO_METHOD, f"Method not found: {shorten(asked.method)}")

    async def _call(self, session: Session, params: dict[str, Any]) -> dict[str, Any]:
        """What the model can mend (its arguments, the end of an episode) is a result that it reads."""
        asked = asked_tool(params)
        await self.door.check(asked, session, unknown=INVALID_PARAMS)
        try:
            return mcp_result(await self.door.call(session, asked))
        except (ResetNeeded, InvalidValue, CodecError) as error:
            over = isinstance(error, ResetNeeded)
            return mcp_result(Answer(str(error), None, str(error), {"reward": None, "done": over}))

    # --- what a request says of itself ---

    def _check_version(self) -> None:
        version = self.headers.get(PROTOCOL)
        if version is not None and version not in VERSIONS:
            raise Refusal(
                UNSUPPORTED_VERSION,
                f"Unsupported protocol version: expected one of {', '.join(VERSIONS)}, got {shorten(version)}",
                status=400,
                data={"supported": list(VERSIONS), "requested": version[:64]},
            )

    def _session(self) -> Session:
        named = self.headers.get(SESSION)
        if named is None:
            raise Refusal(INVALID_REQUEST, "Mcp-Session-Id: expected what initialize gave, got none", status=400)
        return self.door.find(named)

    def _instructions(self, first: Answer | None) -> str:
        """What the environment is, and what its first observation says."""
        doc = self.door.served.description().doc.split("\n\n")[0]
        parts = [" ".join(doc.split()), "Each call of a tool is one step of an episode."]
        if first is not None and first.text:
            parts.append(f"The episode begins with: {first.text[:4096]}")
        return "\n\n".join(part for part in parts if part)
