"""`WebSocket`: the framing of a WebSocket connection, by the protocol without I/O of the `websockets` library."""

from collections.abc import Mapping
from os import urandom

from websockets.client import ClientProtocol
from websockets.exceptions import InvalidStatus, WebSocketException
from websockets.frames import Frame, Opcode
from websockets.http11 import Response
from websockets.protocol import State
from websockets.typing import BytesLike
from websockets.uri import parse_uri

from ludus.client.framing import HandshakeRefused
from ludus.wire.frame_mask import apply_mask
from ludus.wire.websocket import BINARY, MASKED, SHORT, Splitter, binary_frame

__all__ = ["WebSocket"]


class WebSocket:
    """One connection: handshake, messages, and the control frames between them."""

    def __init__(self, uri: str, headers: Mapping[str, str], *, text: bool = False, size: int = 1 << 26) -> None:
        self._protocol = ClientProtocol(parse_uri(uri), max_size=size)
        self._headers, self._text = headers, text
        self._send = self._protocol.send_text if text else self._protocol.send_binary
        self._splitter, self._slow = Splitter(size), text
        """Text, and a connection whose first bytes came with the handshake's, are read by the library alone."""
        self._parts: list[BytesLike] = []
        self._messages: list[BytesLike] = []
        self.ready = self._owes = False
        """`_owes`: whether the library has seen something since it was last asked what is to be sent."""
        self._idle = True
        """Whether what comes next begins a frame."""

    def begin(self) -> bytes:
        """The request for an upgrade."""
        request = self._protocol.connect()
        for name, value in self._headers.items():
            request.headers[name] = value
        self._protocol.send_request(request)
        return b"".join(self._protocol.data_to_send())

    def wrap(self, message: bytes) -> bytes:
        """A message as one masked frame: a binary one without the library, which costs more than all the rest."""
        if not self._text and self._protocol.state is State.OPEN:
            size, key = len(message), urandom(4)
            if size < SHORT:
                return bytes((BINARY, MASKED | size)) + key + apply_mask(message, key)
            return binary_frame(message, key, apply_mask)
        try:
            self._send(message)
        except WebSocketException as error:
            raise ConnectionResetError(f"the connection is closing: {error}") from error
        return b"".join(self._protocol.data_to_send())

    def feed(self, data: bytes) -> None:
        """Take what was received; `HandshakeRefused` for a handshake that failed, ConnectionError at the end."""
        if self._slow or not self.ready or not data:
            self._read(data)
            return
        if self._idle and data[0] == BINARY and len(data) > 1 and data[1] < SHORT and len(data) == data[1] + 2:
            self._messages.append(data[2:])  # a whole short message, as nearly all are
            return
        for message, other in self._splitter.split(data):
            if message is None:
                self._read(other)
            else:
                self._messages.append(message)
        self._idle = self._splitter.idle

    def _read(self, data: bytes) -> None:
        """By the library: handshakes, control frames, messages in pieces, and whatever is wrong."""
        protocol, self._owes = self._protocol, True
        if not self.ready:
            self._slow = self._slow or (b"\r\n\r\n" in data and not data.endswith(b"\r\n\r\n"))
        if data:
            protocol.receive_data(data)
        else:
            protocol.receive_eof()
        for event in protocol.events_received():
            if isinstance(event, Response):
                self._welcome(event)
            elif isinstance(event, Frame) and event.opcode in (Opcode.BINARY, Opcode.TEXT, Opcode.CONT):
                self._take(event)
        if protocol.handshake_exc is not None:
            raise _refusal(protocol.handshake_exc)
        if protocol.state is not State.OPEN and not self._messages and self.ready:
            raise ConnectionResetError(f"the server ended the connection: {_reason(protocol)}")

    def _welcome(self, response: Response) -> None:
        if self._protocol.handshake_exc is None:
            self.ready = response.status_code == 101

    def _take(self, frame: Frame) -> None:
        if frame.fin and not self._parts:
            self._messages.append(frame.data)
            return
        self._parts.append(frame.data)
        if frame.fin:
            self._messages.append(b"".join(self._parts))
            self._parts.clear()

    def next(self) -> bytes | None:
        """The next message, of text as its bytes; None where there is none yet."""
        return bytes(self._messages.pop(0)) if self._messages else None

    def due(self) -> bytes:
        """Pongs, and the answer to a close frame."""
        if not self._owes:
            return b""
        self._owes = False
        return b"".join(self._protocol.data_to_send())

    def farewell(self) -> bytes:
        """A close frame, where one may be sent."""
        if self._protocol.state is State.OPEN:
            self._protocol.send_close(1000)
        return b"".join(self._protocol.data_to_send())


def _refusal(error: BaseException) -> ConnectionError:
    if isinstance(error, InvalidStatus):
        response = error.response
        said = bytes(response.body or b"")[:200].decode("utf8", "replace")
        return HandshakeRefused(response.status_code, f"HTTP {response.status_code} {said}".strip())
    return ConnectionResetError(f"no WebSocket handshake: {type(error).__name__}: {error}")


def _reason(protocol: ClientProtocol) -> str:
    try:
        return f"{protocol.close_code} {protocol.close_reason or ''}".strip()
    except WebSocketException:
        return "without a word"
