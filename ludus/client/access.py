"""`ServerAccess`: how a server is reached and with which token: sockets, TLS, framings, and plain HTTP beside them."""

import socket
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from ludus.client.address import Address
from ludus.client.framing import Framing, Lengths
from ludus.errors import InvalidArgument

if TYPE_CHECKING:
    from ssl import SSLContext

__all__ = ["ServerAccess"]

MAX_MESSAGE_BYTES = 1 << 28
"""Bytes of a message from a server."""
MAX_ANSWER_BYTES = 1 << 24
"""Bytes of the body of an HTTP answer."""


class ServerAccess:
    """The address of a server, the token for it, and the authorities that vouch for it (an `ssl.SSLContext`)."""

    def __init__(self, address: Address, token: str | None = None, tls: "SSLContext | None" = None) -> None:
        self.address, self.tls = address, tls
        self.headers: dict[str, str] = {}
        self.speech: str | None = None
        """How a server behind a Unix socket speaks, once it is known."""
        if token is not None:
            if not token.isascii() or not token.isprintable():
                raise InvalidArgument("token: expected printable ASCII, got another text")
            self.headers["Authorization"] = f"Bearer {token}"

    def context(self) -> "SSLContext | None":
        """The TLS context; None for plain connections."""
        if not self.address.secure:
            return None
        if self.tls is None:
            import ssl  # ten milliseconds that most connections do without

            self.tls = ssl.create_default_context()
        return self.tls

    def link(self, seconds: float) -> socket.socket:
        """A socket that is connected, without delay for small messages; what is to be TLS is not yet."""
        address = self.address
        if address.kind != "unix":
            link = socket.create_connection((address.host, address.port), seconds)
            prompt(link)
            return link
        link = socket.socket(socket.AF_UNIX)
        link.settimeout(seconds)
        try:
            link.connect(address.base)
        except BaseException:
            link.close()
            raise
        return link

    def connect(self, seconds: float) -> socket.socket:
        """A socket that is ready to be used."""
        link, context = self.link(seconds), self.context()
        try:
            return link if context is None else context.wrap_socket(link, server_hostname=self.address.host)
        except BaseException:
            link.close()
            raise

    def framings(self, path: str, text: bool) -> list[Callable[[], Framing]]:
        """How a connection to an endpoint may be spoken over, most likely first.

        Behind a Unix socket is a web server or one of bare frames, which hangs up on the first word of the other kind.
        """
        address = self.address
        prefix = address.own_prefix if text else address.prefix
        uri = f"ws{'s' if address.secure else ''}://{address.authority}{prefix}{path}"
        from ludus.client.websocket import WebSocket  # its library costs more to load than this whole room

        web = partial(WebSocket, uri, self.headers, text=text, size=MAX_MESSAGE_BYTES)
        if address.kind != "unix":
            return [web]
        found: dict[str, Callable[[], Framing]] = {"web": web, "bare": partial(Lengths, MAX_MESSAGE_BYTES)}
        return list(found.values()) if self.speech is None else [found[self.speech]]

    def spoken(self, framing: Framing) -> None:
        """It is this one that is spoken."""
        self.speech = "bare" if isinstance(framing, Lengths) else "web"

    def fetch(self, method: str, path: str, body: bytes | None, seconds: float) -> tuple[int, bytes]:
        """Status and body of an HTTP request; OSError where the answer is none, or too large."""
        import http.client  # twenty milliseconds; only servers of other kinds are asked over HTTP

        headers = {"Host": self.address.authority, **self.headers}
        if body is not None:
            headers["Content-Type"] = "application/json"
        connection = http.client.HTTPConnection(self.address.authority, timeout=seconds)
        try:
            connection.sock = self.connect(seconds)
            connection.request(method, f"{self.address.own_prefix}{path}", body, headers)
            response = connection.getresponse()
            found = response.read(MAX_ANSWER_BYTES + 1)
        except http.client.HTTPException as error:
            raise ConnectionResetError(f"no HTTP answer: {type(error).__name__}: {error}") from error
        finally:
            connection.close()
        if len(found) > MAX_ANSWER_BYTES:
            raise ConnectionResetError(f"an answer of more than {MAX_ANSWER_BYTES} bytes")
        return response.status, found


def prompt(link: socket.socket) -> None:
    """Send small messages at once, and notice when the other machine is gone."""
    link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    link.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
