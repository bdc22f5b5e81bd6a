"""The fork server inside the sandbox: imports once, then forks a child for each socket that it is sent.

It never starts a thread. Its children are set to die with it, and are reaped as they end: where it waits, never by the
handler of the signal. A handler is interrupted by the next one, and of two that reap, one finds its child taken.
"""

import ctypes
import os
import resource
import select
import signal
import socket
import sys
import time
from contextlib import suppress
from types import FrameType

import msgspec
import numpy as np

from ludus.errors import CodecError
from ludus.sandbox.environment.channel import MessageChannel
from ludus.sandbox.environment.inside.env_factory import make_env
from ludus.sandbox.environment.inside.main import CHANNEL, prepare_process
from ludus.sandbox.environment.inside.request_loop import serve
from ludus.sandbox.environment.spawn_messages import EndReply, EndRequest, ServerReply, ServerRequest, SpawnReply
from ludus.wire import FrameLimits, read_frame, write_frame
from ludus.wire.failures import write_failure
from ludus.wire.messages import DoneReply, MakeRequest, Request

__all__ = ["Zygote", "main"]

BUFFER_BYTES = 1 << 20
HEADER_BYTES = 4
MAX_CODES = 1000
"""Of children that have ended, how many exit codes are kept to be asked for: of most, nobody asks."""
DIE_WITH_PARENT = 1
"""PR_SET_PDEATHSIG."""


class Zygote:
    """Answers the other side, one request at a time; what it waits for meanwhile are ends of children."""

    def __init__(self, link: socket.socket) -> None:
        self.link, self.limits = link, FrameLimits()
        self._decoder: msgspec.msgpack.Decoder[ServerRequest] = msgspec.msgpack.Decoder(ServerRequest)
        self._prctl = getattr(ctypes.CDLL(None), "prctl", None)
        self._running: dict[int, int] = {}
        self._codes: dict[int, int] = {}
        self._count = 0
        self._wake_sender, self._wake_receiver = socket.socketpair()
        for one in (self._wake_sender, self._wake_receiver):
            one.setblocking(False)

    def run(self) -> None:
        """Serve until the other side is gone."""
        with self._wake_sender, self._wake_receiver:
            try:
                while self._serve_one():
                    pass
            finally:
                self._hear_no_more()

    def _serve_one(self) -> bool:
        """Answer the next request; False where there is none."""
        request, descriptors = self._receive()
        if request is None:
            return False
        try:
            reply: ServerReply = self._answer(request, descriptors)
        except Exception as error:
            reply = write_failure(error)
        self.link.sendall(write_frame(reply, self.limits))
        return True

    def _receive(self) -> tuple[ServerRequest | None, list[int]]:
        """A request, which is small and comes alone, and the sockets that came with it."""
        while not self._wait(self.link):
            pass
        data, descriptors, _, _ = socket.recv_fds(self.link, BUFFER_BYTES, 1)
        while data and len(data) < HEADER_BYTES + int.from_bytes(data[:HEADER_BYTES], "big"):
            data += self.link.recv(BUFFER_BYTES)
        if not data:
            return None, descriptors
        try:
            return read_frame(data[HEADER_BYTES:], self._decoder, self.limits), descriptors
        except CodecError:
            return None, descriptors

    def _wait(self, link: socket.socket | None, seconds: float | None = None) -> bool:
        """Until there is something to read; whether there is. A child that ends, and the time, end the wait too."""
        poll = select.poll()
        poll.register(self._wake_sender, select.POLLIN)
        if link is not None:
            poll.register(link, select.POLLIN)
        found = {number for number, _ in poll.poll(None if seconds is None else 1000 * seconds)}
        if self._wake_sender.fileno() in found:
            with suppress(BlockingIOError):
                self._wake_sender.recv(BUFFER_BYTES)
            self._reap()
        return link is not None and link.fileno() in found

    def _answer(self, request: ServerRequest, descriptors: list[int]) -> ServerReply:
        if isinstance(request, MakeRequest):
            return self._prepare(request)
        if isinstance(request, EndRequest):
            return EndReply(self._end(request.number, request.seconds))
        [descriptor] = descriptors
        return SpawnReply(self._spawn(descriptor, request.memory))

    def _prepare(self, request: MakeRequest) -> DoneReply:
        """Make the environment once, so that all it imports is there, and throw it away."""
        make_env(request).close()
        self.listen()
        return DoneReply()

    def listen(self) -> None:
        """Hear of children that end: only from here on, since what was imported may have had some of its own."""
        signal.signal(signal.SIGCHLD, _ring)
        signal.set_wakeup_fd(self._wake_receiver.fileno(), warn_on_full_buffer=False)

    def _hear_no_more(self) -> None:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)

    def _spawn(self, descriptor: int, memory: int | None) -> int:
        sys.stderr.flush()
        parent = os.getpid()
        pid = os.fork()
        if pid == 0:
            self._live(descriptor, parent, memory)
        os.close(descriptor)
        self._count += 1
        self._running[self._count] = pid
        return self._count

    def _live(self, descriptor: int, parent: int, memory: int | None) -> None:
        """The life of a child, which ends here."""
        code = 1
        try:
            self._hear_no_more()
            if self._prctl is not None:
                self._prctl(DIE_WITH_PARENT, signal.SIGKILL, 0, 0, 0)
            for one in (self.link, self._wake_sender, self._wake_receiver):
                one.close()
            if memory is not None:
                _limit_memory(memory)
            if os.getppid() == parent:
                np.random.seed()  # noqa: NPY002  (the global generator would go on alike in every child)
                serve(MessageChannel(socket.socket(fileno=descriptor), Request))
                code = 0
        finally:
            sys.stderr.flush()
            os._exit(code)

    def _reap(self) -> None:
        """Take the exit codes of children that have ended."""
        for number, pid in list(self._running.items()):
            found, status = os.waitpid(pid, os.WNOHANG)
            if found:
                del self._running[number]
                self._codes[number] = os.waitstatus_to_exitcode(status)
        while len(self._codes) > MAX_CODES:
            del self._codes[next(iter(self._codes))]

    def _end(self, number: int, seconds: float | None) -> int | None:
        ends = time.monotonic() + (seconds or 0.0)
        self._reap()
        while number in self._running and (left := ends - time.monotonic()) > 0:
            self._wait(None, left)
        pid = self._running.get(number)
        if pid is None:
            return self._codes.pop(number, None)
        try:
            os.kill(pid, signal.SIGKILL)  # not reaped yet, so that it is no other's number
        except PermissionError:  # Landlock of an older kernel, where nobody may send signals
            if seconds is not None:
                raise  # whoever asked ends all of us
        if seconds is None:  # to be reaped when it is gone; its channel is closed, and so it goes by itself
            return None
        del self._running[number]
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def _ring(signum: int, frame: FrameType | None) -> None:
    """Nothing: the descriptor is written to for each signal that has a handler, and not for one that is ignored."""


def _limit_memory(more: int) -> None:
    """So many bytes beyond what this process has: the sandbox around all of them cannot tell whose memory it is."""
    with open("/proc/self/statm") as file:
        pages = int(file.read().split()[5])
    most = pages * resource.getpagesize() + more
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if hard == resource.RLIM_INFINITY or most < hard:
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))


def main() -> None:
    """Serve, and end: the children follow."""
    prepare_process()
    os.set_inheritable(CHANNEL, False)
    Zygote(socket.socket(fileno=CHANNEL)).run()
    os._exit(0)
