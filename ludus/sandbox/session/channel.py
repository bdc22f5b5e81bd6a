"""The session's side of the channel: frames with deadlines; what comes from inside is checked before it is used."""

import select
import socket
import threading
import time
from typing import Any

import msgspec

from ludus.errors import ChannelError, SandboxError
from ludus.sandbox.backend import Confined
from ludus.sandbox.session.inside.wire import MOST_HEAD, Decoder, encode
from ludus.sandbox.session.reply import Reply

__all__ = ["Channel"]

MOST_DATA = 2 << 20
"""Bytes of one frame from inside, beside its head: a shell's state at most."""
SLICE = 0.5
"""Seconds between two looks whether the process still lives: somebody else may hold its end of the channel."""
CHUNK = 1 << 18


class Channel:
    """A socket to the agent of a session. Frames are sent whole from any thread, and received in one at a time."""

    def __init__(self, ours: socket.socket, confined: Confined) -> None:
        self.socket, self.confined = ours, confined
        self.socket.setblocking(False)
        self._sending = threading.Lock()
        self._decoder = Decoder(MOST_HEAD, MOST_DATA)
        self._replies = msgspec.json.Decoder(Reply)

    def send(self, head: dict[str, Any], data: bytes = b"", *, seconds: float) -> None:
        """One frame, sent within `seconds`."""
        self.send_raw(encode(head, data), seconds=seconds)

    def send_raw(self, data: bytes, *, seconds: float) -> None:
        """Bytes, sent within `seconds`."""
        until, view = time.monotonic() + seconds, memoryview(data)
        with self._sending:
            while view:
                self._wait(select.POLLOUT, until)
                try:
                    view = view[self.socket.send(view) :]
                except BlockingIOError:
                    continue
                except OSError as error:
                    raise ChannelError(f"session: its channel broke ({error.strerror})") from error

    def receive(self, until: float) -> tuple[Reply, bytes]:
        """The next frame."""
        while True:
            try:
                frame = self._decoder.frame()
            except ValueError as error:
                raise ChannelError(f"session: expected a message from inside, got {error}") from None
            if frame is not None:
                return self._checked(frame[0]), frame[1]
            self._wait(select.POLLIN, until)
            self._decoder.feed(self._read())

    def _checked(self, head: bytes) -> Reply:
        try:
            return self._replies.decode(head)
        except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
            raise ChannelError(f"session: expected a message from inside, got one that is none: {error}") from None

    def _read(self) -> bytes:
        try:
            data = self.socket.recv(CHUNK)
        except BlockingIOError:
            return b""
        except OSError as error:
            raise ChannelError(f"session: its channel broke ({error.strerror})") from error
        if not data:
            raise ChannelError("session: its processes were killed")
        return data

    def _wait(self, event: int, until: float) -> None:
        """Until the socket is ready."""
        poll = select.poll()
        try:
            poll.register(self.socket, event)
        except ValueError:
            raise ChannelError("session: it was closed") from None
        while True:
            left = until - time.monotonic()
            if poll.poll(max(0.0, min(left, SLICE)) * 1000):
                return
            if left <= 0:
                raise ChannelError("session: its agent does not answer")
            if self._ended():
                raise ChannelError("session: its processes were killed")

    def _ended(self) -> bool:
        try:
            return self.confined.wait(0) is not None
        except SandboxError:  # it never began
            return True

    def close(self) -> None:
        """Close this end."""
        self.socket.close()
