"""`FramedProcess`: a sandboxed process behind one socket; frames there and back, each by a deadline, none too large.

A frame is its length in four bytes and as many bytes: what a program of one file, which has none of this library, can
read and write. Processes that have the library talk by `ludus.sandbox.environment.channel`.
"""

import contextlib
import os
import select
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import TypeVar

import msgspec

from ludus.errors import ChannelError, shorten
from ludus.sandbox.sandbox import Sandbox

__all__ = ["FramedProcess", "Late", "python_command"]

DataT = TypeVar("DataT")

MAX_FRAME_BYTES = 64 << 20
MAX_STDERR_CHARS = 2000
MAX_POLL_MS = 1e9
CHOOSE = """
for python in "$1" /usr/bin/python3 /usr/local/bin/python3 python3; do
  if command -v "$python" >/dev/null 2>&1; then shift; exec "$python" -S -c "$@"; fi
done
exit 127
"""


class Late(ChannelError):
    """No answer by its deadline."""


def python_command(source: str, *arguments: str) -> list[str]:
    """What runs a program in whichever Python a sandbox has: this one where it is seen, else the system's."""
    return ["/bin/sh", "-c", CHOOSE, "sh", os.path.realpath(sys.executable), source, *arguments]


class FramedProcess:
    """A process started in a sandbox, with a socket as its descriptor 3.

    >>> from ludus.sandbox import Sandbox
    >>> with FramedProcess(Sandbox(), ["/bin/sh", "-c", "exit 3"]) as talk:
    ...     talk.process.wait()
    3
    """

    def __init__(
        self, sandbox: Sandbox, argv: Sequence[str], *, stdout: int | None = None, stderr: int = subprocess.PIPE
    ) -> None:
        self._ours, theirs = socket.socketpair()
        self._buffer, self._said = bytearray(), b""
        streams = {"stderr": stderr} | ({} if stdout is None else {"stdout": stdout})
        try:
            with theirs:
                self.process = sandbox.start(argv, **streams, channel=theirs.fileno())
        except BaseException:
            self._ours.close()
            raise
        self._poll = select.poll()
        self._poll.register(self._ours, select.POLLIN)
        if self.process.stderr is not None:
            self._poll.register(self.process.stderr, select.POLLIN)

    def send(self, body: bytes, deadline: float, *more: bytes) -> None:
        """Send a frame, and others right after it, by then."""
        data = b"".join(part for one in (body, *more) for part in (len(one).to_bytes(4, "big"), one))
        try:
            self._ours.settimeout(max(0.001, deadline - time.monotonic()))
            self._ours.sendall(data)
        except TimeoutError:
            raise Late("time ran out") from None
        except OSError as error:
            raise ChannelError(f"its process ended ({error.strerror})") from None

    def receive(self, deadline: float) -> bytes:
        """The next frame, by then; who was Late may go on waiting for the same one."""
        size = int.from_bytes(self._held(4, deadline)[:4], "big")
        if size > MAX_FRAME_BYTES:
            raise ChannelError(f"expected an answer of at most {MAX_FRAME_BYTES} bytes, got {size}")
        buffer = self._held(4 + size, deadline)
        found = bytes(buffer[4 : 4 + size])
        del buffer[: 4 + size]
        return found

    def ask(self, message: object, deadline: float) -> object:
        """Send a message and read the answer, as plain data."""
        self.send(msgspec.json.encode(message), deadline)
        return self.read(deadline, object)

    def read(self, deadline: float, kind: type[DataT]) -> DataT:
        """The next frame, as data of a kind: `object` is whatever its JSON says."""
        data = self.receive(deadline)
        try:
            return msgspec.json.decode(data, type=kind)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise ChannelError(f"expected JSON, got {shorten(str(error), 100)}") from None

    def complaint(self) -> str:
        """Kill it; the end of what it wrote to stderr, and the limit it ran into."""
        self.process.kill()
        limit = self.process.usage().limit
        said = self._said
        with contextlib.suppress(OSError, ValueError):
            said += self.process.stderr.read() or b""
        return "; ".join(
            filter(None, (f"limit: {limit}" if limit else "", said[-MAX_STDERR_CHARS:].decode("utf8", "replace")))
        )

    def close(self) -> None:
        """Kill what is left; harmless twice."""
        self.process.close()
        self._ours.close()

    def __enter__(self) -> "FramedProcess":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _held(self, size: int, deadline: float) -> bytearray:
        """What came and was not taken yet, so many bytes at least."""
        buffer = self._buffer
        while len(buffer) < size:
            try:
                self._wait(deadline)
                piece = self._ours.recv(1 << 18)
            except OSError as error:
                raise ChannelError(f"its channel broke ({error.strerror})") from None
            if not piece:
                raise ChannelError("its process ended")
            buffer += piece
        return buffer

    def _wait(self, deadline: float) -> None:
        """Until something has come; what is written to stderr meanwhile is taken, else a full pipe would hold both."""
        while True:
            ready = dict(self._poll.poll(min(MAX_POLL_MS, max(1.0, 1000 * (deadline - time.monotonic())))))
            if not ready:
                raise Late("time ran out")
            if self._ours.fileno() in ready:
                return
            for descriptor in ready:
                said = os.read(descriptor, 1 << 16)
                self._said = (self._said + said)[-MAX_STDERR_CHARS:]
                if not said:  # it was closed
                    self._poll.unregister(descriptor)
