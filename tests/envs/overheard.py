"""A relay between clients and a server, which keeps every byte that the server sends, connection by connection."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

PIECE = 1 << 16


class Relay:
    """Takes connections at `url` on to the server, and remembers what came back."""

    def __init__(self, url: str) -> None:
        there = urlsplit(url)
        self._there = there.hostname, there.port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._open = [self._listener]
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.sent: list[bytearray] = []
        """By the server, by connection."""

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                far = socket.create_connection(self._there)
                self._open += [near, far]
                self.sent.append(bytearray())
                self._begin(near, far, bytearray())
                self._begin(far, near, self.sent[-1])

    def _begin(self, source: socket.socket, target: socket.socket, kept: bytearray) -> None:
        self._threads.append(threading.Thread(target=_pass_on, args=(source, target, kept)))
        self._threads[-1].start()

    def close(self) -> None:
        """End all connections."""
        for one in self._open:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        for one in self._open:
            one.close()


def _pass_on(source: socket.socket, target: socket.socket, kept: bytearray) -> None:
    with suppress(OSError):
        while piece := source.recv(PIECE):
            kept += piece
            target.sendall(piece)
        target.shutdown(socket.SHUT_WR)


@contextmanager
def overheard(url: str) -> Iterator[Relay]:
    """A relay to a server, for as long as it takes."""
    relay = Relay(url)
    try:
        yield relay
    finally:
        relay.close()
