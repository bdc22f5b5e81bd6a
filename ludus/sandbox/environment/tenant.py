"""`Tenant`: a process behind a wall, as this side holds it: its channel, its measures, its end."""

import os
import socket
from abc import ABC, abstractmethod
from contextlib import suppress
from typing import Any

from ludus.errors import SandboxError
from ludus.sandbox.backend import Confined, Guarantees, Usage
from ludus.sandbox.environment.channel import Channel
from ludus.sandbox.environment.ending import Ending, ending
from ludus.sandbox.environment.interpreter import Interpreter
from ludus.sandbox.sandbox import Sandbox
from ludus.wire.failures import clean
from ludus.wire.messages import Reply

__all__ = ["ProcessTenant", "Tenant"]

PATIENCE = 2.0
"""Seconds that a process whose channel is closed may take to be gone by itself, so that its code is known."""
MOST_OUTPUT = 1 << 16
TOLD_OUTPUT = 1 << 12


class Tenant(ABC):
    """A process with a channel to it."""

    channel: Channel
    guarantees: Guarantees

    @abstractmethod
    def usage(self) -> Usage:
        """What it has used so far."""

    @abstractmethod
    def drain(self) -> None:
        """Take in what it wrote to its standard error, of which the end is kept."""

    @abstractmethod
    def end(self, limit: str | None = None) -> Ending:
        """Kill it where it is still there (at once where a `limit` was passed), and tell how it ended."""

    def kill(self) -> None:
        """End it, from whichever thread: whoever waits for its answer is told of its end, and sees to the rest."""
        with suppress(OSError):  # closed meanwhile
            self.channel.link.shutdown(socket.SHUT_RDWR)

    @abstractmethod
    def close(self) -> None:
        """Kill what is left and release everything; harmless twice."""


class ProcessTenant(Tenant):
    """A process tree of its own, started by a backend."""

    def __init__(self, sandbox: Sandbox, interpreter: Interpreter, entry: str = "main", kind: Any = Reply) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        self._output, writing = os.pipe()
        os.set_blocking(self._output, False)
        os.set_blocking(writing, False)  # what does not fit is lost: a flood neither fills memory nor blocks
        self.channel = Channel(ours, kind)
        try:
            policy = interpreter.policy(sandbox.policy)
            argv = interpreter.argv(entry)
            self.confined: Confined = sandbox.backend.start(argv, policy, stderr=writing, channel=theirs.fileno())
        except BaseException:
            self.channel.close()
            os.close(self._output)
            raise
        finally:
            theirs.close()
            os.close(writing)
        self.guarantees = self.confined.guarantees
        self._closed, self._tail = False, b""

    def usage(self) -> Usage:
        return self.confined.usage()

    def end(self, limit: str | None = None) -> Ending:
        code, reason = None, None
        try:
            code = None if limit is not None else self.confined.wait(PATIENCE)
        except SandboxError as error:  # it was never executed
            reason = str(error)
        self.confined.kill()
        self.drain()
        output = clean(self._tail.decode("utf8", "replace"), TOLD_OUTPUT)
        told = ending(limit, code, self.confined.usage(), output, reason)
        self.close()
        return told

    def kill(self) -> None:
        self.confined.kill()

    def drain(self) -> None:
        with suppress(BlockingIOError):  # nothing written since
            self._tail = (self._tail + os.read(self._output, MOST_OUTPUT))[-TOLD_OUTPUT:]

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self.channel.close()
            os.close(self._output)
            self.confined.close()
