"""Naming: which session a request is about, in whichever of its parts it says so."""

from urllib.parse import parse_qs

import msgspec
from starlette.types import Scope

from ludus.spaces.kinds import is_dict

__all__ = ["COOKIE", "named_by_cookies", "named_in_body", "named_outright"]

HEADERS = (b"x-session-id", b"mcp-session-id")
COOKIE = b"ludus_session"
MAX_FIELDS = 64
SESSIONS = "/v1/sessions/"


def named_outright(scope: Scope) -> str:
    """The session in the path, a header or the query."""
    path: str = scope["path"]
    if path.startswith(SESSIONS):
        return path[len(SESSIONS) :]
    for name, value in scope["headers"]:
        if name in HEADERS and value.strip():
            return value.decode("latin1").strip()
    query: bytes = scope.get("query_string", b"")
    if b"session_id=" not in query:
        return ""
    try:
        return parse_qs(query.decode("latin1"), max_num_fields=MAX_FIELDS).get("session_id", [""])[0]
    except ValueError:  # more fields than anybody has use for
        return ""


def named_by_cookies(scope: Scope) -> list[str]:
    """The sessions of cookies: one for each path that a browser has been at, the nearest first."""
    found: list[str] = []
    for name, value in scope["headers"]:
        if name == b"cookie" and COOKIE in value:
            pairs = (one.strip().partition(b"=") for one in value.split(b";"))
            found += [one.decode("latin1").strip('"') for key, _, one in pairs if key == COOKIE]
    return found


def named_in_body(body: bytes) -> str:
    """The session in a JSON body, in the parameters of JSON-RPC, or in the arguments of a call there.

    >>> named_in_body(b'{"method": "tools/list", "params": {"session_id": "1.abc"}}')
    '1.abc'
    """
    if b"session_id" not in body:
        return ""
    try:
        data: object = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError, ValueError):
        return ""
    params: object = data.get("params") if is_dict(data) else None
    places: list[object] = [data, params, params.get("arguments") if is_dict(params) else None]
    told = (one.get("session_id") for one in places if is_dict(one))
    return next((name for name in told if isinstance(name, str)), "")
