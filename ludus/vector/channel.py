"""Channels: messages of any size between a batch and one worker, over a pair of sockets.

Each message is a file in memory, of which only the descriptor is sent: the sender never waits for the reader.
"""

import os
import select
import socket

__all__ = ["WorkerChannel"]


class WorkerChannel:
    """One end of a pair of sockets.

    >>> ours, theirs = WorkerChannel.pair()
    >>> ours.send(b"hello")
    >>> theirs.receive(1.0)
    b'hello'
    >>> ours.close(), theirs.close()
    (None, None)
    """

    def __init__(self, end: socket.socket) -> None:
        self.end = end

    @classmethod
    def pair(cls) -> "tuple[WorkerChannel, WorkerChannel]":
        """Two ends."""
        one, other = socket.socketpair()
        return cls(one), cls(other)

    def send(self, data: bytes) -> None:
        """Send a message."""
        file = os.memfd_create("ludus message")
        try:
            with open(file, "wb", closefd=False) as stream:
                stream.write(data)
            self.send_file(file)
        finally:
            os.close(file)

    def receive(self, seconds: float) -> bytes | None:
        """The next message; None if there is none in time. Raises EOFError when the other side is gone."""
        file = self.receive_file(seconds)
        if file is None:
            return None
        with open(file, "rb") as stream:
            stream.seek(0)
            return stream.read()

    def send_file(self, file: int) -> None:
        """Send an open file; the sender's own descriptor stays open."""
        socket.send_fds(self.end, [b"."], [file])

    def receive_file(self, seconds: float) -> int | None:
        """The next file, opened; None if there is none in time."""
        poll = select.poll()
        poll.register(self.end, select.POLLIN)
        if not poll.poll(seconds * 1000):
            return None
        try:
            data, files, _, _ = socket.recv_fds(self.end, 1, 1)
        except ConnectionError as error:
            raise EOFError(str(error)) from error
        if not data or not files:
            raise EOFError("the other side is gone")
        os.set_inheritable(files[0], False)
        return files[0]

    def close(self) -> None:
        """Close this end."""
        self.end.close()
