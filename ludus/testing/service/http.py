"""HTTP as a stranger would speak it: one request, one answer, both bounded; nothing of our own client is used."""

import http.client
import json
import ssl
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import urlsplit

from ludus.errors import ConnectionLost, InvalidArgument, shorten

__all__ = ["HttpResponse", "Http"]

MAX_RESPONSE_BYTES = 32 << 20
REQUEST_TIMEOUT_S = 30.0
SCHEMES = {"ws": "http", "wss": "https"}


class HttpResponse(NamedTuple):
    """What came back."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def data(self) -> object:
        """The body as JSON; None where it is none."""
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError):
            return None

    def __str__(self) -> str:
        return f"{self.status} {shorten(self.body.decode('utf8', 'replace'))}"


class Http:
    """A server at an address."""

    def __init__(self, url: str, token: str | None = None) -> None:
        parts = urlsplit(
            {"ws": "http", "wss": "https"}.get(url.partition(":")[0], url.partition(":")[0]) + url[url.find(":") :]
        )
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InvalidArgument(f"url: expected http://HOST:PORT, got {shorten(url)}")
        self.scheme, self.host = parts.scheme, parts.hostname
        self.port = parts.port or (443 if parts.scheme == "https" else 80)
        self.path, self.token = parts.path.rstrip("/"), token

    def get(self, path: str, **headers: str) -> HttpResponse:
        """Ask for something."""
        return self.ask("GET", path, None, headers)

    def post(self, path: str, body: object, **headers: str) -> HttpResponse:
        """Send JSON, or bytes as they are."""
        sent = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.ask("POST", path, sent, {"Content-Type": "application/json", **headers})

    def ask(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str], seconds: float = REQUEST_TIMEOUT_S
    ) -> HttpResponse:
        """One request on a connection of its own; ConnectionLost where there is no answer to it."""
        connection = (
            http.client.HTTPSConnection(self.host, self.port, timeout=seconds, context=ssl.create_default_context())
            if self.scheme == "https"
            else http.client.HTTPConnection(self.host, self.port, timeout=seconds)
        )
        signed = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        try:
            connection.request(method, self.path + path, body, {**signed, **given})
            answer = connection.getresponse()
            return HttpResponse(
                answer.status, {name.lower(): one for name, one in answer.getheaders()}, answer.read(MAX_RESPONSE_BYTES)
            )
        except (OSError, http.client.HTTPException) as error:
            raise ConnectionLost(
                f"{self.scheme}://{self.host}:{self.port}: expected an answer to {method} {path}, got "
                f"{type(error).__name__}: {error}"
            ) from error
        finally:
            connection.close()
