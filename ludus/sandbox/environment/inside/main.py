"""The program of a sandboxed process: one environment, served over the socket that it inherited."""

import io
import os
import signal
import socket
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from ludus.sandbox.environment.channel import MessageChannel
from ludus.sandbox.environment.inside.request_loop import serve
from ludus.wire.messages import Request

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = ["connected", "main", "prepare_process"]

CHANNEL = 3


class Lossy(io.RawIOBase):
    """Standard error as far as there is room: a flood is dropped rather than waited for."""

    def writable(self) -> bool:
        return True

    def write(self, data: "Buffer") -> int:
        with suppress(OSError):
            os.write(2, data)
        return memoryview(data).nbytes


def prepare_process() -> None:
    """What any process here does first: interrupts are the other side's, and the channel stays in this process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.stderr = io.TextIOWrapper(io.BufferedWriter(Lossy()), errors="backslashreplace", line_buffering=True)


def connected(descriptor: int) -> MessageChannel[Request]:
    """The channel over an inherited socket."""
    os.set_inheritable(descriptor, False)
    return MessageChannel(socket.socket(fileno=descriptor), Request)


def main() -> None:
    """Serve, and end without ceremony: threads that an environment left behind are not waited for."""
    prepare_process()
    channel = connected(CHANNEL)
    serve(channel)
    channel.close()
    sys.stderr.flush()
    os._exit(0)
