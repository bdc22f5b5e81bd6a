"""`Box`: a confined process of ours that keeps repositories, and the one socket that leads to it."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, Literal

import msgspec

from ludus.errors import SandboxError, SandboxUnavailable, shorten
from ludus.sandbox import Limits, Sandbox
from ludus.sandbox.means import check_outermost

__all__ = ["Answer", "Box", "Gone", "Request"]

START_SECONDS = 30.0
MOST_FRAME = 64 << 20
FILE_BYTES = 64 << 20
CHOOSE = """
for python in "$1" /usr/bin/python3 /usr/local/bin/python3 python3; do
  if command -v "$python" >/dev/null 2>&1; then exec "$python" -S -c "$2" "$3" "$4"; fi
done
exit 127
"""
GRACE_SECONDS = 5.0
"""Beyond its time a command that cannot be killed costs its sandbox."""
ISOLATED = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_PAGER": "cat",
    "GIT_MERGE_AUTOEDIT": "no",
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
    "FILTER_BRANCH_SQUELCH_WARNING": "1",
}
"""Nothing of the machine is asked, and nobody at a terminal."""
CONFIG = """[user]
\tname = {name}
\temail = {email}
[init]
\tdefaultBranch = main
[core]
\teditor = true
\tpager = cat
[advice]
\tdetachedHead = false
[gc]
\tauto = 0
[maintenance]
\tauto = false
[pack]
\tthreads = 1
[safe]
\tdirectory = *
[protocol "file"]
\tallow = user
"""
"""Of the confined user, who may change it for the rest of the episode."""


class Gone(Exception):
    """The process ended, ran out of time, or said what nobody understands."""


class Request(msgspec.Struct):
    """What git asked of the forge."""

    http: int
    method: str
    url: str
    headers: dict[str, str] = {}


class Answer(msgspec.Struct):
    """What the forge said."""

    status: int
    headers: dict[str, str] = {}
    body: bytes = b""


Ask = Callable[[Request, bytes], Answer]


def nowhere(request: Request, body: bytes) -> Answer:
    """A forge for who has none."""
    del request, body
    return Answer(404)


class Box:
    """A sandbox with git in it; a `"workspace"` for an agent's commands, or the `"server"` of the forge.

    A call is answered in time, or the box is killed and `Gone` is raised. What git asks of the forge in the meantime is
    passed to `ask`: that, and nothing else, is the network of a workspace.

    >>> with Box("workspace") as box:
    ...     box.run(["init", "-q", "here"]).code, box.call("list", path="here")["names"]
    (0, ['.git/'])
    """

    def __init__(
        self,
        role: Literal["workspace", "server"],
        *,
        memory: int = 512 << 20,
        processes: int = 64,
        disk: int = 64 << 20,
        ask: Ask = nowhere,
    ) -> None:
        check_outermost("open/Git-v0", "git may not set the modes of its files")
        self.ask = ask
        limits = Limits(wall=None, memory=memory, processes=processes, file_size=FILE_BYTES, disk=disk)
        self._confined, self._channel = _started(role, limits)
        self._began = False
        self._until = time.monotonic() + START_SECONDS

    def _begin(self) -> None:
        """Wait until it is there: two boxes that are made one after the other start at the same time."""
        try:
            self._received()
        except (Gone, OSError) as error:
            self.close()
            raise SandboxError(f"git: expected a Python to start in the sandbox, got {error}") from None
        self._began = True

    def call(self, do: str, data: bytes = b"", *, seconds: float = START_SECONDS, **fields: Any) -> dict[str, Any]:
        """Ask for something to be done; the answer has its bytes as `data`."""
        if not self._began:
            self._begin()
        self._until = time.monotonic() + seconds
        try:
            self._send({"do": do, **fields}, data)
            head, body = self._received()
        except Gone:
            self.close()
            raise
        return head | {"data": body}

    def run(
        self,
        argv: list[str],
        folder: str = "",
        *,
        seconds: float = 10.0,
        limit: int = 64 << 10,
        variables: dict[str, str] | None = None,
    ) -> "Ran":
        """Run git; `OSError` where the folder is not there."""
        options: dict[str, Any] = {"limit": limit, "variables": ISOLATED | (variables or {}), "deadline": seconds}
        told = self.call("run", argv=argv, folder=folder, seconds=seconds + GRACE_SECONDS, **options)
        out, data = told["out"], told["data"]
        texts = (data[:out].decode("utf8", "replace"), data[out:].decode("utf8", "replace"))
        return Ran(told["code"], *texts, late=told["late"], dropped=told["dropped"])

    def close(self) -> None:
        """Kill it; harmless twice."""
        self._confined.close()
        self._channel.close()

    def __enter__(self) -> "Box":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _send(self, head: dict[str, Any], data: bytes = b"") -> None:
        text = msgspec.json.encode(head)
        try:
            self._channel.settimeout(max(0.001, self._until - time.monotonic()))
            self._channel.sendall(len(text).to_bytes(4, "big") + text + len(data).to_bytes(4, "big") + data)
        except OSError as error:
            raise Gone(f"its channel broke: {error.strerror}") from None

    def _received(self) -> tuple[dict[str, Any], bytes]:
        """The next answer; requests to the forge that come before it are passed on."""
        while True:
            head = self._decoded(self._frame(), dict[str, Any])
            data = self._frame()
            if "failed" in head:
                raise OSError(str(head["failed"])[:1000])
            if "http" not in head:
                return head, data
            request = self._decoded(msgspec.json.encode(head), Request)
            told = self.ask(request, data)
            self._send({"answer": request.http, "status": told.status, "headers": told.headers}, told.body)

    def _decoded(self, data: bytes, kind: Any) -> Any:
        try:
            return msgspec.json.decode(data, type=kind)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise Gone(f"expected an answer, got {shorten(str(error), 100)}") from None

    def _frame(self) -> bytes:
        size = int.from_bytes(self._taken(4), "big")
        if size > MOST_FRAME:
            raise Gone(f"expected an answer of at most {MOST_FRAME} bytes, got {size}")
        return self._taken(size)

    def _taken(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            try:
                self._channel.settimeout(max(0.001, self._until - time.monotonic()))
                piece = self._channel.recv(min(1 << 18, size - len(data)))
            except TimeoutError:
                raise Gone("time ran out") from None
            except OSError as error:
                raise Gone(f"its channel broke: {error.strerror}") from None
            if not piece:
                raise Gone("its process ended")
            data += piece
        return bytes(data)


class Ran(msgspec.Struct):
    """How a command ended."""

    code: int
    stdout: str
    stderr: str
    late: bool = False
    """Whether its time ran out, and it was killed."""
    dropped: int = 0
    """Bytes beyond the limit."""


def _started(role: str, limits: Limits) -> tuple[Any, socket.socket]:
    sandbox, relay = _sandbox(limits, loopback=role == "workspace")
    argv = ["/bin/sh", "-c", CHOOSE, "sh", os.path.realpath(sys.executable), _source("inside"), role, relay]
    ours, theirs = socket.socketpair()
    try:
        with theirs:
            return sandbox.start(argv, stderr=subprocess.DEVNULL, channel=theirs.fileno()), ours
    except BaseException:
        ours.close()
        raise


def _sandbox(limits: Limits, *, loopback: bool) -> tuple[Sandbox, str]:
    """With a loopback of its own where the wall has one, else without any socket: git then asks through pipes."""
    tight = Sandbox(limits=limits)
    if not loopback:
        return tight, ""
    with suppress(SandboxUnavailable):
        open_ = Sandbox(tight.backend, limits=limits, network="loopback")
        if open_.guarantees.network:
            return open_, ""
    return tight, _source("relay")


@cache
def _source(name: str) -> str:
    text = Path(__file__).with_name(f"{name}.py").read_text(encoding="utf8")
    return text if name == "relay" else f"{text}\nmain(sys.argv[1], sys.argv[2])\n"
