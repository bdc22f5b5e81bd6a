"""Lines that block: a plain socket with a framing, and a transport that somebody else opens."""

import os
import select
import socket
from collections.abc import Callable
from contextlib import suppress
from threading import RLock
from time import monotonic, perf_counter, sleep

from ludus.client.access import ServerAccess
from ludus.client.flow import MessageTransport, Opener
from ludus.client.framing import Framing
from ludus.client.keepalive import keep_alive
from ludus.remote.spin import LOOK_SECONDS, Spin, yield_core

__all__ = ["SocketTransport", "CustomTransport"]

FIRST_CHUNK, LARGEST_CHUNK = 1 << 12, 1 << 18
"""Bytes that are asked for at once: memory is taken for all of them, so that it is more only where more comes."""
SEND_DEADLINE_S = 60.0
"""Seconds for a message to be sent, where nothing else says."""
NOTHING = ("BlockingIOError", "SSLWantReadError", "SSLWantWriteError")
"""What a look says where there is nothing to see."""
CLOSE_DEADLINE_S = 1.0
"""Seconds for the last word: whoever does not listen any more is not waited for."""


class SocketTransport:
    """A transport over TCP, TLS or a Unix socket."""

    _framing: Framing
    """Of the connection that there is."""

    def __init__(self, access: ServerAccess) -> None:
        self.access = access
        self._socket: socket.socket | None = None
        self._patience: float | None = None
        self._number = -1
        """The descriptor by which bytes are read and written at once or not at all; -1: the socket's own ways alone."""
        self._poll: Callable[[int], object] = select.poll().poll
        self._spin, self._chunk = Spin(self._poll), FIRST_CHUNK
        self._turn = RLock()

    def open(self, path: str, text: bool, seconds: float) -> None:
        """Connect, and see the handshake through."""
        ends = monotonic() + seconds
        framings = self.access.framings(path, text)
        with self._turn:
            self._end()
            for place, make in enumerate(framings, start=1):
                try:
                    self._begin(make(), ends)
                except (ConnectionResetError, BrokenPipeError):
                    if place == len(framings):
                        raise
                else:
                    keep_alive(self)
                    return

    def _begin(self, framing: Framing, ends: float) -> None:
        self._patience = max(ends - monotonic(), 0.001)
        self._socket = link = self.access.connect(self._patience)
        self._framing = framing
        self._watch(link)
        try:
            link.sendall(framing.begin())
            while not framing.ready:
                self._more(link, framing, ends)
        except BaseException:
            self._drop()
            raise
        self.access.spoken(framing)

    def _watch(self, link: socket.socket) -> None:
        """Have the socket looked at without its own ways, which wait by a call more; what is encrypted goes theirs."""
        self._number = -1 if self.access.address.secure else link.fileno()
        if self._number >= 0:
            poll = select.poll()
            poll.register(self._number, select.POLLIN)
            self._poll = poll.poll
            self._spin = Spin(poll.poll)

    def exchange(self, data: bytes, seconds: float) -> bytes:
        """Send a message, and wait for the next one."""
        with self._turn:
            self._put(data)
            return self._get(seconds)

    def send(self, data: bytes) -> None:
        """Send a message."""
        with self._turn:
            self._put(data)

    def receive(self, seconds: float) -> bytes:
        """The next message, within so many seconds."""
        with self._turn:
            return self._get(seconds)

    def tend(self) -> None:
        """Answer a server that asks whether we live; nothing, where somebody uses the line."""
        if self._turn.acquire(blocking=False):
            try:
                self._look()
            finally:
                self._turn.release()

    def _look(self) -> None:
        link = self._socket
        if link is None:
            return
        self._patience = None
        try:
            link.settimeout(0.0)
            self._take(link, self._framing)
        except OSError as error:
            if type(error).__name__ not in NOTHING:
                self._drop()  # the next request finds out, and goes on over a new one

    def _put(self, data: bytes) -> None:
        """Half a message ends the connection, since nothing can follow it."""
        link = self._socket
        if link is None:
            raise ConnectionResetError("there is no connection")
        if self._patience is None:
            self._wait(link, SEND_DEADLINE_S)
        try:
            frame = self._framing.wrap(data)
            sent = self._write(frame) if self._number >= 0 else 0
            if sent < len(frame):
                link.sendall(frame[sent:] if sent else frame)
        except BaseException:
            self._drop()
            raise

    def _write(self, frame: bytes) -> int:
        """How much of it could be sent at once: nearly always all."""
        try:
            return os.write(self._number, frame)
        except BlockingIOError:
            return 0

    def _get(self, seconds: float) -> bytes:
        link = self._socket
        if link is None:
            raise ConnectionResetError("there is no connection")
        framing = self._framing
        message = framing.next()
        if message is not None:
            return message
        if seconds != self._patience:
            self._wait(link, seconds)
        self._take(link, framing)
        message = framing.next()
        ends = monotonic() + seconds if message is None else 0.0
        while message is None:
            self._more(link, framing, ends)
            message = framing.next()
        return message

    def _more(self, link: socket.socket, framing: Framing, ends: float) -> None:
        self._wait(link, ends - monotonic())
        self._take(link, framing)

    def _wait(self, link: socket.socket, seconds: float) -> None:
        if seconds <= 0:
            raise TimeoutError("timed out")
        self._patience = seconds
        link.settimeout(seconds)

    def _take(self, link: socket.socket, framing: Framing) -> None:
        data = os.read(self._number, self._chunk) if self._number >= 0 and self._look_busily() else None
        if data is None:
            data = link.recv(self._chunk)
        if not data:
            self._drop()
            framing.feed(b"")
            raise ConnectionResetError("the server ended the connection")
        if len(data) == self._chunk:
            self._chunk = min(self._chunk * 4, LARGEST_CHUNK)
        framing.feed(data)
        due = framing.due()
        if due:
            link.sendall(due)

    def _look_busily(self) -> bool:
        """Whether something comes within microseconds: as the spin's own `look`."""
        spin = self._spin
        if spin.rest:
            spin.rest -= 1
            return False
        poll, ends = self._poll, perf_counter() + LOOK_SECONDS
        while not (found := poll(0)) and perf_counter() < ends:
            yield_core()
        hit = bool(found) and perf_counter() < ends
        if not hit or spin.misses:
            spin.judge(hit)
        return bool(found)

    def fetch(self, method: str, path: str, body: bytes | None, seconds: float) -> tuple[int, bytes]:
        """Status and body of an HTTP request, over a connection of its own."""
        return self.access.fetch(method, path, body, seconds)

    def pause(self, seconds: float) -> None:
        """Wait."""
        sleep(seconds)

    def close(self) -> None:
        """Say goodbye, and close; harmless twice."""
        with self._turn:
            self._end()

    def _end(self) -> None:
        if self._socket is not None:
            with suppress(OSError):
                self._socket.settimeout(CLOSE_DEADLINE_S)
                self._socket.sendall(self._framing.farewell())
            self._drop()

    def _drop(self) -> None:
        found, self._socket, self._number = self._socket, None, -1
        if found is not None:
            with suppress(OSError):
                found.shutdown(socket.SHUT_RDWR)
            found.close()


