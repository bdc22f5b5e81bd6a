"""`ListenConfig`: where a server is reached: on loopback, unless tokens or an explicit word say otherwise."""

import os
import socket
import ssl
from contextlib import suppress
from ipaddress import ip_address
from typing import TypedDict

import msgspec

from ludus.errors import AccessDenied, InvalidArgument, ServiceError, shorten

__all__ = ["ListenConfig", "ListenOptions"]

BACKLOG = 2048
MAX_PORT = 65_535


class ListenOptions(TypedDict, total=False):
    """The same by name, for `ludus.serve`."""

    unix: str | None
    hosts: tuple[str, ...]
    insecure: bool
    tls_cert: str | None
    tls_key: str | None
    pages: bool


class ListenConfig(msgspec.Struct, frozen=True, kw_only=True):
    """An address, and what protects it.

    >>> ListenConfig(port=0).check(open_to_all=True)
    >>> ListenConfig(host="0.0.0.0").check(open_to_all=True)
    Traceback (most recent call last):
    ludus.errors.AccessDenied: host: expected this machine's own (127.0.0.1) for a server without tokens, got ...
    """

    host: str = "127.0.0.1"
    port: int = 8000
    """0: any that is free."""
    unix: str | None = None
    """A path where the wire is spoken as well, for `ludus.connect("unix:///…")` of the same user."""
    hosts: tuple[str, ...] = ()
    """Names that the server may be called by, beside this machine's own."""
    insecure: bool = False
    """Whether everybody who reaches it may run it."""
    tls_cert: str | None = None
    tls_key: str | None = None
    pages: bool = True
    """Whether a browser sees pages at `/`."""

    def check(self, *, open_to_all: bool) -> None:
        """Refuse an address that others reach, for a server without tokens."""
        if not 0 <= self.port <= MAX_PORT:
            raise InvalidArgument(f"port: expected 0 to {MAX_PORT}, got {self.port}")
        if (self.tls_cert is None) != (self.tls_key is None):
            raise InvalidArgument("TLS: expected a certificate and its key, got one without the other")
        self._check_tls()
        if open_to_all and not self.private and not self.insecure:
            raise AccessDenied(
                f"host: expected this machine's own (127.0.0.1) for a server without tokens, got {shorten(self.host)}; "
                "give tokens (LUDUS_TOKENS, --token-file), or say --insecure"
            )

    def _check_tls(self) -> None:
        if self.tls_cert is None:
            return
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(self.tls_cert, self.tls_key)
        except OSError as error:  # what OpenSSL says is one of them
            raise InvalidArgument(f"TLS: expected a certificate and its key as PEM files, got: {error}") from error

    @property
    def private(self) -> bool:
        """Whether only this machine reaches it."""
        if self.host == "localhost":
            return True
        with suppress(ValueError):
            return ip_address(self.host).is_loopback
        return False

    @property
    def allowed(self) -> tuple[str, ...] | None:
        """The names it may be called by; None: any, where it listens to others and no name was given."""
        return self.hosts if self.hosts or self.private else None

    @property
    def secured(self) -> bool:
        """Whether it speaks TLS."""
        return self.tls_cert is not None

    def bind(self) -> socket.socket:
        """The socket, bound and listening."""
        try:
            return self._bound()
        except OSError as error:
            why = error.strerror or error
            raise ServiceError(f"listen: expected an address to be free, got {self.host}:{self.port}: {why}") from error

    def _bound(self) -> socket.socket:
        found = socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        listener = socket.socket(found[0], socket.SOCK_STREAM)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(found[4])
            listener.listen(BACKLOG)
        except BaseException:
            listener.close()
            raise
        return listener

    def url(self, listener: socket.socket) -> str:
        """How it is called."""
        bound, port = listener.getsockname()[:2]
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(bound, str(bound))  # noqa: S104  (shown, not bound)
        return f"{'https' if self.secured else 'http'}://{f'[{host}]' if ':' in host else host}:{port}"


def private_socket(path: str) -> socket.socket:
    """A listening Unix socket that nobody but this user reaches."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        before = os.umask(0o177)
        try:
            listener.bind(path)
        finally:
            os.umask(before)
        listener.listen(BACKLOG)
    except BaseException:
        listener.close()
        raise
    return listener
