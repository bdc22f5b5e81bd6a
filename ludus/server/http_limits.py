"""`LimitedHttp`: uvicorn's HTTP with bounds on what a stranger may send before anything of ours looks at it.

uvicorn limits neither the size of a request's head nor the time that one takes, nor how many connections one peer has.
All of that costs memory and descriptors before any right was checked.
"""

import asyncio
from asyncio import TimerHandle
from collections import Counter
from typing import Protocol, runtime_checkable

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from ludus.errors import InvalidArgument

__all__ = ["Config", "Connections", "LimitedHttp", "ConnectionSlot"]

MAX_HEAD_BYTES = 64 << 10
"""Of a request: its line and its headers."""
HEAD_DEADLINE_S, BODY_DEADLINE_S = 10.0, 120.0
"""For a head to come in whole, from its first byte (or from the connection's beginning) on; then for the body."""
MAX_CONNECTIONS = 8192
SPARE_DESCRIPTORS = 128
"""Of those that the process may have: for environments, logs, other workers."""
TOO_LARGE = b"HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
TOO_SLOW = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


class ConnectionSlot:
    """The place of one connection."""

    __slots__ = ("_connections", "_peer")

    def __init__(self, connections: "Connections", peer: str) -> None:
        self._connections: Connections | None = connections
        self._peer = peer

    def leave(self) -> None:
        """Give it back; harmless twice."""
        if self._connections is not None:
            self._connections.leave(self._peer)
            self._connections = None


class Connections:
    """Who is connected. No peer gets more than half of the places, so that there is one for somebody else.

    >>> few = Connections(4)
    >>> [few.enter("10.0.0.1") is None for _ in range(3)], few.enter("10.0.0.2") is None
    ([False, False, True], False)
    """

    def __init__(self, most: int | None = None) -> None:
        self.most = _places() if most is None else most
        if self.most < 2:
            raise InvalidArgument(f"connections: expected at least 2 places, got {self.most}; raise `ulimit -n`")
        self._by_peer: Counter[str] = Counter()
        self._count = 0

    def enter(self, peer: str) -> ConnectionSlot | None:
        """A place for a peer, if there is one. Those on a Unix socket have no name, and no share."""
        if self._count >= self.most or (peer and self._by_peer[peer] >= self.most // 2):
            return None
        self._count += 1
        self._by_peer[peer] += 1
        return ConnectionSlot(self, peer)

    def leave(self, peer: str) -> None:
        """A place of this peer is free again."""
        self._count -= 1
        self._by_peer[peer] -= 1
        if not self._by_peer[peer]:
            del self._by_peer[peer]


def _places() -> int:
    import resource  # not on every system that imports this

    return min(MAX_CONNECTIONS, resource.getrlimit(resource.RLIMIT_NOFILE)[0] - SPARE_DESCRIPTORS)


@runtime_checkable
class SeatedProtocol(Protocol):
    """A protocol of asyncio that gives a place back when its connection ends."""

    seat: "ConnectionSlot | None"


class Config(uvicorn.Config):
    """uvicorn's, with the connections of all of its protocols."""

    connections: Connections


class LimitedHttp(HttpToolsProtocol):
    """Heads are short and come in time, bodies come in time, and connections are few."""

    config: Config
    _seat: ConnectionSlot | None = None
    _head_bytes = 0
    _in_head = True
    _begun = False
    """Whether the first byte of that head has come."""
    _heads = 0
    """How many there were."""
    _timer: TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Take a place, or hang up."""
        super().connection_made(transport)
        self._seat = self.config.connections.enter(self.client[0] if self.client else "")
        if self._seat is None:
            transport.abort()
            return
        self._wait(HEAD_DEADLINE_S)

    def connection_lost(self, exc: Exception | None) -> None:
        """Give the place back."""
        self._stop_waiting()
        if self._seat is not None:
            self._seat.leave()
        super().connection_lost(exc)

    def handle_websocket_upgrade(self) -> None:
        """As uvicorn's; the place goes over to the WebSocket, which gives it back in its turn."""
        self._stop_waiting()
        super().handle_websocket_upgrade()
        protocol = self.transport.get_protocol()
        if isinstance(protocol, SeatedProtocol):
            protocol.seat = self._seat

    def data_received(self, data: bytes) -> None:
        """Feed what came to the parser; of a head no more than it may have."""
        if self._seat is None:  # hung up on already
            return
        while data and not self.transport.is_closing():
            in_head, heads = self._in_head, self._heads
            size = MAX_HEAD_BYTES - self._head_bytes if in_head else len(data)
            super().data_received(data[:size] if len(data) > size else data)
            self._head_bytes = self._head_bytes + min(len(data), size) if in_head and self._heads == heads else 0
            data = data[size:]
            protocol = self.transport.get_protocol()
            if protocol is not self:  # a WebSocket by now
                if data and isinstance(protocol, asyncio.Protocol):
                    protocol.data_received(data)
                return
            if self._in_head and self._head_bytes >= MAX_HEAD_BYTES:
                self._end(TOO_LARGE)
        if self._begun and self._timer is None:
            self._wait(HEAD_DEADLINE_S)

    def on_message_begin(self) -> None:
        """The first byte of a head."""
        self._begun = True
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """The head is there: the body has its own time."""
        self._in_head = self._begun = False
        self._heads += 1
        self._wait(BODY_DEADLINE_S)
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """The request is there: what comes next is another head, whenever its first byte comes."""
        self._in_head = True
        self._stop_waiting()
        super().on_message_complete()

    # --- time ---

    def _wait(self, seconds: float) -> None:
        self._stop_waiting()
        self._timer = self.loop.call_later(seconds, self._late)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _late(self) -> None:
        self._timer = None
        cycle = getattr(self, "cycle", None)  # None before the first request, which its type does not say
        answering = cycle is not None and not cycle.response_complete
        if answering and not self.transport.is_reading():  # it is we who do not read
            self._wait(BODY_DEADLINE_S)
        else:
            self._end(b"" if answering else TOO_SLOW)

    def _end(self, answer: bytes) -> None:
        if not self.transport.is_closing():
            self.transport.write(answer)
            self.transport.close()
