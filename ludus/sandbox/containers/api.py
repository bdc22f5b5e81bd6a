"""The Docker API over a Unix socket: the few calls that containers need, as podman and Docker both answer them.

The standard library does it in one file. The `docker` package does far more and brings `requests` and `urllib3` with
it: two hundred milliseconds of imports, and three more packages to trust at this very boundary.
"""

import http.client
import io
import json
import socket
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypedDict, cast
from urllib.parse import quote, urlencode

from ludus.errors import SandboxError, SandboxUnavailable, shorten
from ludus.spaces.kinds import is_dict, is_list

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = ["Api", "EngineError"]

ENGINE_TIMEOUT_S = 60.0
RETRY_INTERVAL_S = 0.02
MAX_RESPONSE_BYTES = 16 << 20
"""No answer that is asked for here comes near it."""


class EngineError(SandboxError):
    """The engine answered with an error."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class ContainerState(TypedDict):
    """How a container is, of what the engine says."""

    Running: bool
    Pid: int
    ExitCode: int
    OOMKilled: bool


class ContainerNetwork(TypedDict, total=False):
    """Of its network."""

    Ports: dict[str, list[dict[str, str]] | None] | None


class ContainerDetails(TypedDict):
    """What the engine says of a container, as far as it is used."""

    State: ContainerState
    NetworkSettings: ContainerNetwork


class Api:
    """An engine behind a Unix socket; every call has a connection of its own, so threads share it freely."""

    def __init__(self, path: str) -> None:
        self.path = path

    @classmethod
    def named(cls, address: str, variable: str) -> "Api":
        """The engine at an address as `DOCKER_HOST` has it; only sockets of this machine will do."""
        scheme, _, path = address.partition("://")
        if scheme != "unix" or not path.startswith("/"):
            raise SandboxUnavailable(
                f"{variable}: expected unix:///path of a socket on this machine, got {shorten(address)}; folders of "
                "this machine are mounted into containers, which an engine elsewhere cannot do"
            )
        return cls(path)

    def answers(self) -> bool:
        """Whether an engine is there at all."""
        try:
            self.call("GET", "/_ping", timeout=5.0)
        except SandboxError:
            return False
        return True

    def version(self) -> str:
        """The engine's name and version, as it gives them."""
        known = _fields(self.call("GET", "/version"))
        parts = known.get("Components")
        name = _fields(parts[0]).get("Name", "Engine") if is_list(parts) and parts else "Engine"
        return f"{'Docker Engine' if name == 'Engine' else name} {known.get('Version', '?')}"

    def image(self, name: str) -> str | None:
        """The id of an image that is here; None when it is not. Nothing is ever pulled."""
        try:
            return str(_fields(self.call("GET", f"/images/{quote(name)}/json"))["Id"]).removeprefix("sha256:")
        except EngineError as error:
            if error.status == 404:
                return None
            raise

    def import_image(self, name: str, write: Callable[[io.RawIOBase], None], *, changes: str) -> None:
        """Make an image of one layer, from the archive that `write` writes to the file it is given."""
        query = urlencode({"fromSrc": "-", "repo": name, "changes": changes})
        with _Connection(self.path, 10 * ENGINE_TIMEOUT_S) as connection:
            connection.putrequest("POST", f"/images/create?{query}")
            connection.putheader("Content-Type", "application/x-tar")
            connection.putheader("Transfer-Encoding", "chunked")
            connection.endheaders()
            write(_Chunks(connection))
            connection.send(b"0\r\n\r\n")
            _answer(connection)

    def images(self, label: str) -> list[str]:
        """The ids of the images that have a label."""
        query = urlencode({"filters": json.dumps({"label": [label]})})
        return [str(one["Id"]) for one in _rows(self.call("GET", f"/images/json?{query}"))]

    def remove_image(self, name: str) -> None:
        """Forget an image; one that is in use stays, and the engine says so."""
        self.call("DELETE", f"/images/{quote(name)}")

    def create(self, description: Mapping[str, object]) -> str:
        """Create a container; its id."""
        return str(_fields(self.call("POST", "/containers/create", body=description))["Id"])

    def start(self, container: str) -> None:
        """Start a container that was created."""
        self.call("POST", f"/containers/{container}/start")

    def details(self, container: str) -> ContainerDetails:
        """All that is used of what the engine says of it."""
        return cast("ContainerDetails", _fields(self.call("GET", f"/containers/{container}/json")))

    def state(self, container: str) -> ContainerState:
        """How it is."""
        return self.details(container)["State"]

    def kill(self, container: str) -> None:
        """Kill its first process, and so all of it; harmless when it has ended."""
        try:
            self.call("POST", f"/containers/{container}/kill?signal=KILL")
        except EngineError as error:
            if error.status not in (404, 409):
                raise

    def remove(self, container: str) -> None:
        """Kill it if it runs, and forget it with its volumes; harmless when it is gone.

        An engine that has not yet heard of a container's end cannot stop it, and says no: it is asked again.
        """
        end = time.monotonic() + ENGINE_TIMEOUT_S
        while True:
            try:
                self.call("DELETE", f"/containers/{container}?force=true&v=true")
                return
            except EngineError as error:
                if error.status == 404:
                    return
                if time.monotonic() > end:
                    raise
            time.sleep(RETRY_INTERVAL_S)

    def labelled(self, label: str) -> dict[str, tuple[str, bool]]:
        """The containers that have a label: id to the label's value, and whether it runs."""
        query = urlencode({"all": "true", "filters": json.dumps({"label": [label]})})
        rows = _rows(self.call("GET", f"/containers/json?{query}"))
        return {str(row["Id"]): (str(_fields(row["Labels"])[label]), row["State"] == "running") for row in rows}

    def call(self, method: str, path: str, *, body: object = None, timeout: float = ENGINE_TIMEOUT_S) -> object:
        """One call; SandboxUnavailable where nobody listens, `EngineError` where the engine says no."""
        text = None if body is None else json.dumps(body)
        with _Connection(self.path, timeout) as connection:
            connection.request(method, path, body=text, headers={"Content-Type": "application/json"})
            return _answer(connection)


