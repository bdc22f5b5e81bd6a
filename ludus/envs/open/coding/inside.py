"""The interpreter inside the sandbox: it runs cells in one namespace, and a function on inputs.

The text of this file is what is started there, by whatever Python is there: it imports the standard library alone.
Whatever it says is the word of the code that it runs, and is taken as that: expected values are never told to it.
"""

import ast
import io
import linecache
import os
import random
import resource
import signal
import socket
import sys
import traceback
from contextlib import suppress
from json import dumps, loads  # by themselves: the code may change the module
from typing import Any

__all__ = ["main", "plain"]

CHANNEL = 3
PROCESS_ERRORS = ("BlockingIOError", "can't start new thread", "Resource temporarily unavailable")
MOST_RESULT = 200_000
"""Characters of one result."""


class TimeLimitExceeded(BaseException):
    """The cell took too long; no `except Exception` holds it back."""


def plain(value: Any) -> Any:
    """A result as JSON has it: tuples are lists, sets are sorted, and dictionaries pairs, whatever their keys are."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, set | frozenset):
        return {"set": sorted((plain(one) for one in value), key=repr)}
    if isinstance(value, dict):
        pairs: list[list[Any]] = [[plain(key), plain(one)] for key, one in value.items()]
        return {"dict": sorted(pairs, key=repr)}
    raise TypeError(f"expected numbers, text, lists, tuples, sets or dictionaries, got {type(value).__name__}")


class Capture:
    """Descriptors 1 and 2 as files in memory, so that what other processes print is caught as well."""

    def __init__(self, limit: int) -> None:
        self.limit, self.dropped = limit, 0
        self.files = {number: os.memfd_create(f"stream{number}") for number in (1, 2)}
        for number, file in self.files.items():
            os.dup2(file, number)
        sys.stdout = stream(1)
        sys.stderr = stream(2)

    def texts(self) -> list[str]:
        """Both streams, cut to the limit."""
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):  # it was closed, or is longer than a file may be
                stream.flush()
        return [self._text(file) for file in self.files.values()]

    def _text(self, file: int) -> str:
        size = os.fstat(file).st_size
        data = os.pread(file, self.limit, 0)
        os.close(file)
        dropped = max(0, size - len(data))
        self.dropped += dropped
        return data.decode("utf8", "replace") + (f"\n[{dropped} bytes dropped]\n" if dropped else "")


def stream(number: int) -> io.TextIOWrapper:
    """A descriptor as text, which it does not close."""
    return io.TextIOWrapper(os.fdopen(number, "wb", closefd=False), encoding="utf8", errors="replace")


class Interpreter:
    """One namespace, and the cells that ran in it."""

    def __init__(self, seed: int) -> None:
        self.namespace: dict[str, Any] = {"__name__": "__main__", "__builtins__": __builtins__, "submit": self.submit}
        self.cells = 0
        self.submitted = False
        self.error = ""
        self.nowhere = os.open(os.devnull, os.O_WRONLY)
        random.seed(seed)

    def submit(self) -> None:
        """Hand the program in: everything that was run so far is graded, and the episode ends."""
        self.submitted = True

    def cell(self, *, code: str, seconds: float, limit: int) -> dict[str, Any]:
        """Run a cell, and tell how it went."""
        self.submitted, self.error = False, ""
        capture = Capture(limit)
        exit_code, reason = self._guarded(code, seconds)
        stdout, stderr = capture.texts()
        reason = reason or ("output" if capture.dropped else "")
        if not reason and any(word in stderr for word in PROCESS_ERRORS):
            reason = "processes"
        return {
            "exit_code": exit_code,
            "stdout": stdout,
            "stderr": stderr,
            "limit": reason,
            "submitted": self.submitted,
            "error": self.error,
        }

    def _guarded(self, code: str, seconds: float) -> tuple[int, str]:
        try:
            signal.setitimer(signal.ITIMER_REAL, seconds)
            try:
                self._run(code)
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
        except TimeLimitExceeded:
            sys.stderr.write(f"the time limit of {seconds:g} seconds was reached\n")
            return 124, "time"
        except SystemExit as end:
            if isinstance(end.code, str):
                sys.stderr.write(f"{end.code}\n")
            return (end.code & 255 if isinstance(end.code, int) else int(end.code is not None)), ""
        except BaseException as error:
            self.error = type(error).__name__
            self._complain(error)
            return 1, "memory" if isinstance(error, MemoryError) else ""
        return 0, ""

    def _run(self, code: str) -> None:
        self.cells += 1
        name = f"<cell {self.cells}>"
        linecache.cache[name] = len(code), None, code.splitlines(keepends=True), name
        tree = ast.parse(code, name)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, name, "exec"), self.namespace)  # noqa: S102  (what it is for)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), name, "eval"), self.namespace)  # noqa: S307
            if value is not None:
                sys.stdout.write(f"{value!r}\n")

    @staticmethod
    def _complain(error: BaseException) -> None:
        trace = error.__traceback__
        while trace is not None and not trace.tb_frame.f_code.co_filename.startswith("<cell"):
            trace = trace.tb_next
        with suppress(Exception):
            traceback.print_exception(type(error), error, trace, limit=-20, file=sys.stderr)

    def call(self, *, cells: list[str], function: str, inputs: list[Any], seconds: float, limit: int) -> dict[str, Any]:
        """Run a program anew, and its function on each of the inputs."""
        for code in cells:
            self.cell(code=code, seconds=seconds, limit=limit)
        for number in (1, 2):
            os.dup2(self.nowhere, number)
        return {"results": [self._result(function, arguments, seconds) for arguments in inputs]}

    def _result(self, function: str, arguments: list[Any], seconds: float) -> dict[str, Any]:
        try:
            signal.setitimer(signal.ITIMER_REAL, seconds)
            try:
                value = plain(self.namespace[function](*arguments))
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
            if len(dumps(value)) > MOST_RESULT:
                return {"error": "TooLong"}
            return {"value": value}
        except TimeLimitExceeded:
            return {"error": "TimeLimitExceeded"}
        except BaseException as error:
            return {"error": type(error).__name__}


def main(seed: int, memory: int) -> None:
    """Answer one question after another, until the other side closes."""
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))  # an exception in the code, before the sandbox kills all

    def late(*_: Any) -> None:
        raise TimeLimitExceeded

    signal.signal(signal.SIGALRM, late)
    channel = socket.socket(fileno=CHANNEL)
    channel.set_inheritable(False)
    interpreter = Interpreter(seed)
    send(channel, {"ready": True})
    while True:
        question = receive(channel)
        if question is None:
            os._exit(0)
        work = interpreter.cell if question.pop("do") == "cell" else interpreter.call
        try:
            answer = work(**question)
        except TimeLimitExceeded:  # the alarm rang between the end of the code and its own
            answer = {"exit_code": 124, "stdout": "", "stderr": "the time limit was reached\n", "limit": "time"}
        send(channel, answer)


def send(channel: socket.socket, message: Any) -> None:
    """A frame: its length in four bytes, and JSON."""
    data = dumps(message).encode()
    channel.sendall(len(data).to_bytes(4, "big") + data)


def receive(channel: socket.socket) -> Any:
    """The next frame; None where there is none any more."""
    head = taken(channel, 4)
    data = taken(channel, int.from_bytes(head, "big")) if head else None
    return None if data is None else loads(data)


def taken(channel: socket.socket, size: int) -> bytes | None:
    """So many bytes; None at the end."""
    data = b""
    while len(data) < size:
        piece = channel.recv(size - len(data))
        if not piece:
            return None
        data += piece
    return data
