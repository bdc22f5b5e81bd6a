"""A server with workers, apart: for programs that go on while it runs, it is a program of its own."""

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from io import RawIOBase
from typing import TYPE_CHECKING

from ludus.errors import InvalidArgument, LudusError, ServiceError, shorten
from ludus.server.config import ServerConfig

if TYPE_CHECKING:
    from ludus.server.targets import ServeTarget

__all__ = ["spawn_server"]

PROGRAM = __name__.rpartition(".")[0]
"""What `python -m` starts: this package's `__main__`."""
UP, FAILED = b"up ", b"failed "
STOP_DEADLINE_S = 30.0


def spawn_server(targets: Sequence[object], config: ServerConfig) -> tuple[str, Callable[[], None]]:
    """Start a program that serves it: its address, and what ends it. It ends with this process, too."""
    _check_importable(targets)
    try:
        # From us to our own child, through a pipe that nobody else has.
        data = pickle.dumps((sys.path, targets, config))
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise InvalidArgument(f"serve: expected targets that a worker can import, got {error}") from error
    command = [sys.executable, "-m", PROGRAM]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)

    def stop() -> None:
        with process:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(STOP_DEADLINE_S)
            except subprocess.TimeoutExpired:
                process.kill()

    if process.stdin is None or process.stdout is None:
        raise ServiceError("serve: expected pipes to the program, got none")
    process.stdin.write(len(data).to_bytes(8, "big") + data)
    process.stdin.flush()
    line = process.stdout.readline().rstrip(b"\n")
    if not line.startswith(UP):
        stop()
        raise ServiceError(line.removeprefix(FAILED).decode() or "serve: expected workers that begin, got none")
    return line.removeprefix(UP).decode(), stop


def _check_importable(targets: Sequence[object]) -> None:
    for target in targets:
        made = getattr(target, "entry_point", target)
        if callable(made) and getattr(made, "__module__", None) == "__main__":
            raise InvalidArgument(
                f"serve: expected an environment of a module that workers can import, got {shorten(made)} of the "
                "program itself; use block=True or workers=1"
            )


def _read_job(file: "_Exactly") -> "tuple[Sequence[ServeTarget], ServerConfig]":
    """The other end, in the new program."""
    path, *job = pickle.loads(file.read(int.from_bytes(file.read(8), "big")))  # noqa: S301  (our parent wrote it)
    sys.path[:] = path
    targets, config = job
    return targets, config


def run_spawned(serve: Callable[["Sequence[ServeTarget]", ServerConfig, Callable[[str], object], int], None]) -> None:
    """The program: read what to serve, serve it, tell the address or what went wrong; end when the other end does."""
    answers = os.dup(1)
    os.dup2(2, 1)  # what environments print is no answer
    try:
        # Unbuffered: what follows the job is the end, and somebody waits for it.
        with open(0, "rb", buffering=0, closefd=False) as file:
            targets, config = _read_job(_Exactly(file))
        serve(targets, config, lambda url: os.write(answers, UP + url.encode() + b"\n"), 0)
    except LudusError as error:
        os.write(answers, FAILED + " ".join(str(error).split()).encode() + b"\n")


class _Exactly:
    """A raw file that reads as many bytes as asked for."""

    def __init__(self, file: RawIOBase) -> None:
        self._file = file

    def read(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size and (part := self._file.read(size - len(data))):
            data += part
        return bytes(data)
