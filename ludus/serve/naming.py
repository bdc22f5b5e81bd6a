"""Naming: which session a request is about, in whichever of its parts it says so."""

from typing import Any
from urllib.parse import parse_qs

import msgspec
from starlette.datastructures import Headers
from starlette.types import Scope

__all__ = ["named_by_cookie", "named_in_body", "named_outright"]

HEADERS = ("x-session-id", "mcp-session-id")
COOKIE = "ludus_session"
SESSIONS = "/v1/sessions/"


def named_outright(scope: Scope) -> str:
    """The session in the path, a header or the query."""
    path: str = scope["path"]
    if path.startswith(SESSIONS):
        return path[len(SESSIONS) :]
    headers = Headers(scope=scope)
    for name in HEADERS:
        if headers.get(name):
            return headers[name]
    query: bytes = scope.get("query_string", b"")
    return parse_qs(query.decode("latin1")).get("session_id", [""])[0] if b"session_id=" in query else ""


def named_by_cookie(scope: Scope) -> str:
    """The session of a cookie."""
    text = Headers(scope=scope).get("cookie", "")
    if COOKIE not in text:
        return ""
    pairs = (part.strip().partition("=") for part in text.split(";"))
    return next((value.strip('"') for name, _, value in pairs if name == COOKIE), "")


def named_in_body(body: bytes) -> str:
    """The session in a JSON body, or in the parameters of JSON-RPC.

    >>> named_in_body(b'{"method": "tools/list", "params": {"session_id": "1.abc"}}')
    '1.abc'
    """
    if b"session_id" not in body:
        return ""
    try:
        data: Any = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError, ValueError):
        return ""
    places = [data, data.get("params")] if isinstance(data, dict) else []
    found = [one["session_id"] for one in places if isinstance(one, dict) and isinstance(one.get("session_id"), str)]
    return found[0] if found else ""
