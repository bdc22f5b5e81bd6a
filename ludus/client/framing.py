"""Framings: messages in a stream of bytes, without I/O. `Lengths` is that of Unix sockets, four bytes before each."""

from typing import Protocol

from ludus.errors import CodecError
from ludus.wire import FrameLimits, payload_length
from ludus.wire.frame import HEADER

__all__ = ["Framing", "Lengths", "HandshakeRefused"]


class HandshakeRefused(ConnectionError):
    """The server answered, but not as one that has such an endpoint."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Framing(Protocol):
    """How messages are told apart. What is received goes in by `feed`, and messages come out by `next`."""

    ready: bool
    """Whether messages may be sent: the beginning, if there is one, is over."""

    def begin(self) -> bytes:
        """What is sent first."""
        ...

    def wrap(self, message: bytes) -> bytes:
        """A message as bytes to send."""
        ...

    def feed(self, data: bytes) -> None:
        """Take what was received; ConnectionError where it cannot be, or is the end."""
        ...

    def next(self) -> bytes | None:
        """The next message; None where there is none yet."""
        ...

    def due(self) -> bytes:
        """What has to be sent because of what was received."""
        ...

    def farewell(self) -> bytes:
        """What is sent last."""
        ...


class Lengths:
    r"""Four bytes of length before each message.

    >>> framing = Lengths(1000)
    >>> framing.wrap(b"go")
    b'\x00\x00\x00\x02go'
    >>> framing.feed(b"\x00\x00\x00\x02g")
    >>> framing.next()
    >>> framing.feed(b"o")
    >>> framing.next()
    b'go'
    """

    ready = True

    def __init__(self, size: int) -> None:
        self._limits = FrameLimits(size=size)
        self._got = bytearray()
        self._whole: bytes | None = None
        """A message that came whole and alone, as nearly all do."""

    def begin(self) -> bytes:
        """Nothing: a Unix socket needs no handshake."""
        return b""

    def wrap(self, message: bytes) -> bytes:
        """The length, and the message."""
        return HEADER.pack(len(message)) + message

    def feed(self, data: bytes) -> None:
        """Take what was received."""
        if not self._got and self._whole is None and len(data) > HEADER.size:
            (size,) = HEADER.unpack_from(data)
            if size == len(data) - HEADER.size <= self._limits.size:
                self._whole = data[HEADER.size :]
                return
        self._got += data

    def next(self) -> bytes | None:
        """The next message; None where there is none yet."""
        if self._whole is not None:
            whole, self._whole = self._whole, None
            return whole
        if len(self._got) < HEADER.size:
            return None
        try:
            end = HEADER.size + payload_length(self._got, self._limits)
        except CodecError as error:
            raise ConnectionResetError(str(error)) from error
        if len(self._got) < end:
            return None
        message = bytes(self._got[HEADER.size : end])
        del self._got[:end]
        return message

    def due(self) -> bytes:
        """Nothing."""
        return b""

    def farewell(self) -> bytes:
        """Nothing."""
        return b""
