"""`QuickSocket`: uvicorn's WebSocket with a short way for what nearly all messages are: binary, in one frame."""

from typing import Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.protocol import State

from ludus.wire.masking import apply_mask
from ludus.wire.websocket import Splitter, binary_frame, frame_head

__all__ = ["QuickSocket"]

MOST_WAITING = 16
"""Messages that wait to be taken; then no more are read until they are."""
LARGE = 1 << 16
END = b"\r\n\r\n"
"""Of a handshake."""


class QuickSocket(WebSocketsSansIOProtocol):
    """Everything that is not such a message goes uvicorn's way."""

    _splitter: Splitter | None = None
    _slow = False
    """Whether the library holds the beginning of something: then it reads all the rest, too."""

    def data_received(self, data: bytes) -> None:
        """Take what came."""
        if not self.handshake_complete:  # whoever does not wait for the answer to its handshake is read by the library
            self._slow = self._slow or self.handshake_initiated or not data.endswith(END)
        if self._slow or not self.handshake_complete:
            super().data_received(data)
            return
        if self._splitter is None:
            self._splitter = Splitter(self.config.ws_max_size, apply_mask)
        for message, other in self._splitter.split(data):
            if message is None:
                super().data_received(other)
            elif not self.close_sent:
                self._enter(message)

    def _enter(self, message: bytes) -> None:
        self.queue.put_nowait({"type": "websocket.receive", "bytes": message})
        if not self.read_paused and self.queue.qsize() > MOST_WAITING:
            self.read_paused = True
            self.transport.pause_reading()

    async def send(self, message: Any) -> None:
        """Send a message, or what else an application says."""
        data = message.get("bytes") if message["type"] == "websocket.send" else None
        if data is None or not self._is_open():
            await super().send(message)
        elif len(data) < LARGE:
            self.transport.write(binary_frame(data))
        else:
            self.transport.writelines([frame_head(len(data)), data])

    def _is_open(self) -> bool:
        ready = self.handshake_complete and self.initial_response is None and self.writable.is_set()
        return ready and not self.close_sent and not self.disconnected and self.conn.state is State.OPEN
