"""Which session a request means: by header or body, which are orders, or by the cookie, which is a reminder."""

from urllib.parse import quote

from starlette.types import Scope

from ludus.errors import InvalidArgument, SessionLost, shorten
from ludus.server.protocols.openenv.env_endpoint import EnvEndpoint
from ludus.server.protocols.openenv.exchange import HttpRequest
from ludus.server.session import Session
from ludus.server.session_names import COOKIE, named_by_cookies, named_outright

__all__ = ["forgetting", "named", "remembering"]

HEADER = b"x-session-id"
MAX_SESSION_ID_CHARS = 200


def named(endpoint: EnvEndpoint, asked: HttpRequest, data: dict[str, object]) -> Session | None:
    """The session that a request means; None where it names none.

    What it names by header, address or body has to be there, or it is SessionLost; a cookie may be old.
    """
    order = named_outright(asked.scope) or data.get("session_id") or ""
    if not isinstance(order, str) or len(order) > MAX_SESSION_ID_CHARS:
        raise InvalidArgument(
            f"session_id: expected text of at most {MAX_SESSION_ID_CHARS} characters, got {shorten(order)}"
        )
    if order:
        session = endpoint.find(order)
        if session is None:
            raise SessionLost(f"session {order[:8]}…: expected one of {endpoint.served.name}, got one of another kind")
        return session
    return next(
        (one for one in (_reminded(endpoint, name) for name in named_by_cookies(asked.scope)) if one is not None), None
    )


def _reminded(endpoint: EnvEndpoint, name: str) -> Session | None:
    try:
        session = endpoint.find(name)
    except SessionLost:
        return None
    return session if session is not None and session.lost is None else None


def remembering(scope: Scope, id: str) -> tuple[tuple[bytes, bytes], ...]:
    """The headers that tell a session's id, and have a client send it with every request from now on."""
    return (HEADER, id.encode()), (b"set-cookie", _cookie(scope, id, ""))


def forgetting(scope: Scope) -> tuple[tuple[bytes, bytes], ...]:
    """The header that ends that."""
    return ((b"set-cookie", _cookie(scope, "", "; Max-Age=0")),)


def _cookie(scope: Scope, value: str, more: str) -> bytes:
    path = quote(scope.get("root_path", ""), safe="/@:+~!$&'()*,=") or "/"
    secure = "; Secure" if scope.get("scheme") == "https" else ""
    return f"{COOKIE.decode()}={value}; Path={path}; HttpOnly; SameSite=Strict{secure}{more}".encode("latin1")
