"""JSON-RPC 2.0: requests read and checked, replies written, errors with the codes that clients know."""

from collections.abc import Mapping
from typing import Final, NamedTuple, TypeGuard

import msgspec

from ludus.errors import (
    AccessDenied,
    CodecError,
    InvalidArgument,
    InvalidType,
    InvalidValue,
    ResetNeeded,
    ServerBusy,
    ServiceError,
    SessionLost,
    shorten,
)
from ludus.server.failures import error_reply, is_infrastructure, status_of
from ludus.spaces.kinds import is_dict

__all__ = [
    "HEADER_MISMATCH",
    "INTERNAL",
    "INVALID_PARAMS",
    "INVALID_REQUEST",
    "NO_METHOD",
    "PARSE",
    "SERVER",
    "UNSUPPORTED_VERSION",
    "RpcError",
    "RpcRequest",
    "error_of",
    "read",
    "refused",
    "replied",
    "request_of",
]

PARSE: Final = -32700
INVALID_REQUEST: Final = -32600
NO_METHOD: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL: Final = -32603
SERVER: Final = -32000
HEADER_MISMATCH: Final = -32020
UNSUPPORTED_VERSION: Final = -32022
KEYS = frozenset(("jsonrpc", "method", "params", "id"))
MAX_ID_CHARS = 255


class RpcError(Exception):
    """An error of a request: its code, and the HTTP status where the protocol in use has statuses."""

    def __init__(self, code: int, message: str, *, status: int = 200, data: Mapping[str, object] | None = None) -> None:
        super().__init__(message)
        self.code, self.message, self.status, self.data = code, message, status, data


class RpcRequest(NamedTuple):
    """A call of a method."""

    method: str
    params: dict[str, object]
    id: str | int | None
    """None: nobody waits for the reply, but for OpenEnv's clients, who may leave it out."""


def read(body: bytes | str) -> object:
    """The JSON in a message; a Refusal on anything else."""
    try:
        return msgspec.json.decode(body)
    except (msgspec.MsgspecError, RecursionError, UnicodeError, ValueError) as error:
        raise RpcError(PARSE, f"Parse error: expected JSON, got {error}", status=400) from None


def request_of(data: object) -> RpcRequest:
    """The request in an object; a Refusal where it is none."""
    if not is_dict(data):
        raise _invalid(f"expected an object, got {shorten(data)}")
    strange = [key for key in data if key not in KEYS]
    method: object = data.get("method")
    params: object = data.get("params")
    number: object = data.get("id")
    if strange or data.get("jsonrpc") != "2.0":
        raise _invalid(f"expected jsonrpc '2.0', method, params and id, got {shorten(data)}")
    if not isinstance(method, str):
        raise _invalid(f"expected the name of a method, got {shorten(method)}")
    if not _is_id(number):
        raise _invalid(f"expected a short text or whole number as id, got {shorten(number)}")
    if params is not None and not is_dict(params):
        raise _invalid(f"expected params as an object, got {shorten(params)}")
    return RpcRequest(method, params or {}, number)


def _is_id(number: object) -> TypeGuard[int | str | None]:
    if isinstance(number, str):
        return len(number) <= MAX_ID_CHARS
    return number is None or (type(number) is int and abs(number) < 1 << 64)


def _invalid(why: str) -> RpcError:
    return RpcError(INVALID_REQUEST, f"Invalid request: {why}", status=400)


def replied(id: str | int | None, result: object) -> dict[str, object]:
    """The reply to a request that was carried out."""
    return {"jsonrpc": "2.0", "id": id, "result": result}


def refused(id: str | int | None, refusal: RpcError) -> dict[str, object]:
    """The reply to a request that was not."""
    error: dict[str, object] = {"code": refusal.code, "message": refusal.message}
    if refusal.data is not None:
        error["data"] = refusal.data
    return {"jsonrpc": "2.0", "id": id, "error": error}


CODES: tuple[tuple[type[BaseException], int], ...] = (
    (SessionLost, INVALID_PARAMS),
    (AccessDenied, SERVER),
    (ResetNeeded, SERVER),
    (InvalidValue, INVALID_PARAMS),
    (InvalidArgument, INVALID_PARAMS),
    (InvalidType, INVALID_PARAMS),
    (CodecError, INVALID_PARAMS),
    (ServiceError, SERVER),
)


def error_of(error: Exception, *, trace: bool = False) -> RpcError:
    """An exception as an error of JSON-RPC: what kind it was, and whether a trainer should leave the episode out."""
    if isinstance(error, RpcError):
        return error
    reply, lost = error_reply(error, trace=trace), is_infrastructure(error)
    code = next((code for kind, code in CODES if isinstance(error, kind)), SERVER if lost else INTERNAL)
    data: dict[str, object] = {"kind": reply.kind, "infrastructure_failure": lost}
    data |= {"trace": reply.trace} if reply.trace else {}
    data |= {"retry_after": error.retry_after} if isinstance(error, ServerBusy) else {}
    return RpcError(code, reply.message or reply.kind, status=status_of(error), data=data)
