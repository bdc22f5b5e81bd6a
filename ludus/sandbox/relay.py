"""The relay: a program that runs inside, listens on the sandbox's loopback and passes everything to the proxy's socket.

Started as `python -I -S relay.py PORT SOCKET COMMAND…`: it leaves itself behind and becomes the command. It imports
nothing of Ludus, which need not be inside.
"""

import os
import select
import signal
import socket
import sys

CHUNK_BYTES = 65536
MAX_CONNECTIONS = 64
"""Connections at once."""


class Pipe:
    """One way of a connection: what was read and could not be written yet."""

    def __init__(self, source: socket.socket, target: socket.socket) -> None:
        self.source, self.target, self.held, self.ended = source, target, b"", False

    def done(self) -> bool:
        """Whether nothing more will come."""
        return self.ended and not self.held

    def read(self) -> None:
        """Take what there is, when there is room."""
        try:
            self.held = self.source.recv(CHUNK_BYTES)
            self.ended = not self.held
        except BlockingIOError:
            return
        except OSError:
            self.ended = True
        self.write()

    def write(self) -> None:
        """Give what the other side takes."""
        try:
            if self.held:
                self.held = self.held[self.target.send(self.held) :]
            if self.done():
                self.target.shutdown(socket.SHUT_WR)
        except BlockingIOError:
            return
        except OSError:
            self.held, self.ended = b"", True


def accept(listener: socket.socket, path: str) -> list[Pipe]:
    """Take a caller, and call the proxy for it."""
    caller = proxy = None
    try:
        caller, _ = listener.accept()
        proxy = socket.socket(socket.AF_UNIX)
        proxy.connect(path)
    except OSError:
        for one in filter(None, (caller, proxy)):
            one.close()
        return []
    caller.setblocking(False)
    proxy.setblocking(False)
    return [Pipe(caller, proxy), Pipe(proxy, caller)]


def relay(listener: socket.socket, path: str) -> None:
    """Serve until the sandbox ends."""
    pairs: list[list[Pipe]] = []
    while True:
        pipes = [pipe for pair in pairs for pipe in pair]
        reading = {pipe.source: pipe for pipe in pipes if not pipe.held and not pipe.ended}
        writing = {pipe.target: pipe for pipe in pipes if pipe.held}
        open_to = [listener] if len(pairs) < MAX_CONNECTIONS else []
        readable, writable, _ = select.select([*open_to, *reading], list(writing), [])
        for one in readable:
            if one is listener:
                pairs.append(accept(listener, path))
            else:
                reading[one].read()
        for one in writable:
            writing[one].write()
        for pair in [pair for pair in pairs if all(pipe.done() for pipe in pair)]:
            pairs.remove(pair)
            for pipe in pair:
                pipe.source.close()


def leave_behind(listener: socket.socket, path: str) -> None:
    """Run the relay as nobody's child: the command shall not meet a process it did not start."""
    middle = os.fork()
    if middle:
        os.waitpid(middle, 0)
        return
    if os.fork() == 0:
        os.dup2(listener.fileno(), 0)
        os.closerange(1, os.sysconf("SC_OPEN_MAX"))  # the command's streams and channel are not ours to hold
        relay(socket.socket(fileno=0), path)
    os._exit(0)


def main() -> None:
    """Listen, leave the relay behind, and become the command."""
    port, path, *command = sys.argv[1:]
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", int(port)))
    listener.listen(MAX_CONNECTIONS)
    leave_behind(listener, path)
    listener.close()
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # which Python ignores, and whoever it executes would too
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execvp(command[0], command)  # noqa: S606  (that is the job)
    except OSError as error:
        sys.stderr.write(f"cannot start {command[0]!r}: {error.strerror}\n")
        sys.exit(127 if isinstance(error, FileNotFoundError) else 126)


if __name__ == "__main__":
    main()