class CustomTransport:
    """A transport over whatever a function opens: an object with `send(bytes)`, `receive(seconds)` and `close()`."""

    def __init__(self, opener: Opener) -> None:
        self._opener = opener
        self._transport: MessageTransport | None = None

    def open(self, path: str, text: bool, seconds: float) -> None:
        """Open a transport, in place of the one that there was."""
        del path, seconds
        if text:
            raise ConnectionRefusedError("a transport of one's own carries the wire of Ludus only")
        self.close()
        self._transport = self._opener()

    def exchange(self, data: bytes, seconds: float) -> bytes:
        """Send a message, and wait for the next one."""
        self.send(data)
        return self.receive(seconds)

    def send(self, data: bytes) -> None:
        """Send a message."""
        if self._transport is None:
            raise ConnectionResetError("there is no connection")
        self._transport.send(data)

    def receive(self, seconds: float) -> bytes:
        """The next message."""
        if self._transport is None:
            raise ConnectionResetError("there is no connection")
        return self._transport.receive(seconds)

    def fetch(self, method: str, path: str, body: bytes | None, seconds: float) -> tuple[int, bytes]:
        """Refused: there is no HTTP beside a transport of one's own."""
        del method, path, body, seconds
        raise ConnectionRefusedError("there is no HTTP beside a transport of one's own")

    def pause(self, seconds: float) -> None:
        """Wait."""
        sleep(seconds)

    def close(self) -> None:
        """Close the transport; harmless twice."""
        found, self._transport = self._transport, None
        if found is not None:
            found.close()
