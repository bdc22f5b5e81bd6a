"""The proxy: the one way out of a sandbox that may reach named hosts. It runs on this side, and reaches nobody else.

It speaks HTTP's `CONNECT` and plain requests with a whole address, over a Unix socket that is shown inside, where a
relay listens on the sandbox's own loopback. Names are resolved here.
"""

import os
import select
import shutil
import socket
import tempfile
import threading
from collections.abc import Iterable
from contextlib import suppress
from urllib.parse import urlsplit

from ludus.errors import listing

__all__ = ["PORT", "Proxy", "address", "proxy_variables"]

PORT = 3128
"""On the sandbox's own loopback."""
MOST = 64
"""Connections at once; more are told to come again."""
HEAD = 16384
CHUNK = 65536
PATIENCE = 30.0
"""Seconds for a request to be said, and for a host to answer the call."""
FAREWELL = 1.0
DEFAULT_PORT = 80
DROPPED = ("proxy-", "connection:", "keep-alive:")

Address = tuple[str, int]


def address(text: str) -> Address:
    """Host and port of `host:port`; hosts are compared in lower case.

    >>> address("Example.org:443")
    ('example.org', 443)
    >>> address("[::1]:80")
    ('::1', 80)
    """
    host, _, port = text.rpartition(":")
    return host.strip("[]").rstrip(".").lower(), int(port)


def proxy_variables() -> dict[str, str]:
    """The variables by which programs learn of a proxy."""
    where = f"http://127.0.0.1:{PORT}"
    names = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")
    own = dict.fromkeys(("NO_PROXY", "no_proxy"), "localhost,127.0.0.1,::1")
    return {**dict.fromkeys(names, where), **own}


class Refused(Exception):
    """A request that is answered with a status and a reason."""

    def __init__(self, status: str, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class Proxy:
    """Listens at `path` until it is closed; reaches the hosts it was given and nobody else."""

    def __init__(self, hosts: Iterable[str]) -> None:
        self._allowed = {address(host) for host in hosts}
        self._folder = tempfile.mkdtemp(prefix="ludus-proxy-")
        self.path = os.path.join(os.path.realpath(self._folder), "socket")
        self._free = threading.Semaphore(MOST)
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._closed = False
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(self.path)
        os.chmod(self.path, 0o666)  # noqa: S103  (the folder is ours alone; inside, another user calls)
        self._listener.listen(MOST)
        threading.Thread(target=self._accept, name="ludus-proxy", daemon=True).start()

    def close(self) -> None:
        """Hang up on everybody; harmless twice."""
        with self._lock:
            self._closed = True
            for one in (self._listener, *self._open):
                with suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _accept(self) -> None:
        with suppress(OSError):  # closed
            while True:
                caller, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(caller,), name="ludus-proxy-call", daemon=True).start()

    def _serve(self, caller: socket.socket) -> None:
        with caller, suppress(OSError):
            self._hold(caller)
            try:
                if not self._free.acquire(blocking=False):
                    raise Refused("503 Service Unavailable", f"expected at most {MOST} connections at once")
                try:
                    self._connect(caller)
                finally:
                    self._free.release()
            except Refused as refused:
                _refuse(caller, refused)
            finally:
                self._open.discard(caller)

    def _hold(self, one: socket.socket) -> None:
        with self._lock:
            if self._closed:
                raise OSError("closed")
            self._open.add(one)

    def _connect(self, caller: socket.socket) -> None:
        caller.settimeout(PATIENCE)
        head, rest = _read_head(caller)
        target, first = _understood(head)
        if target not in self._allowed:
            known = listing(sorted(f"{host}:{port}" for host, port in self._allowed))
            raise Refused("403 Forbidden", f"expected one of {known}, got {target[0]}:{target[1]}")
        try:
            host = socket.create_connection(target, timeout=PATIENCE)
        except OSError as error:
            raise Refused("502 Bad Gateway", f"{target[0]}:{target[1]}: {error}") from None
        with host:
            self._hold(host)
            try:
                if first:
                    host.sendall(first + rest)
                else:
                    caller.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                    host.sendall(rest)
                _pump(caller, host)
            finally:
                self._open.discard(host)


def _read_head(caller: socket.socket) -> tuple[bytes, bytes]:
    data, some = b"", b" "
    while some and b"\r\n\r\n" not in data and len(data) <= HEAD:
        some = caller.recv(CHUNK)
        data += some
    head, end, rest = data.partition(b"\r\n\r\n")
    if not end or len(head) > HEAD:
        raise Refused("400 Bad Request", f"expected the head of a request within {HEAD} bytes")
    return head, rest


def _refuse(caller: socket.socket, refused: Refused) -> None:
    """Say why, and hear out what is under way: hanging up at once would take the answer back."""
    caller.settimeout(FAREWELL)
    caller.sendall(f"HTTP/1.1 {refused.status}\r\nConnection: close\r\n\r\n{refused}\n".encode())
    caller.shutdown(socket.SHUT_WR)
    for _ in range(MOST):
        if not caller.recv(CHUNK):
            return


def _understood(head: bytes) -> tuple[Address, bytes]:
    """Whom a request wants to reach, and what to say to it first: nothing after CONNECT."""
    request, *lines = head.decode("latin1").split("\r\n")
    try:
        method, target, version = request.split(" ")
        if method == "CONNECT":
            return address(target), b""
        parts = urlsplit(target)
        if parts.scheme != "http" or not parts.hostname:
            raise ValueError(target)
        whom = parts.hostname.rstrip(".").lower(), parts.port or DEFAULT_PORT
    except ValueError:
        raise Refused("400 Bad Request", "expected CONNECT host:port, or a request for http://host/path") from None
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    kept = [line for line in lines if not line.lower().startswith(DROPPED)]
    return whom, "\r\n".join([f"{method} {path} {version}", *kept, "Connection: close", "", ""]).encode("latin1")


def _pump(one: socket.socket, other: socket.socket) -> None:
    """Carry bytes both ways until both sides are done."""
    one.settimeout(None)
    other.settimeout(None)
    ways = {one: other, other: one}
    while ways:
        for ready in select.select(list(ways), [], [])[0]:
            data = ready.recv(CHUNK)
            if data:
                ways[ready].sendall(data)
            else:
                with suppress(OSError):
                    ways.pop(ready).shutdown(socket.SHUT_WR)
