"""One request to a model's endpoint: by a deadline, of bounded size, and never sent on to another address.

urllib's own opener follows a redirect with the key in its headers, to whichever host the answer names; its timeout is
of each read, so that a server which sends a byte now and then holds it for good. Its proxies are kept.
"""

import contextlib
import http.client
import socket
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Generator
from email.utils import parsedate_to_datetime
from typing import Protocol

from ludus.errors import InvalidArgument, shorten

__all__ = ["MAX_ANSWER_BYTES", "Answer", "Refused", "bearer", "open_endpoint"]

MAX_ANSWER_BYTES = 16 << 20
"""Of one answer."""
MAX_REASON_BYTES = 2000
REDIRECTS = range(300, 400)


class Refused(Exception):
    """An answer with a code that is no success: what it says, and how long its server asks to be left alone.

    >>> Refused(429, "slowly", 3.0).seconds
    3.0
    """

    def __init__(self, code: int, text: str, seconds: float = 0.0) -> None:
        super().__init__(f"HTTP {code}: {text}")
        self.code, self.text, self.seconds = code, text, seconds


class Answer:
    """The body of an answer, of which no more than `MAX_ANSWER_BYTES` are read; ValueError beyond."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self._response, self._left = response, MAX_ANSWER_BYTES

    def read(self) -> bytes:
        """All of it; ValueError where it was cut off, which urllib does not tell who reads by bytes."""
        data = self._counted(self._response.read(self._left + 1))
        if self._response.length:
            raise ValueError(f"an answer of which {self._response.length} bytes are missing")
        return data

    def readline(self) -> bytes:
        """The next line; empty at the end."""
        return self._counted(self._response.readline(self._left + 1))

    def _counted(self, data: bytes) -> bytes:
        self._left -= len(data)
        if self._left < 0:
            raise ValueError(f"an answer of more than {MAX_ANSWER_BYTES} bytes")
        return data


@contextlib.contextmanager
def open_endpoint(url: str, body: bytes, headers: dict[str, str], seconds: float) -> Generator[Answer, None, None]:
    """Post to an endpoint; Refused for a code, TimeoutError where it was not read to its end within the seconds."""
    with _Deadline(seconds) as deadline:
        opener = urllib.request.build_opener(_Http(deadline), _Https(deadline), _NoRedirect())
        request = urllib.request.Request(url, body, headers)  # noqa: S310  (the agent has checked its scheme)
        try:
            try:
                with opener.open(request, timeout=seconds) as response:
                    yield Answer(response)
                    if deadline.over:  # an answer that does not say how long it is ends where it is cut off
                        raise TimeoutError
            except urllib.error.HTTPError as error:
                raise _refused(error) from None
        except (OSError, http.client.HTTPException, ValueError, Refused) as error:
            if deadline.over or _timed_out(error):  # cut off by us: whatever was read before is not the reason
                raise TimeoutError(f"no whole answer within {seconds:g} s") from error
            raise


def _timed_out(error: Exception) -> bool:
    """Whether a single call on the socket took all of the time, and ended before it was cut off."""
    return isinstance(getattr(error, "reason", error), TimeoutError)


def bearer(key: str) -> str:
    """The header of a key; InvalidArgument, which does not repeat it, for one that no header can have."""
    if not key.isascii() or not key.isprintable():
        raise InvalidArgument("key: expected printable ASCII, got other characters; is a line end in its variable?")
    return f"Bearer {key}"


def _refused(error: urllib.error.HTTPError) -> Refused:
    with error:
        if error.code in REDIRECTS:
            place = shorten(str(error.headers.get("Location")), 200)
            return Refused(error.code, f"a redirect to {place}, where no key is sent; give that address as the url")
        return Refused(
            error.code, error.read(MAX_REASON_BYTES).decode("utf8", "replace"), _retry_after(error.headers, time.time())
        )


class Headers(Protocol):
    """Of an answer."""

    def get(self, name: str, /) -> str | None:
        """One of them."""
        ...


def _retry_after(headers: Headers, now: float) -> float:
    """The seconds that a server asks to be left alone for; 0 where it does not, or in words that nobody knows.

    >>> _retry_after({"Retry-After": "7"}, 0.0), _retry_after({"Retry-After": "Thu, 01 Jan 1970 00:01:00 GMT"}, 50.0)
    (7.0, 10.0)
    """
    told = str(headers.get("Retry-After") or "").strip()
    if told.isascii() and told.isdigit():
        return float(told[:9])
    try:
        return max(0.0, parsedate_to_datetime(told).timestamp() - now)
    except (ValueError, TypeError, OverflowError):
        return 0.0


class _Deadline:
    """Cuts off the connections of a request when its time is over, wherever it stands."""

    def __init__(self, seconds: float) -> None:
        self.over = False
        self._connected: list[socket.socket] = []
        self._lock = threading.Lock()
        self._timer = threading.Timer(seconds, self._cut)
        self._timer.daemon = True

    def add(self, connected: socket.socket) -> None:
        """Watch a connection; by a descriptor of its own, since that of a socket changes hands when it is encrypted."""
        with self._lock:
            self._connected.append(connected.dup())
        if self.over:
            self._cut()

    def _cut(self) -> None:
        with self._lock:
            self.over = True
            for one in self._connected:
                with contextlib.suppress(OSError):  # the other side was first
                    one.shutdown(socket.SHUT_RDWR)

    def __enter__(self) -> "_Deadline":
        self._timer.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._timer.cancel()
        with self._lock:
            while self._connected:
                self._connected.pop().close()


class _Connection(http.client.HTTPConnection):
    deadline: _Deadline

    def connect(self) -> None:
        super().connect()
        self.deadline.add(self.sock)


class _SecureConnection(http.client.HTTPSConnection, _Connection):
    """First the connection, which is watched from then on, then the handshake."""


class _Http(urllib.request.HTTPHandler):
    def __init__(self, deadline: _Deadline) -> None:
        super().__init__()
        self._deadline = deadline

    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(self._made, req)  # pyright: ignore[reportArgumentType]

    def _made(self, host: str, *, timeout: float | None) -> _Connection:
        made = _Connection(host, timeout=timeout)
        made.deadline = self._deadline
        return made


class _Https(urllib.request.HTTPSHandler):
    def __init__(self, deadline: _Deadline) -> None:
        super().__init__()
        self._deadline = deadline

    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(self._made, req)  # pyright: ignore[reportArgumentType]

    def _made(self, host: str, *, timeout: float | None) -> _SecureConnection:
        made = _SecureConnection(host, timeout=timeout)
        made.deadline = self._deadline
        return made


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(
        self, req: object, fp: object, code: object, msg: object, headers: object, newurl: object
    ) -> None:
        """None of them is followed: urllib raises HTTPError with the code instead."""
        del req, fp, code, msg, headers, newurl
