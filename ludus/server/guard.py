"""The guard before every endpoint: hosts and origins, tokens, rates, sizes, and the headers that browsers need."""

import re
from collections.abc import Iterable
from math import ceil
from typing import NamedTuple
from urllib.parse import parse_qs

from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ludus.errors import AccessDenied
from ludus.server.config import ServerConfig
from ludus.server.rate import Buckets

__all__ = ["Guard"]

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
IN_MEMORY = ("testclient", 50000)
"""What Starlette's test client, which has no socket, calls itself; its host is "testserver"."""
HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(?::[0-9]{1,5})?")
ORIGIN = re.compile(r"https?://(.+)")
HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
        "font-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
}
RAW_HEADERS = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
HEALTH = "/health"
"""What a supervisor asks before it has a token."""
PAGES = ("/", "/static/")
"""What a browser asks for before its page can ask for a token. No secret is there."""
DENIAL = "websocket.http.response"


class Refusal(NamedTuple):
    """Why a request goes no further."""

    status: int
    why: str
    headers: tuple[tuple[str, str], ...] = ()


class Guard:
    """Refuses other hosts (a page that rebinds its name to this machine), other origins, and callers without a token.

    Whoever passes is known as `scope["state"]["principal"]`. A peer that asks too often is told to come again, and a
    body that is too large is not read to its end.
    """

    def __init__(
        self,
        app: ASGIApp,
        config: ServerConfig,
        hosts: Iterable[str] | None = None,
        *,
        pages: bool = False,
    ) -> None:
        self.app, self.config, self.access, self.pages = app, config, config.access, pages
        self.hosts = None if hosts is None else {*(_bracketed(one) for one in hosts), *LOOPBACK}
        """None: any, which is for servers with tokens."""
        self._peers = Buckets(self.config.rate)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        refusal = self._refusal(scope, _headers(scope))
        if refusal is not None:
            await _refuse(scope, receive, send, refusal)
        elif scope["type"] == "websocket":
            await self.app(scope, receive, send)
        else:
            await self._bounded(scope, Body(receive, send, self.config.body))

    async def _bounded(self, scope: Scope, body: "Body") -> None:
        try:
            await self.app(scope, body.receive, body.send)
        except BodyTooLarge as error:
            if body.begun:
                raise  # half an answer cannot be mended: the connection ends
            await JSONResponse({"detail": error.detail}, error.status_code)(scope, body.receive, body.send)

    def _refusal(self, scope: Scope, headers: dict[str, list[str]]) -> Refusal | None:
        peer: tuple[str, int] = scope.get("client") or ("", 0)
        wait = self._peers.admit(str(peer[0]))
        if wait:
            after = (("retry-after", str(ceil(wait))),)
            return Refusal(429, f"rate: expected at most {self.config.rate:g} requests in a second, got more", after)
        host = headers.get("host", [])
        if len(host) > 1 or len(headers.get("authorization", [])) > 1:
            return Refusal(400, "headers: expected one Host and one Authorization, got more")
        called = host[0].lower() if host else ""
        if not self._is_ours(called, tuple(peer)):
            return Refusal(421, "host: expected this machine's own name; start the server with --allow-host for others")
        if any(not _same(origin, called) for origin in headers.get("origin", [])):
            return Refusal(403, "origin: expected a page of this server, got one of another")
        length = headers.get("content-length", ["0"])[0]
        if not length.isdecimal() or len(length) > 18 or int(length) > self.config.body:
            return Refusal(413, f"body: expected at most {self.config.body} bytes, got {length[:20]}")
        return self._known(scope, headers)

    def _is_ours(self, called: str, peer: tuple[object, ...]) -> bool:
        found = HOST.fullmatch(called)
        if found is None:
            return False
        name = found[1]
        return self.hosts is None or name in self.hosts or (peer == IN_MEMORY and name == "testserver")

    def _known(self, scope: Scope, headers: dict[str, list[str]]) -> Refusal | None:
        try:
            principal = self.access.principal(_token(scope, headers))
        except AccessDenied as error:
            if scope["type"] == "http" and self._is_open(scope["path"]):
                return None
            return Refusal(401, str(error), (("www-authenticate", "Bearer"),))
        scope.setdefault("state", {})["principal"] = principal
        return None

    def _is_open(self, path: str) -> bool:
        return path == HEALTH or (self.pages and (path == PAGES[0] or path.startswith(PAGES[1])))


class BodyTooLarge(HTTPException):
    """A body beyond the limit; an endpoint that lets it pass answers with status 413."""


class Body:
    """A request's body, counted as it comes, and the headers of the response to it."""

    def __init__(self, receive: Receive, send: Send, most: int) -> None:
        self._receive, self._send, self._left, self._most = receive, send, most, most
        self.begun = False
        """Whether the response is."""

    async def receive(self) -> Message:
        """The next part; past the limit, TooLarge."""
        message = await self._receive()
        if message["type"] == "http.request":
            self._left -= len(message.get("body", b""))
            if self._left < 0:
                raise BodyTooLarge(413, f"body: expected at most {self._most} bytes, got more")
        return message

    async def send(self, message: Message) -> None:
        """Send a part of the response; whatever was made of a body that was too large, the status says that it was."""
        if message["type"] == "http.response.start":
            self.begun = True
            if self._left < 0:
                message["status"] = 413
            given = message["headers"] = list(message.get("headers", ()))
            named = {name.lower() for name, _ in given}
            given += [pair for pair in RAW_HEADERS if pair[0] not in named]
        await self._send(message)


def _headers(scope: Scope) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in scope["headers"]:
        found.setdefault(name.decode("latin1").lower(), []).append(value.decode("latin1"))
    return found


def _bracketed(host: str) -> str:
    """A name as it stands in a Host header: addresses of IPv6 in brackets."""
    host = host.lower()
    return f"[{host}]" if ":" in host and not host.startswith("[") else host


def _same(origin: str, called: str) -> bool:
    """Whether an origin is that of the server's own pages; "null", which any page can send, is not."""
    found = ORIGIN.fullmatch(origin.lower())
    return found is not None and found[1] == called


def _token(scope: Scope, headers: dict[str, list[str]]) -> str:
    """From the header; for WebSockets of a browser, which cannot set one, from `?token=` as well."""
    kind, _, token = headers.get("authorization", [""])[0].partition(" ")
    if kind.lower() == "bearer":
        return token.strip()
    if scope["type"] == "websocket":
        try:
            return parse_qs(scope.get("query_string", b"").decode("latin1"), max_num_fields=32).get("token", [""])[0]
        except ValueError:  # more fields than anybody has use for
            return ""
    return ""


async def _refuse(scope: Scope, receive: Receive, send: Send, refusal: Refusal) -> None:
    response = JSONResponse({"detail": refusal.why}, refusal.status, headers={**HEADERS, **dict(refusal.headers)})
    if scope["type"] == "websocket" and DENIAL not in scope.get("extensions", {}):
        await send({"type": "websocket.close", "code": 4000 + refusal.status, "reason": refusal.why[:120]})
        return
    await response(scope, receive, send)
