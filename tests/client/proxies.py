"""A proxy between client and server that cuts connections at chosen places, in the middle of frames too."""

import socket
import threading
from contextlib import suppress
from random import Random


class CuttingProxy:
    """Forwards bytes on loopback; every connection is cut after as many bytes, either way, as `budgets` says next."""

    def __init__(self, port, budgets):
        self.target, self.budgets, self.cuts = port, budgets, 0
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._open, self._lock = [], threading.Lock()
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def _accept(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            try:
                upstream = socket.create_connection(("127.0.0.1", self.target))
            except OSError:  # as one finds it who comes without a proxy
                client.close()
                continue
            pair = Pair(client, upstream, next(self.budgets), self)
            with self._lock:
                self._open.append(pair)
            for source, sink in ((client, upstream), (upstream, client)):
                thread = threading.Thread(target=pair.forward, args=(source, sink), daemon=True)
                self._threads.append(thread)
                thread.start()

    def cut_now(self):
        """Cut every connection."""
        with self._lock:
            for pair in self._open:
                pair.cut()

    def close(self):
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._threads[0].join()  # a connection that it was about to forward is cut as well
        self.cut_now()
        for thread in self._threads[1:]:
            thread.join()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()


class Pair:
    """One connection through the proxy."""

    def __init__(self, client, upstream, budget, proxy):
        self.sockets, self.left, self.proxy = (client, upstream), budget, proxy
        self._lock = threading.Lock()

    def forward(self, source, sink):
        with suppress(OSError):
            while data := source.recv(65536):
                with self._lock:
                    allowed = data if self.left is None else data[: self.left]
                    if self.left is not None:
                        self.left -= len(allowed)
                sink.sendall(allowed)
                if len(allowed) < len(data) or self.left == 0:
                    self.proxy.cuts += 1
                    break
        self.cut()

    def cut(self):
        for one in self.sockets:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()


def budgets(seed, low, high):
    """Numbers of bytes after which connections are cut, for ever."""
    random = Random(seed)
    while True:
        yield random.randint(low, high)


def never():
    """No cut but by word."""
    while True:
        yield None
