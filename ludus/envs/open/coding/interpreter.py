"""`Interpreter`: a Python inside a sandbox that keeps its variables from one cell to the next.

A session of the sandbox runs a shell for each command, so that a cell would begin a Python of its own and forget the
one before. Here the confined process is the interpreter itself; one socket carries cells in and what they print out.
"""

import os
import socket
import subprocess
import sys
import time
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from ludus.envs.open.coding.limits import CodingLimits
from ludus.errors import SandboxError, shorten
from ludus.sandbox import Limits, Sandbox

__all__ = ["CellResult", "Interpreter", "Result"]

START_SECONDS = 30.0
GRACE_SECONDS = 1.0
"""Beyond its time a cell that holds the alarm back is killed, and its interpreter with it."""
MOST_REPLY = 64 << 20
FILE_BYTES = 8 << 20
SPARE_MEMORY = 64 << 20
"""Of the sandbox beyond the interpreter's own: what it starts, and what is printed."""
CHOOSE = """
for python in "$1" /usr/bin/python3 /usr/local/bin/python3 python3; do
  if command -v "$python" >/dev/null 2>&1; then exec "$python" -S -c "$2" "$3" "$4"; fi
done
exit 127
"""


class CellResult(msgspec.Struct, kw_only=True):
    """How a cell ended. A cell that fails or runs into a limit is a result, not an error.

    >>> CellResult(exit_code=124, limit="time").limit
    'time'
    """

    exit_code: int = 0
    stdout: str = ""
    stderr: str = ""
    limit: str = ""
    """The limit that it ran into: time, memory, processes or output."""
    submitted: bool = False
    error: str = ""
    """The name of the exception that ended it."""
    lost: bool = False
    """Whether the interpreter is gone, and its variables with it."""


class Result(msgspec.Struct):
    """What a function gave for one input: a value, or the name of an exception.

    >>> Result(error="ValueError").value is None
    True
    """

    value: Any = None
    error: str = ""


class Results(msgspec.Struct):
    """What a function gave, input by input."""

    results: list[Result]


class Gone(Exception):
    """The process ended, or said what nobody understands."""


class Interpreter:
    r"""A Python in a sandbox of its own; `run` is one cell.

    >>> with Interpreter() as python:
    ...     _ = python.run("x = 20")
    ...     python.run("x + 1").stdout
    '21\n'
    """

    def __init__(self, limits: CodingLimits | None = None, seed: int = 0) -> None:
        self.limits = CodingLimits() if limits is None else limits
        self._confined, self._channel = _started(self.limits, seed)
        try:
            self._received(START_SECONDS, dict[str, bool])
        except Gone as error:
            self.close()
            raise SandboxError(f"interpreter: expected a Python to start in the sandbox, got {error}") from None

    def run(self, code: str) -> CellResult:
        """Run a cell."""
        try:
            self._send("cell", code.encode("utf8", "replace"))
            return self._received(self.limits.seconds + GRACE_SECONDS, CellResult)
        except Gone as error:
            return self._lost(error)

    def call(self, cells: list[str], function: str, inputs: list[Any]) -> list[Result]:
        """Run a program, and its function on each of the inputs; as many errors where the process did not live."""
        question = {"cells": cells, "function": function, "inputs": inputs}
        try:
            self._send("call", msgspec.json.encode(question))
            results = self._received(self.limits.grading_seconds + GRACE_SECONDS, Results).results
        except Gone as error:
            return [Result(error=str(error)) for _ in inputs]
        return results if len(results) == len(inputs) else [Result(error="no answer") for _ in inputs]

    def close(self) -> None:
        """Kill it; harmless twice."""
        self._confined.close()
        self._channel.close()

    def __enter__(self) -> "Interpreter":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _lost(self, error: Gone) -> CellResult:
        late = "time" in str(error)
        self._confined.kill()
        known = "time" if late else self._confined.usage().limit or ("memory" if self._confined.usage().oom else "")
        self.close()
        text = (
            f"the interpreter is gone ({known or error}), and its variables with it; the next cell begins a new one\n"
        )
        return CellResult(exit_code=124 if late else 137, stderr=text, limit=known, lost=True)

    def _send(self, kind: str, text: bytes) -> None:
        data = f"{kind} {self.limits.seconds} {self.limits.output}\n".encode() + text
        try:
            self._channel.settimeout(START_SECONDS)
            self._channel.sendall(len(data).to_bytes(4, "big") + data)
        except OSError as error:
            raise Gone(f"its channel broke: {error.strerror}") from None

    def _received(self, seconds: float, kind: Any) -> Any:
        until = time.monotonic() + seconds
        size = int.from_bytes(self._taken(4, until), "big")
        if size > MOST_REPLY:
            raise Gone(f"expected an answer of at most {MOST_REPLY} bytes, got {size}")
        try:
            return msgspec.json.decode(self._taken(size, until), type=kind)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise Gone(f"expected an answer, got {shorten(str(error), 100)}") from None

    def _taken(self, size: int, until: float) -> bytes:
        data = bytearray()
        while len(data) < size:
            try:
                self._channel.settimeout(max(0.001, until - time.monotonic()))
                piece = self._channel.recv(min(1 << 18, size - len(data)))
            except TimeoutError:
                raise Gone("time ran out") from None
            except OSError as error:
                raise Gone(f"its channel broke: {error.strerror}") from None
            if not piece:
                raise Gone("its process ended")
            data += piece
        return bytes(data)


def _started(limits: CodingLimits, seed: int) -> tuple[Any, socket.socket]:
    sandbox = Sandbox(
        limits=Limits(
            wall=None,
            memory=limits.memory + SPARE_MEMORY,
            processes=limits.processes,
            file_size=FILE_BYTES,
            disk=limits.disk,
        ),
        environment={"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"},
    )
    argv = ["/bin/sh", "-c", CHOOSE, "sh", os.path.realpath(sys.executable), _source(), str(seed), str(limits.memory)]
    ours, theirs = socket.socketpair()
    try:
        with theirs:
            return sandbox.start(argv, stderr=subprocess.DEVNULL, channel=theirs.fileno()), ours
    except BaseException:
        ours.close()
        raise


@cache
def _source() -> str:
    text = Path(__file__).with_name("inside.py").read_text(encoding="utf8")
    return f"{text}\nmain(int(sys.argv[1]), int(sys.argv[2]))\n"
