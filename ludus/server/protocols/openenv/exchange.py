"""One HTTP request and its reply, without a framework in between: the step of an episode passes here."""

from collections.abc import Awaitable, Callable
from typing import NamedTuple

import msgspec
from starlette.types import Message, Receive, Scope, Send

from ludus.errors import CodecError, InvalidArgument, InvalidType, LimitExceeded, ResetNeeded, ServerBusy, shorten
from ludus.server.access import Principal
from ludus.server.failures import error_reply, status_of
from ludus.server.protocols.openenv.env_endpoint import EnvEndpoint
from ludus.server.protocols.openenv.envelope import to_json
from ludus.spaces.kinds import is_dict

__all__ = ["HttpRequest", "Endpoint", "HttpReply", "Sessionless", "failure", "json_reply"]

JSON = (b"content-type", b"application/json")
_decoder = msgspec.json.Decoder()


class Sessionless(ResetNeeded):
    """A request that needs a session, and named none that there is."""


class TooLarge(InvalidArgument):
    """A body above the server's limit."""


class HttpReply(NamedTuple):
    """A status, a body, and headers beside its type."""

    status: int
    body: bytes
    headers: tuple[tuple[bytes, bytes], ...] = (JSON,)


class HttpRequest(NamedTuple):
    """A request whose body was read."""

    scope: Scope
    body: bytes

    @property
    def principal(self) -> Principal:
        """Who asks."""
        return self.scope["state"]["principal"]

    def data(self) -> dict[str, object]:
        """The JSON object in the body; no body is an empty one."""
        if not self.body:
            return {}
        try:
            found: object = _decoder.decode(self.body)
        except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
            raise CodecError(f"body: expected JSON, got {shorten(self.body)}: {error}") from error
        if not is_dict(found):
            raise InvalidType(f"body: expected an object, got {shorten(found)}")
        return found


class Endpoint:
    """An ASGI application of one coroutine, from a request to its reply; what it raises is a reply too."""

    def __init__(self, answer: Callable[[HttpRequest], Awaitable[HttpReply]], endpoint: EnvEndpoint) -> None:
        self._answer, self._most = answer, endpoint.server.config.body
        self._metrics, self._env = endpoint.server.metrics, endpoint.served.name

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            body = await _body(receive, self._most)
            if body is None:
                return
            reply = await self._answer(HttpRequest(scope, body))
        except Exception as error:
            self._metrics.count("errors", env=self._env, kind=type(error).__name__)
            reply = failure(error)
        size = (b"content-length", str(len(reply.body)).encode())
        await send({"type": "http.response.start", "status": reply.status, "headers": [*reply.headers, size]})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else reply.body})


async def _body(receive: Receive, most: int) -> bytes | None:
    """The whole body; None where the caller is gone."""
    message: Message = await receive()
    if message["type"] == "http.request" and not message.get("more_body"):
        body: bytes = message.get("body", b"")
        _check_size(len(body), most)
        return body
    parts, size = list[bytes](), 0
    while message["type"] == "http.request":
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        _check_size(size, most)
        if not message.get("more_body"):
            return b"".join(parts)
        message = await receive()
    return None


def _check_size(size: int, most: int) -> None:
    if size > most:
        raise TooLarge(f"body: expected at most {most} bytes, got more")


def json_reply(data: object, status: int = 200) -> HttpReply:
    """Data as a reply."""
    return HttpReply(status, to_json(data))


def failure(error: BaseException) -> HttpReply:
    """An error as a reply: `detail` as stock clients read it, and what kind of failure it is."""
    told = error_reply(error)
    status = 413 if isinstance(error, TooLarge) else 504 if isinstance(error, LimitExceeded) else status_of(error)
    detail: object = told.message
    if status == 422:
        detail = [{"type": told.kind, "loc": ["body"], "msg": told.message}]
    shown: dict[str, object] = {"detail": detail, "kind": told.kind, "infrastructure_failure": told.infrastructure}
    if not isinstance(error, ServerBusy):
        return json_reply(shown, status)
    after = max(1, round(error.retry_after))
    return HttpReply(status, to_json({**shown, "retry_after": after}), (JSON, (b"retry-after", str(after).encode())))
