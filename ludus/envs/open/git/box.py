"""`GitBox`: a sandboxed process of ours that keeps repositories, and the one socket that leads to it."""

import subprocess
import time
from collections.abc import Callable
from contextlib import closing, suppress
from functools import cache
from pathlib import Path
from typing import Any, Literal

import msgspec

from ludus.errors import ChannelError, SandboxError, SandboxUnavailable
from ludus.sandbox import Limits, Sandbox
from ludus.sandbox.enforcement import check_outermost
from ludus.sandbox.framed_process import FramedProcess, python_command

__all__ = ["INNER", "ForgeResponse", "GitBox", "GitRequest"]

START_SECONDS = 30.0
INNER = "git may not set the modes of its files"
"""Why it does not work in the sandbox of somebody else."""
FILE_BYTES = 64 << 20
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
"""Of the sandboxed user, who may change it for the rest of the episode."""


class GitRequest(msgspec.Struct):
    """What git asked of the forge."""

    http: int
    method: str
    url: str
    headers: dict[str, str] = {}


class ForgeResponse(msgspec.Struct):
    """What the forge said."""

    status: int
    headers: dict[str, str] = {}
    body: bytes = b""


Ask = Callable[[GitRequest, bytes], ForgeResponse]


def nowhere(request: GitRequest, body: bytes) -> ForgeResponse:
    """A forge for who has none."""
    del request, body
    return ForgeResponse(404)


class GitBox:
    """A sandbox with git in it; a `"workspace"` for an agent's commands, or the `"server"` of the forge.

    A call is answered in time, or the box is killed and `ChannelError` is raised. What git asks of the forge in the
    meantime is passed to `ask`: that, and nothing else, is the network of a workspace.

    >>> with GitBox("workspace") as box:
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
        check_outermost("open/Git-v0", INNER)
        self.ask = ask
        limits = Limits(wall=None, memory=memory, processes=processes, file_size=FILE_BYTES, disk=disk)
        self._talk = _started(role, limits)
        self._began = False
        self._until = time.monotonic() + START_SECONDS

    def _begin(self) -> None:
        """Wait until it is there: two boxes that are made one after the other start at the same time."""
        try:
            self._received()
        except (ChannelError, OSError) as error:
            with closing(self):
                process = self._talk.process
                why = f"{error} (status {process.wait(GRACE_SECONDS)}, limit: {process.usage().limit or 'none'})"
                raise SandboxError(f"git: expected a Python to start in the sandbox, got {why}") from None
        self._began = True

    def call(self, do: str, data: bytes = b"", *, seconds: float = START_SECONDS, **fields: object) -> dict[str, Any]:
        """Ask for something to be done; the answer has its bytes as `data`."""
        if not self._began:
            self._begin()
        self._until = time.monotonic() + seconds
        try:
            self._send({"do": do, **fields}, data)
            head, body = self._received()
        except ChannelError:
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
        reply = self.call(
            "run",
            argv=argv,
            folder=folder,
            seconds=seconds + GRACE_SECONDS,
            limit=limit,
            variables=ISOLATED | (variables or {}),
            deadline=seconds,
        )
        out, data = reply["out"], reply["data"]
        texts = (data[:out].decode("utf8", "replace"), data[out:].decode("utf8", "replace"))
        return Ran(reply["code"], *texts, late=reply["late"], dropped=reply["dropped"])

    def close(self) -> None:
        """Kill it; harmless twice."""
        self._talk.close()

    def __enter__(self) -> "GitBox":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _send(self, head: dict[str, object], data: bytes = b"") -> None:
        self._talk.send(msgspec.json.encode(head), self._until, data)

    def _received(self) -> tuple[dict[str, Any], bytes]:
        """The next answer; requests to the forge that come before it are passed on."""
        while True:
            head = self._talk.read(self._until, dict[str, Any])
            data = self._talk.receive(self._until)
            if "failed" in head:
                raise OSError(str(head["failed"])[:1000])
            if "http" not in head:
                return head, data
            try:
                request = msgspec.convert(head, GitRequest)
            except msgspec.ValidationError as error:
                raise ChannelError(f"expected a request to the forge, got {error}") from None
            response = self.ask(request, data)
            self._send({"answer": request.http, "status": response.status, "headers": response.headers}, response.body)


class Ran(msgspec.Struct):
    """How a command ended."""

    code: int
    stdout: str
    stderr: str
    late: bool = False
    """Whether its time ran out, and it was killed."""
    dropped: int = 0
    """Bytes beyond the limit."""


def _started(role: str, limits: Limits) -> FramedProcess:
    sandbox, relay = _sandbox(limits, loopback=role == "workspace")
    return FramedProcess(sandbox, python_command(_source("inside"), role, relay), stderr=subprocess.DEVNULL)


def _sandbox(limits: Limits, *, loopback: bool) -> tuple[Sandbox, str]:
    """With a loopback of its own where the sandbox has one, else without any socket: git then asks through pipes."""
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
