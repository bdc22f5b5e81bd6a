"""A client of the wire made of bytes: frames cut in pieces, pings, text, and connections that end anywhere."""

import os
import secrets
import socket
import struct
from random import Random
from typing import Any
from urllib.parse import urlsplit

from ludus.wire import FrameLimits
from ludus.wire.messages import (
    HelloRequest,
    NumberedReply,
    NumberedRequest,
    read_answered,
    write_message,
)
from tests.patience import PATIENCE_S as PATIENCE

LIMITS = FrameLimits()
TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10


class RawConnection:
    """One connection over TCP or a Unix socket."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        self.framed = parts.scheme == "unix"
        self.got = b""
        self.pongs: list[bytes] = []
        if self.framed:
            self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            self.socket.settimeout(PATIENCE)
            self.socket.connect(parts.path)
        else:
            self.socket = socket.create_connection((parts.hostname, parts.port), PATIENCE)
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._upgrade(parts.netloc)

    def _upgrade(self, host: str) -> None:
        key = "dGhlIHNhbXBsZSBub25jZQ=="
        head = f"GET /v1/ws HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        self.socket.sendall(f"{head}Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode())
        while b"\r\n\r\n" not in self.got:
            self._more()
        self.got = self.got.partition(b"\r\n\r\n")[2]

    def _more(self) -> None:
        data = self.socket.recv(1 << 16)
        if not data:
            raise ConnectionResetError("the end")
        self.got += data

    def frame(self, data: bytes, kind: int = BINARY, final: bool = True) -> bytes:
        if self.framed:
            return struct.pack(">I", len(data)) + data
        key, first = os.urandom(4), (0x80 if final else 0) | kind
        size = (
            struct.pack(">BB", first, 0x80 | len(data))
            if len(data) < 126
            else struct.pack(">BBH", first, 0x80 | 126, len(data))
        )
        return size + key + bytes(one ^ key[place % 4] for place, one in enumerate(data))

    def parts(self, data: bytes, place: int) -> bytes:
        """A message in two frames, where there is such a thing."""
        if self.framed:
            return self.frame(data)
        return self.frame(data[:place], final=False) + self.frame(data[place:], 0)

    def read(self) -> tuple[int, bytes]:
        """The kind of a frame, and what it holds."""
        head = 4 if self.framed else 2
        self._need(head)
        if self.framed:
            kind, size = BINARY, struct.unpack_from(">I", self.got)[0]
        else:
            kind, size = self.got[0] & 15, self.got[1]
            if size == 126:
                head = 4
                self._need(head)
                size = struct.unpack_from(">H", self.got, 2)[0]
        self._need(head + size)
        data, self.got = self.got[head : head + size], self.got[head + size :]
        return kind, data

    def _need(self, size: int) -> None:
        while len(self.got) < size:
            self._more()

    def answer(self) -> NumberedReply:
        """The next message; pings are answered on the way."""
        while True:
            kind, data = self.read()
            if kind == BINARY:
                return read_answered(data, LIMITS)
            if kind == PING:
                self.socket.sendall(self.frame(data, PONG))
            elif kind == PONG:
                self.pongs.append(data)
            else:
                raise ConnectionResetError(f"a frame of kind {kind}")

    def close(self) -> None:
        self.socket.close()


class RawClient:
    """A session by one client, whatever connections it has; requests are bytes that may be sent anyhow."""

    def __init__(self, address: str, rng: Random, **hello: Any) -> None:
        self.address, self.rng, self.name, self.session = address, rng, secrets.token_hex(8), ""
        self.last, self.unanswered = 0, dict[int, bytes]()
        self.welcome = self.connect(**hello)
        self.session = self.welcome.session

    def connect(self, **hello: Any) -> Any:
        self.line = RawConnection(self.address)
        request = HelloRequest(session=self.session, client=self.name, **hello)
        self.line.socket.sendall(self.line.frame(write_message(NumberedRequest(0, request))))
        return self.line.answer().reply

    def again(self) -> None:
        """Lose the connection, and go on over a new one: what has no answer is sent again."""
        self.line.close()
        told = self.connect()
        assert told.session == self.session, told
        for data in self.unanswered.values():
            self.line.socket.sendall(self.line.frame(data))

    def ask(self, request: Any, seconds: float | None = None) -> bytes:
        """A request under the next number, which is not sent by this."""
        received = next(iter(self.unanswered), self.last + 1) - 1
        self.last += 1
        data = self.unanswered[self.last] = write_message(NumberedRequest(self.last, request, seconds, received))
        return data

    def reply(self) -> tuple[int, Any]:
        """The next reply that was waited for."""
        while True:
            answered = self.line.answer()
            if self.unanswered.pop(answered.number, None) is not None:
                return answered.number, answered.reply
