"""A confined process behind one socket: frames there and back, each by a deadline, none larger than its limit."""

import contextlib
import socket
import subprocess
import time
from collections.abc import Sequence
from typing import Any

import msgspec

from ludus.errors import ChannelError, shorten
from ludus.sandbox import Sandbox

__all__ = ["Conversation", "Late"]

MOST_FRAME = 64 << 20
COMPLAINT = 2000


class Late(ChannelError):
    """No answer by its deadline."""


class Conversation:
    """A process started in a sandbox, with a socket as its descriptor 3.

    >>> from ludus.sandbox import Sandbox
    >>> with Conversation(Sandbox(), ["/bin/sh", "-c", "exit 3"]) as talk:
    ...     talk.confined.wait()
    3
    """

    def __init__(self, sandbox: Sandbox, argv: Sequence[str]) -> None:
        self._ours, theirs = socket.socketpair()
        self._buffer = bytearray()
        try:
            with theirs:
                self.confined = sandbox.start(argv, stderr=subprocess.PIPE, channel=theirs.fileno())
        except BaseException:
            self._ours.close()
            raise

    def send(self, body: bytes, deadline: float) -> None:
        """Send a frame, by then."""
        try:
            self._ours.settimeout(max(0.001, deadline - time.monotonic()))
            self._ours.sendall(len(body).to_bytes(4, "big") + body)
        except TimeoutError:
            raise Late("time ran out") from None
        except OSError as error:
            raise ChannelError(f"its process ended ({error.strerror})") from None

    def receive(self, deadline: float) -> bytes:
        """The next frame, by then."""
        size = int.from_bytes(self._taken(4, deadline), "big")
        if size > MOST_FRAME:
            raise ChannelError(f"expected an answer of at most {MOST_FRAME} bytes, got {size}")
        return self._taken(size, deadline)

    def ask(self, message: Any, deadline: float) -> Any:
        """Send a message and read the answer, as plain data."""
        self.send(msgspec.json.encode(message), deadline)
        return self.read(deadline)

    def read(self, deadline: float) -> Any:
        """The next frame, as plain data."""
        data = self.receive(deadline)
        try:
            return msgspec.json.decode(data)
        except msgspec.DecodeError as error:
            raise ChannelError(f"expected JSON, got {shorten(str(error))}") from None

    def complaint(self) -> str:
        """Kill it; the end of what it wrote to stderr, and the limit it ran into."""
        self.confined.kill()
        limit = self.confined.usage().limit
        said = b""
        with contextlib.suppress(OSError, ValueError):
            said = self.confined.stderr.read() or b""
        return "; ".join(
            filter(None, (f"limit: {limit}" if limit else "", said[-COMPLAINT:].decode("utf8", "replace")))
        )

    def close(self) -> None:
        """Kill what is left; harmless twice."""
        self.confined.close()
        self._ours.close()

    def __enter__(self) -> "Conversation":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _taken(self, size: int, deadline: float) -> bytes:
        buffer = self._buffer
        while len(buffer) < size:
            try:
                self._ours.settimeout(max(0.001, deadline - time.monotonic()))
                piece = self._ours.recv(1 << 18)
            except TimeoutError:
                raise Late("time ran out") from None
            except OSError as error:
                raise ChannelError(f"its channel broke ({error.strerror})") from None
            if not piece:
                raise ChannelError("its process ended")
            buffer += piece
        found = bytes(buffer[:size])
        del buffer[:size]
        return found
