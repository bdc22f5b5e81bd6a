"""The channel: one socket, one message at a time each way, with one deadline for both. No threads."""

import select
import socket
from collections.abc import Sequence
from contextlib import suppress
from struct import Struct
from threading import Lock
from time import monotonic
from typing import Generic, TypeVar

import msgspec

from ludus.errors import ChannelError, CodecError
from ludus.remote.spin import Spin
from ludus.wire import FrameLimits, payload_length, read_frame, write_frame

__all__ = ["MessageChannel", "ChannelClosed", "DeadlinePassed"]

MessageT_co = TypeVar("MessageT_co", covariant=True)
"""What may arrive."""
HEADER_BYTES = 4
BUFFER_BYTES = 1 << 16
MAX_KEPT_BUFFER_BYTES = 1 << 24
"""A buffer that grew beyond this is given back."""
TIMEVAL = Struct("@ll")


class ChannelClosed(Exception):
    """The other side is gone."""


class DeadlinePassed(Exception):
    """The other side did not answer in time."""


class MessageChannel(Generic[MessageT_co]):
    """Sends messages and receives those of one type; whatever else arrives is a ChannelError.

    A deadline is the socket's own (`SO_RCVTIMEO`): waiting costs no system call beside the read itself.
    """

    def __init__(self, link: socket.socket, kind: object, limits: FrameLimits | None = None) -> None:
        self.link, self.limits = link, FrameLimits() if limits is None else limits
        self._decoder: msgspec.msgpack.Decoder[MessageT_co] = msgspec.msgpack.Decoder(kind)
        self._inbox, self._outbox = bytearray(BUFFER_BYTES), bytearray()
        self._view = memoryview(self._inbox)
        self._waits: dict[int, float | None] = {socket.SO_RCVTIMEO: None, socket.SO_SNDTIMEO: None}
        self._ends: float | None = None
        self._closing = Lock()
        link.setblocking(True)
        poll = select.poll()
        poll.register(link, select.POLLIN)
        self._spin = Spin(poll.poll)

    def exchange(self, message: object, seconds: float | None, descriptors: Sequence[int] = ()) -> MessageT_co:
        """Send a message and receive the reply, all within `seconds`; None waits for ever."""
        self.post(message, seconds, descriptors)
        self._spin.look()  # whoever waits for requests does not: it may have little time of the processor's
        return self.receive(self._ends, seconds)

    def post(self, message: object, seconds: float | None, descriptors: Sequence[int] = ()) -> None:
        """Send a message, to whose reply there are `seconds` from now on."""
        self._ends = None if seconds is None else monotonic() + seconds
        if seconds != self._waits[socket.SO_SNDTIMEO]:
            self._set_wait(socket.SO_SNDTIMEO, seconds)
        self.send(message, self._ends, descriptors)

    def collect(self) -> MessageT_co:
        """The reply to what was posted, within the time that is left."""
        left = None if self._ends is None else max(self._ends - monotonic(), 1e-6)  # it may be here already
        return self.receive(self._ends, left)

    def send(self, message: object, ends: float | None = None, descriptors: Sequence[int] = ()) -> None:
        """Send a message, and descriptors with it; CodecError where it cannot be one, and then nothing was sent."""
        data = write_frame(message, self.limits, self._outbox)
        try:
            sent = socket.send_fds(self.link, [data], descriptors) if descriptors else self.link.send(data)
            if sent != len(data):
                self._send_rest(memoryview(data)[sent:], ends)
        except BlockingIOError as error:
            raise DeadlinePassed from error
        except OSError as error:
            raise ChannelClosed(str(error)) from error
        finally:
            if len(data) > MAX_KEPT_BUFFER_BYTES:
                self._outbox = bytearray()

    def _send_rest(self, data: memoryview, ends: float | None) -> None:
        while data:
            self._wait_until(socket.SO_SNDTIMEO, ends)
            data = data[self.link.send(data) :]

    def receive(self, ends: float | None = None, wait: float | None = None) -> MessageT_co:
        """The next message; ChannelError where the bytes are none. `wait` spares the clock where nothing passed yet."""
        if wait != self._waits[socket.SO_RCVTIMEO]:
            self._set_wait(socket.SO_RCVTIMEO, wait)
        try:
            got = self.link.recv_into(self._view)
            total = HEADER_BYTES + payload_length(self._view, self.limits) if got >= HEADER_BYTES else -1
            if got != total:
                total = self._receive_rest(got, ends)
            return read_frame(self._view[HEADER_BYTES:total], self._decoder, self.limits)
        except CodecError as error:
            raise ChannelError(f"channel: {error}") from error
        except BlockingIOError as error:
            raise DeadlinePassed from error
        except OSError as error:
            raise ChannelClosed(str(error)) from error
        finally:
            if len(self._inbox) > MAX_KEPT_BUFFER_BYTES:
                self._resize(BUFFER_BYTES)

    def _receive_rest(self, got: int, ends: float | None) -> int:
        """Read on until the frame is whole; its size. More than the frame is not asked for, so it is nonsense."""
        if got == 0:
            raise ChannelClosed("end of file")
        total = HEADER_BYTES
        while got < total or total == HEADER_BYTES:
            if got >= HEADER_BYTES:
                total = HEADER_BYTES + payload_length(self._view, self.limits)
                if total > len(self._inbox):
                    self._resize(total, got)
                if got >= total:
                    break
            self._wait_until(socket.SO_RCVTIMEO, ends)
            more = self.link.recv_into(self._view[got:])
            if more == 0:
                raise ChannelClosed(f"end of file after {got} bytes of a frame")
            got += more
        if got > total:
            raise CodecError(f"frame: expected one reply of {total} bytes, got {got}")
        return total

    def _resize(self, size: int, keep: int = 0) -> None:
        inbox = bytearray(size)
        inbox[:keep] = self._view[:keep]
        self._inbox, self._view = inbox, memoryview(inbox)

    def _wait_until(self, option: int, ends: float | None) -> None:
        left = None if ends is None else ends - monotonic()
        if left is not None and left <= 0:
            raise DeadlinePassed
        self._set_wait(option, left)

    def _set_wait(self, option: int, seconds: float | None) -> None:
        self._waits[option] = seconds
        micros = 0 if seconds is None else max(1, int(seconds * 1e6))  # 0 is: for ever
        self.link.setsockopt(socket.SOL_SOCKET, option, TIMEVAL.pack(*divmod(micros, 1_000_000)))

    def hang_up(self) -> None:
        """End both ways, from whichever thread: a call that waits for the other side hears that it is gone."""
        with self._closing, suppress(OSError):  # the other side was faster
            if self.link.fileno() >= 0:
                self.link.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close the socket; harmless twice. Not while another thread hangs up: its number may be another's then."""
        with self._closing:
            self.link.close()
