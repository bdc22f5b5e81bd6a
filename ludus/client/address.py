"""Addresses of servers: `http(s)://`, `ws(s)://`, `unix:///path`; an environment of many by `…/env/NAME`."""

from typing import Literal, NamedTuple
from urllib.parse import quote, unquote, urlsplit

from ludus.errors import InvalidArgument, shorten

__all__ = ["Address", "read_address"]

PORTS = {"http": 80, "ws": 80, "https": 443, "wss": 443}
ENDPOINTS = ("/v1/ws", "/ws")
NAMED = "/env/"


class Address(NamedTuple):
    """Where a server is."""

    kind: Literal["web", "unix"]
    host: str = ""
    port: int = 0
    secure: bool = False
    base: str = ""
    """The path in front of every endpoint; of a Unix socket, where that is."""
    env: str = ""
    """The environment that is meant, where the address names one."""

    @property
    def authority(self) -> str:
        """Host and port, as a header has them."""
        if self.kind == "unix":
            return "localhost"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == (443 if self.secure else 80) else f"{host}:{self.port}"

    @property
    def prefix(self) -> str:
        """The path in front of every endpoint that is the whole server's."""
        return "" if self.kind == "unix" else self.base

    @property
    def own_prefix(self) -> str:
        """The path in front of every endpoint that is the environment's own."""
        return f"{self.prefix}{NAMED}{quote(self.env)}" if self.env else self.prefix

    def __str__(self) -> str:
        if self.kind == "unix":
            return f"unix://{self.base}"
        return f"http{'s' if self.secure else ''}://{self.authority}{self.base}"


def read_address(url: str) -> Address:
    """The address in a text; InvalidArgument where it is none.

    >>> read_address("https://somewhere.example/play/env/open/Echo-v0").env
    'open/Echo-v0'
    >>> str(read_address("ws://localhost:8000/v1/ws"))
    'http://localhost:8000'
    """
    if url.startswith("unix://"):
        path = unquote(url.removeprefix("unix://"))
        if not path.startswith("/"):
            raise InvalidArgument(f"url: expected unix:///path/of/a/socket, got {shorten(url)}")
        return Address("unix", base=path)
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise InvalidArgument(f"url: expected the address of a server, got {shorten(url)}: {error}") from error
    if parts.scheme not in PORTS or not host:
        raise InvalidArgument(
            f"url: expected http://, https://, ws://, wss://, unix:///path or image:NAME, got {shorten(url)}"
        )
    if parts.username is not None or parts.password is not None:
        raise InvalidArgument("url: expected no user or password in it, got one; pass token=…")
    base, _, env = parts.path.partition(NAMED)
    env = unquote(env.strip("/"))
    base = base.rstrip("/")
    for endpoint in ENDPOINTS:
        base = base.removesuffix(endpoint)
    return Address("web", host, port or PORTS[parts.scheme], parts.scheme in ("https", "wss"), base, env)
