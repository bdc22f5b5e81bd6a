"""The session's side of the channel: frames with deadlines; what comes from inside is checked before it is used."""

import contextlib
import select
import socket
import threading
import time

import msgspec

from ludus.errors import ChannelError, SandboxError
from ludus.sandbox.backend import SandboxedProcess
from ludus.sandbox.session.inside.wire import MAX_HEAD_BYTES, Decoder, encode
from ludus.sandbox.session.reply import Reply

__all__ = ["SessionChannel"]

MAX_DATA_BYTES = 2 << 20
"""Bytes of one frame from inside, beside its head: a shell's state at most."""
LIVENESS_CHECK_S = 0.5
"""Seconds between two looks whether the process still lives: somebody else may hold its end of the channel."""
CHUNK_BYTES = 1 << 18


class SessionChannel:
    """A socket to the agent of a session. Frames are sent whole from any thread, and received in one at a time."""

    def __init__(self, ours: socket.socket, process: SandboxedProcess) -> None:
        self.socket, self.process = ours, process
        self.socket.setblocking(False)
        self._sending, self._receiving = threading.Lock(), threading.Lock()
        self._decoder = Decoder(MAX_HEAD_BYTES, MAX_DATA_BYTES)
        self._replies = msgspec.json.Decoder(Reply)

    def send(self, head: dict[str, object], data: bytes = b"", *, seconds: float) -> None:
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
        with self._receiving:
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
            data = self.socket.recv(CHUNK_BYTES)
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
            if poll.poll(max(0.0, min(left, LIVENESS_CHECK_S)) * 1000):
                return
            if left <= 0:
                raise ChannelError("session: its agent does not answer")
            if self._ended():
                raise ChannelError("session: its processes were killed")

    def _ended(self) -> bool:
        try:
            return self.process.wait(0) is not None
        except SandboxError:  # it never began
            return True

    def close(self) -> None:
        """Close this end; a thread that uses it hears of it first, since its number may be another's then."""
        with contextlib.suppress(OSError):  # it was closed before, or the other side was faster
            self.socket.shutdown(socket.SHUT_RDWR)
        with self._sending, self._receiving:
            self.socket.close()
