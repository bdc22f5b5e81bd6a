"""The fork server behind the wall: imports once, then forks a child for each socket that it is sent.

It never starts a thread. Its children are told to die with it, and are reaped as they end.
"""

import ctypes
import os
import signal
import socket
import sys
import time
from typing import Any

import msgspec
import numpy as np

from ludus.errors import CodecError
from ludus.sandbox.environment.channel import Channel
from ludus.sandbox.environment.inside.main import CHANNEL, settle
from ludus.sandbox.environment.inside.making import make_env
from ludus.sandbox.environment.inside.serving import serve
from ludus.sandbox.environment.spawning import EndReply, EndRequest, ServerRequest, SpawnReply
from ludus.wire import FrameLimits, read_frame, write_frame
from ludus.wire.failures import write_failure
from ludus.wire.messages import DoneReply, MakeRequest, Request

__all__ = ["Zygote", "main"]

ROOM = 1 << 20
HEADER = 4
DIE_WITH_PARENT = 1
"""PR_SET_PDEATHSIG."""


class Zygote:
    """Answers the other side, one request at a time; SIGCHLD is only let in while it waits for one."""

    def __init__(self, link: socket.socket) -> None:
        self.link, self.limits = link, FrameLimits()
        self._decoder: msgspec.msgpack.Decoder[Any] = msgspec.msgpack.Decoder(ServerRequest)
        self._prctl = getattr(ctypes.CDLL(None), "prctl", None)
        self._running: dict[int, int] = {}
        self._codes: dict[int, int] = {}
        self._count = 0

    def run(self) -> None:
        """Serve until the other side is gone."""
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
        while True:
            request, descriptors = self._receive()
            if request is None:
                return
            try:
                reply = self._answer(request, descriptors)
            except Exception as error:
                reply = write_failure(error)
            self.link.sendall(write_frame(reply, self.limits))

    def _receive(self) -> tuple[Any, list[int]]:
        """A request, which is small and comes alone, and the sockets that came with it."""
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])
        data, descriptors, _, _ = socket.recv_fds(self.link, ROOM, 1)
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
        while data and len(data) < HEADER + int.from_bytes(data[:HEADER], "big"):
            data += self.link.recv(ROOM)
        if not data:
            return None, descriptors
        try:
            return read_frame(data[HEADER:], self._decoder, self.limits), descriptors
        except CodecError:
            return None, descriptors

    def _answer(self, request: Any, descriptors: list[int]) -> Any:
        if type(request) is MakeRequest:
            return self._prepare(request)
        if type(request) is EndRequest:
            return EndReply(self._end(request.number, request.seconds))
        return SpawnReply(self._spawn(*descriptors))

    def _prepare(self, request: MakeRequest) -> DoneReply:
        """Make the environment once, so that all it imports is there, and throw it away."""
        make_env(request).close()
        self.listen()
        return DoneReply()

    def listen(self) -> None:
        """Reap children as they end: only from here on, since what was imported may have had some of its own."""
        signal.signal(signal.SIGCHLD, lambda *_: self._reap())

    def _spawn(self, descriptor: int) -> int:
        sys.stderr.flush()
        parent = os.getpid()
        pid = os.fork()
        if pid == 0:
            self._live(descriptor, parent)
        os.close(descriptor)
        self._count += 1
        self._running[self._count] = pid
        return self._count

    def _live(self, descriptor: int, parent: int) -> None:
        """The life of a child, which ends here."""
        code = 1
        try:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])
            if self._prctl is not None:
                self._prctl(DIE_WITH_PARENT, signal.SIGKILL, 0, 0, 0)
            self.link.close()
            if os.getppid() == parent:
                np.random.seed()  # noqa: NPY002  (the global generator would go on alike in every child)
                serve(Channel(socket.socket(fileno=descriptor), Request))
                code = 0
        finally:
            sys.stderr.flush()
            os._exit(code)

    def _reap(self) -> None:
        """Take the exit codes of children that have ended."""
        for number, pid in list(self._running.items()):
            found, status = os.waitpid(pid, os.WNOHANG)
            if found:
                self._running.pop(number, None)
                self._codes[number] = os.waitstatus_to_exitcode(status)

    def _end(self, number: int, seconds: float | None) -> int | None:
        ends = time.monotonic() + (seconds or 0.0)
        self._reap()
        while number in self._running and (left := ends - time.monotonic()) > 0:
            signal.sigtimedwait([signal.SIGCHLD], left)
            self._reap()
        pid = self._running.pop(number, None)
        if pid is None:
            return self._codes.pop(number, None)
        os.kill(pid, signal.SIGKILL)
        if seconds is None:
            self._running[number] = pid  # to be reaped when it is gone
            return None
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def main() -> None:
    """Serve, and end: the children follow."""
    settle()
    os.set_inheritable(CHANNEL, False)
    Zygote(socket.socket(fileno=CHANNEL)).run()
    os._exit(0)