class _Connection(http.client.HTTPConnection):
    """HTTP to a Unix socket; what goes wrong on the way is a SandboxUnavailable."""

    def __init__(self, path: str, timeout: float) -> None:
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)

    def __enter__(self) -> "_Connection":
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self.close()
        if isinstance(error, OSError | http.client.HTTPException):
            raise SandboxUnavailable(
                f"container engine: expected an answer on {self._path}, got {type(error).__name__}: {error}"
            ) from error


class _Chunks(io.RawIOBase):
    """What is written to it goes out as chunks of a request."""

    def __init__(self, connection: _Connection) -> None:
        self._connection = connection

    def write(self, data: "Buffer") -> int:
        view = memoryview(data)
        if view.nbytes:
            self._connection.send(b"%x\r\n%b\r\n" % (view.nbytes, view))
        return view.nbytes


def _answer(connection: _Connection) -> object:
    response = connection.getresponse()
    text = response.read(MAX_RESPONSE_BYTES)
    is_json = response.headers.get_content_type() == "application/json"
    if response.status >= 300:
        raise EngineError(response.status, _message(text) if is_json else text.decode("utf8", "replace").strip())
    if not is_json or not text.strip():
        return None
    return json.loads(text.splitlines()[-1])  # progress comes as one object per line


def _fields(reply: object) -> dict[str, object]:
    if not is_dict(reply):
        raise SandboxUnavailable(f"containers: expected an engine that answers with an object, got {shorten(reply)}")
    return reply


def _rows(reply: object) -> list[dict[str, object]]:
    if not is_list(reply):
        raise SandboxUnavailable(f"containers: expected an engine that answers with a list, got {shorten(reply)}")
    return [_fields(one) for one in reply]


def _message(text: bytes) -> str:
    try:
        return str(json.loads(text)["message"])
    except (ValueError, KeyError, TypeError):
        return text.decode("utf8", "replace").strip()
