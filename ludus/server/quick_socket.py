"""`QuickSocket`: uvicorn's WebSocket with a short way for what nearly all messages are: binary, in one frame."""

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, cast

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.protocol import State

from ludus.server.direct import DirectProtocol, DirectSocket, Piece
from ludus.server.http_limits import ConnectionSlot
from ludus.wire.frame_mask import apply_mask
from ludus.wire.websocket import Splitter, binary_frame, frame_head

if TYPE_CHECKING:
    from uvicorn._types import ASGISendEvent

__all__ = ["EXTENSION", "QuickSocket"]

EXTENSION = "ludus.socket"
"""In a scope's extensions: the protocol, by which a thread may read the connection for a while."""

MAX_WAITING = 16
"""Messages that wait to be taken; then no more are read until they are."""
LARGE_MESSAGE_BYTES = 1 << 16
LINGER_S = 2.0
"""How long a connection that broke the protocol is read after it was told so."""
END = b"\r\n\r\n"
"""Of a handshake."""


class QuickSocket(DirectProtocol, WebSocketsSansIOProtocol):
    """Everything that is not such a message goes uvicorn's way."""

    transport: asyncio.Transport
    seat: ConnectionSlot | None = None
    """Its place among the server's connections, which it got from HTTP."""

    _splitter: Splitter | None = None
    _slow = False
    """Whether the library holds the beginning of something: then it reads all the rest, too."""
    _broken = False
    """Whether the other side broke the protocol: what still comes is thrown away."""

    def data_received(self, data: bytes) -> None:
        """Take what came."""
        if self._broken:
            return
        if not self.handshake_complete:  # whoever does not wait for the answer to its handshake is read by the library
            self._slow = self._slow or self.handshake_initiated or not data.endswith(END)
        if self._slow or not self.handshake_complete:
            super().data_received(data)
            return
        self._take(self._split().split(data))

    def _split(self) -> Splitter:
        if self._splitter is None:
            self._splitter = Splitter(self.config.ws_max_size, apply_mask)
        return self._splitter

    def _take(self, pieces: Sequence[Piece]) -> None:
        for message, other in pieces:
            if message is None:
                super().data_received(other)
            elif not self.close_sent:
                self._enter(message)

    def _enter(self, message: bytes) -> None:
        self.queue.put_nowait({"type": "websocket.receive", "bytes": message})
        if not self.read_paused and self.queue.qsize() > MAX_WAITING:
            self.read_paused = True
            self.transport.pause_reading()

    async def send(self, message: "ASGISendEvent") -> None:
        """Send a message, or what else an application says."""
        data = message.get("bytes") if message["type"] == "websocket.send" else None
        if data is None or not self._is_open():
            await super().send(message)
        elif len(data) < LARGE_MESSAGE_BYTES:
            self.transport.write(binary_frame(data))
        else:
            self.transport.writelines([frame_head(len(data)), data])

    def handle_parser_exception(self) -> None:
        """Tell the other side why this ends, and let it finish.

        uvicorn closes at once; but a socket that is closed while bytes wait to be read is reset, and the reason lost.
        """
        told = self.conn.close_sent
        code, reason = (1002, "") if told is None else (told.code, told.reason)
        self.queue.put_nowait({"type": "websocket.disconnect", "code": code, "reason": reason})
        self.transport.write(b"".join(self.conn.data_to_send()))
        self.close_sent = self._broken = True
        if self.transport.can_write_eof():
            self.transport.write_eof()
        if self.read_paused:
            self.read_paused = False
            self.transport.resume_reading()
        if self.close_timer is None:
            self.close_timer = self.loop.call_later(LINGER_S, self.transport.close)

    def _is_open(self) -> bool:
        ready = self.handshake_complete and self.initial_response is None and self.writable.is_set()
        return ready and not self.close_sent and not self.disconnected and self.conn.state is State.OPEN

    # --- a thread that reads ---

    async def run_asgi(self) -> None:
        """As uvicorn's; the application may have the connection read by a thread."""
        extensions = cast("dict[str, object]", self.scope.setdefault("extensions", {}))
        extensions[EXTENSION] = self
        await super().run_asgi()

    def start_direct(self, recall: Callable[[], object]) -> DirectSocket | None:
        """Read and write it no more."""
        if self._slow or self.read_paused or not self.queue.empty() or not self._is_open():
            return None
        copy = self.copy_socket(recall)
        return None if copy is None else DirectSocket(copy, self._split().split, binary_frame)

    def end_direct(self, pieces: Sequence[Piece], unsent: bytes) -> None:
        """Go on with it."""
        if self.drop_copy(unsent):
            self._take(pieces)
            if not self.read_paused and not self.transport.is_closing():
                self.transport.resume_reading()
        self.run_afterwards()

    def send_keepalive_ping(self) -> None:
        """Ask whether the other side lives."""
        self.after_direct(super().send_keepalive_ping)

    def keepalive_timeout(self) -> None:
        """It does not."""
        self.after_direct(super().keepalive_timeout)

    def shutdown(self) -> None:
        """Close, since the server stops."""
        self.after_direct(super().shutdown)

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is gone; a thread that reads it lets go of it."""
        if self.seat is not None:
            self.seat.leave()
        super().connection_lost(exc)
        self.after_direct(lambda: None)
