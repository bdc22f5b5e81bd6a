"""The proxy: the one way out of a sandbox that may reach named hosts. It runs on this side, and reaches nobody else.

It speaks HTTP's `CONNECT` and plain requests with a whole address, over a Unix socket that is shown inside, where a
relay listens on the sandbox's own loopback. Names are resolved here.
"""

import errno
import os
import select
import shutil
import socket
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from urllib.parse import urlsplit

from ludus.errors import listing
from ludus.sandbox.leftovers import private_folder

__all__ = ["PORT", "Proxy", "address", "proxy_variables"]

PORT = 3128
"""On the sandbox's own loopback."""
MAX_CONNECTIONS = 64
"""Connections at once; more wait."""
MAX_HEAD_BYTES = 16384
CHUNK_BYTES = 65536
REQUEST_TIMEOUT_S = 30.0
"""Seconds for a request to be said, and for a host to answer the call."""
DRAIN_TIMEOUT_S = 1.0
DEFAULT_PORT = 80
DROPPED = ("proxy-", "connection:", "keep-alive:", "host:", "host ", "host\t")
"""Headers that are the proxy's to say: whom a request is for follows from its target, which was looked at."""
SHORTAGES = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM, errno.ECONNABORTED, errno.EINTR)
SHORTAGE_PAUSE_S = 0.05

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


class ProxyRefusal(Exception):
    """A request that is answered with a status and a reason."""

    def __init__(self, status: str, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class Proxy:
    """Listens at `path` until it is closed; reaches the hosts it was given and nobody else."""

    def __init__(self, hosts: Iterable[str]) -> None:
        self._allowed = {address(host) for host in hosts}
        self._folder = private_folder("proxy")
        self.path = os.path.join(os.path.realpath(self._folder), "socket")
        self._free = threading.Semaphore(MAX_CONNECTIONS)
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._closed = False
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(self.path)
        os.chmod(self.path, 0o666)  # noqa: S103  (the folder is ours alone; inside, another user calls)
        self._listener.listen(MAX_CONNECTIONS)
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
        """Answer calls until closed, each in one of few places: others wait in the kernel, and cost us nothing."""
        while True:
            self._free.acquire()
            try:
                caller, _ = self._listener.accept()
            except OSError as error:
                self._free.release()
                if self._closed or error.errno not in SHORTAGES:
                    return
                time.sleep(SHORTAGE_PAUSE_S)  # of descriptors or memory, which others give back
                continue
            try:
                threading.Thread(target=self._serve, args=(caller,), name="ludus-proxy-call", daemon=True).start()
            except RuntimeError:  # no more threads
                caller.close()
                self._free.release()

    def _serve(self, caller: socket.socket) -> None:
        try:
            with caller, suppress(OSError):
                self._hold(caller)
                try:
                    self._connect(caller)
                except ProxyRefusal as refused:
                    _refuse(caller, refused)
                finally:
                    self._open.discard(caller)
        finally:
            self._free.release()

    def _hold(self, one: socket.socket) -> None:
        with self._lock:
            if self._closed:
                raise OSError("closed")
            self._open.add(one)

    def _connect(self, caller: socket.socket) -> None:
        caller.settimeout(REQUEST_TIMEOUT_S)
        head, rest = _read_head(caller)
        target, first = _understood(head)
        if target not in self._allowed:
            known = listing(sorted(f"{host}:{port}" for host, port in self._allowed))
            raise ProxyRefusal("403 Forbidden", f"expected one of {known}, got {target[0]}:{target[1]}")
        try:
            host = socket.create_connection(target, timeout=REQUEST_TIMEOUT_S)
        except OSError as error:
            raise ProxyRefusal("502 Bad Gateway", f"{target[0]}:{target[1]}: {error}") from None
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
    while some and b"\r\n\r\n" not in data and len(data) <= MAX_HEAD_BYTES:
        some = caller.recv(CHUNK_BYTES)
        data += some
    head, end, rest = data.partition(b"\r\n\r\n")
    if not end or len(head) > MAX_HEAD_BYTES:
        raise ProxyRefusal("400 Bad Request", f"expected the head of a request within {MAX_HEAD_BYTES} bytes")
    return head, rest


def _refuse(caller: socket.socket, refused: ProxyRefusal) -> None:
    """Say why, and hear out what is under way, for a moment: hanging up at once would take the answer back."""
    end = time.monotonic() + DRAIN_TIMEOUT_S
    caller.settimeout(DRAIN_TIMEOUT_S)
    caller.sendall(f"HTTP/1.1 {refused.status}\r\nConnection: close\r\n\r\n{refused}\n".encode())
    caller.shutdown(socket.SHUT_WR)
    while (left := end - time.monotonic()) > 0:
        caller.settimeout(left)
        if not caller.recv(CHUNK_BYTES):
            return


def _understood(head: bytes) -> tuple[Address, bytes]:
    """Whom a request wants to reach, and what to say to it first: nothing after CONNECT."""
    request, *lines = head.decode("latin1").split("\r\n")
    if any(end in line for line in (request, *lines) for end in "\r\n"):  # a lenient host would see a header there
        raise ProxyRefusal("400 Bad Request", "expected lines that end with CR LF")
    try:
        method, target, version = request.split(" ")
        if method == "CONNECT":
            return address(target), b""
        parts = urlsplit(target)
        if parts.scheme != "http" or not parts.hostname:
            raise ValueError(target)
        whom = parts.hostname.rstrip(".").lower(), parts.port or DEFAULT_PORT
    except ValueError:
        raise ProxyRefusal("400 Bad Request", "expected CONNECT host:port, or a request for http://host/path") from None
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    kept = [line for line in lines if not line.lower().startswith(DROPPED)]
    host = f"[{whom[0]}]" if ":" in whom[0] else whom[0]
    host = host if whom[1] == DEFAULT_PORT else f"{host}:{whom[1]}"
    sent = [f"{method} {path} {version}", f"Host: {host}", *kept, "Connection: close", "", ""]
    return whom, "\r\n".join(sent).encode("latin1")


def _pump(one: socket.socket, other: socket.socket) -> None:
    """Carry bytes both ways until both sides are done."""
    one.settimeout(None)
    other.settimeout(None)
    ways = {one.fileno(): (one, other), other.fileno(): (other, one)}
    waiting = select.poll()
    for descriptor in ways:
        waiting.register(descriptor, select.POLLIN)
    while ways:
        for descriptor, _ in waiting.poll():
            ready, beyond = ways[descriptor]
            data = ready.recv(CHUNK_BYTES)
            if data:
                beyond.sendall(data)
                continue
            waiting.unregister(descriptor)
            del ways[descriptor]
            with suppress(OSError):
                beyond.shutdown(socket.SHUT_WR)
