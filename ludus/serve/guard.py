"""The guard before every door: hosts and origins, tokens, and the headers that a browser should see."""

from collections.abc import Iterable
from typing import Any
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ludus.errors import AccessDenied
from ludus.serve.access import Access

__all__ = ["Guard"]

LOOPBACK = ("localhost", "127.0.0.1", "::1", "testserver")
HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
        "font-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
}
OPEN_PATHS = ("/health",)
"""What a supervisor asks before it has a token."""


class Guard:
    """Refuses other hosts (a page that rebinds its name to this machine), other origins, and callers without a token.

    Whoever passes is known as `scope["state"]["principal"]`.
    """

    def __init__(self, app: ASGIApp, access: Access, hosts: Iterable[str] | None = None) -> None:
        self.app, self.access = app, access
        self.hosts = None if hosts is None else {*hosts, *LOOPBACK}
        """None: any, which is for servers with tokens."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await _refuse(scope, receive, send, *refusal)
            return
        await self.app(scope, receive, _hardened(send))

    def _refusal(self, scope: Scope, headers: Headers) -> tuple[int, str] | None:
        host = _name(f"//{headers.get('host', '')}")
        if self.hosts is not None and host not in self.hosts:
            return 421, "host: expected this machine's own name; start the server with --allow-host for others"
        origin = headers.get("origin")
        if origin and origin != "null" and urlsplit(origin).netloc.lower() != headers.get("host", "").lower():
            return 403, "origin: expected a page of this server, got one of another"
        try:
            principal = self.access.principal(_token(scope, headers))
        except AccessDenied as error:
            if scope["path"] not in OPEN_PATHS:
                return 401, str(error)
            return None
        scope.setdefault("state", {})["principal"] = principal
        return None


def _name(address: str) -> str:
    try:
        return (urlsplit(address).hostname or "").lower()
    except ValueError:
        return ""


def _token(scope: Scope, headers: Headers) -> str:
    """From the header; for WebSockets of a browser, which cannot set one, from `?token=` as well."""
    kind, _, token = headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer":
        return token.strip()
    if scope["type"] == "websocket":
        found: Any = parse_qs(scope.get("query_string", b"").decode("latin1")).get("token", [""])
        return found[0]
    return ""


async def _refuse(scope: Scope, receive: Receive, send: Send, status: int, why: str) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 4000 + status, "reason": why[:120]})
        return
    headers = {"www-authenticate": "Bearer"} if status == 401 else None
    await JSONResponse({"detail": why}, status, headers=headers)(scope, receive, _hardened(send))


def _hardened(send: Send) -> Send:
    async def hardened(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return hardened
