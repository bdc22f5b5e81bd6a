"""Passing on: the parts of a request that goes from one worker to another."""

from collections.abc import Iterable

from starlette.types import Scope

__all__ = ["passed_headers", "target"]

HOP = {b"connection", b"keep-alive", b"transfer-encoding", b"content-length", b"upgrade", b"te", b"trailer", b"expect"}
FORWARDED = {b"x-forwarded-for", b"x-forwarded-proto", b"forwarded"}


def passed_headers(scope: Scope, without: Iterable[bytes] = ()) -> list[tuple[bytes, bytes]]:
    """The headers that go to another worker, with the caller's address as ours saw it."""
    dropped = {*HOP, *FORWARDED, *without}
    client: tuple[str, int] | None = scope.get("client")
    kept = [one for one in scope["headers"] if one[0] not in dropped]
    if client is not None:
        kept.append((b"x-forwarded-for", client[0].encode()))
    kept.append((b"x-forwarded-proto", scope["scheme"].encode()))
    return kept


def target(scope: Scope) -> bytes:
    """Path and query, as they came."""
    path: bytes = scope.get("raw_path") or scope["path"].encode()
    query: bytes = scope.get("query_string", b"")
    return path + b"?" + query if query else path
