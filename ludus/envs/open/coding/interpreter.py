"""`CodeInterpreter`: a Python inside a sandbox that keeps its variables from one cell to the next.

A session of the sandbox runs a shell for each command, so that a cell would begin a Python of its own and forget the
one before. Here the sandboxed process is the interpreter itself; one socket carries cells in and what they print out.
"""

import subprocess
import time
from contextlib import closing
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

import msgspec

from ludus.envs.open.coding.limits import CodingLimits
from ludus.errors import ChannelError, MissingExtra, SandboxError
from ludus.sandbox import Limits, Mount, Sandbox
from ludus.sandbox.framed_process import FramedProcess, Late, python_command

__all__ = ["CellResult", "InterpreterKind", "CodeInterpreter", "FunctionResult", "smolagents_folder"]

InterpreterKind = Literal["python", "smolagents"]
"""What carries cells out: the interpreter itself, or the one that smolagents wrote in Python."""
START_SECONDS = 30.0
GRACE_SECONDS = 1.0
"""Beyond its time a cell that holds the alarm back is killed, and its interpreter with it."""
FILE_BYTES = 8 << 20
SPARE_MEMORY = 64 << 20
"""Of the sandbox beyond the interpreter's own: what it starts, and what is printed."""


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


class FunctionResult(msgspec.Struct):
    """What a function gave for one input: a value, or the name of an exception.

    >>> FunctionResult(error="ValueError").value is None
    True
    """

    value: object = None
    error: str = ""


class Results(msgspec.Struct):
    """What a function gave, input by input."""

    results: list[FunctionResult]


class CodeInterpreter:
    r"""A Python in a sandbox of its own; `run` is one cell.

    >>> with CodeInterpreter() as python:
    ...     _ = python.run("x = 20")
    ...     python.run("x + 1").stdout
    '21\n'
    """

    def __init__(self, limits: CodingLimits | None = None, seed: int = 0, *, kind: InterpreterKind = "python") -> None:
        self.limits = CodingLimits() if limits is None else limits
        self._talk = _started(self.limits, seed, smolagents_folder() if kind == "smolagents" else "")
        try:
            self._talk.read(time.monotonic() + START_SECONDS, dict[str, bool])
        except ChannelError as error:
            with closing(self):
                process = self._talk.process
                why = f"{error} (status {process.wait(GRACE_SECONDS)}, limit: {process.usage().limit or 'none'})"
                raise SandboxError(f"interpreter: expected a Python to start in the sandbox, got {why}") from None

    def run(self, code: str) -> CellResult:
        """Run a cell."""
        try:
            self._send("cell", code.encode("utf8", "replace"))
            return self._talk.read(time.monotonic() + self.limits.seconds + GRACE_SECONDS, CellResult)
        except ChannelError as error:
            return self._lost(error)

    def call(self, cells: list[str], function: str, inputs: list[list[object]]) -> list[FunctionResult]:
        """Run a program, and its function on each of the inputs; as many errors where the process did not live."""
        question = {"cells": cells, "function": function, "inputs": inputs}
        try:
            self._send("call", msgspec.json.encode(question))
            results = self._talk.read(time.monotonic() + self.limits.grading_seconds + GRACE_SECONDS, Results).results
        except ChannelError as error:
            return [FunctionResult(error=str(error)) for _ in inputs]
        return results if len(results) == len(inputs) else [FunctionResult(error="no answer") for _ in inputs]

    def close(self) -> None:
        """Kill it; harmless twice."""
        self._talk.close()

    def __enter__(self) -> "CodeInterpreter":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _lost(self, error: ChannelError) -> CellResult:
        late, process = isinstance(error, Late), self._talk.process
        process.kill()
        known = "time" if late else process.usage().limit or ("memory" if process.usage().oom else "")
        self.close()
        text = (
            f"the interpreter is gone ({known or error}), and its variables with it; the next cell begins a new one\n"
        )
        return CellResult(exit_code=124 if late else 137, stderr=text, limit=known, lost=True)

    def _send(self, kind: str, text: bytes) -> None:
        data = f"{kind} {self.limits.seconds} {self.limits.output}\n".encode() + text
        self._talk.send(data, time.monotonic() + START_SECONDS)


def smolagents_folder() -> str:
    """Where smolagents is installed; raises MissingExtra, with the line to type, where it is not."""
    found = find_spec("smolagents")
    if found is None or found.origin is None:
        raise MissingExtra(
            "Coding: expected the package smolagents for interpreter='smolagents', got none; pip install smolagents",
            name="smolagents",
        )
    return str(Path(found.origin).parents[1])


def _started(limits: CodingLimits, seed: int, smolagents: str = "") -> FramedProcess:
    sandbox = Sandbox(
        mounts=[Mount(smolagents)] if smolagents else [],
        limits=Limits(
            wall=None,
            memory=limits.memory + SPARE_MEMORY,
            processes=limits.processes,
            file_size=FILE_BYTES,
            disk=limits.disk,
        ),
        environment={"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"},
    )
    command = python_command(_source(), str(seed), str(limits.memory), smolagents)
    return FramedProcess(sandbox, command, stderr=subprocess.DEVNULL)


@cache
def _source() -> str:
    text = Path(__file__).with_name("inside.py").read_text(encoding="utf8")
    return f"{text}\nmain(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])\n"
