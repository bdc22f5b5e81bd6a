"""Which session a request means: by header or body, which are orders, or by the cookie, which is a reminder."""

from typing import Any, NamedTuple
from urllib.parse import parse_qs, quote

from starlette.types import Scope

from ludus.errors import InvalidArgument, SessionLost, shorten
from ludus.serve.doors.openenv.exchange import Asked
from ludus.serve.doors.openenv.offer import Offer
from ludus.serve.session import Session

__all__ = ["forgetting", "named", "remembering"]

HEADER, COOKIE = b"x-session-id", b"ludus_session"
LONGEST = 200


class Names(NamedTuple):
    """What the headers and the address say."""

    order: str
    reminders: tuple[str, ...]


def named(offer: Offer, asked: Asked, data: dict[str, Any]) -> Session | None:
    """The session that a request means; None where it names none.

    What it names by header, address or body has to be there, or it is SessionLost; a cookie may be old.
    """
    names = _names(asked.scope)
    order = names.order or data.get("session_id") or ""
    if not isinstance(order, str) or len(order) > LONGEST:
        raise InvalidArgument(f"session_id: expected text of at most {LONGEST} characters, got {shorten(order)}")
    if order:
        session = offer.find(order)
        if session is None:
            raise SessionLost(f"session {order[:8]}…: expected one of {offer.served.name}, got one of another kind")
        return session
    return next((one for one in (_reminded(offer, name) for name in names.reminders) if one is not None), None)


def _reminded(offer: Offer, name: str) -> Session | None:
    try:
        session = offer.find(name)
    except SessionLost:
        return None
    return session if session is not None and session.lost is None else None


def _names(scope: Scope) -> Names:
    order, reminders = "", list[str]()
    headers: list[tuple[bytes, bytes]] = scope["headers"]
    for name, value in headers:
        if name == HEADER:
            order = value.decode("latin1").strip()
        elif name == b"cookie" and COOKIE in value:
            pairs = (one.strip().partition(b"=") for one in value.split(b";"))
            reminders += [found.decode("latin1") for key, _, found in pairs if key == COOKIE]
    if not order and scope["query_string"]:
        found = parse_qs(scope["query_string"].decode("latin1")).get("session_id", [""])
        order = found[0]
    return Names(order, tuple(reminders))


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
