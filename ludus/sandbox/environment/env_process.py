"""`EnvProcess`: a process in a sandbox, as this side holds it: its channel, its measures, its end."""

import os
import socket
from abc import ABC, abstractmethod
from contextlib import suppress
from threading import Lock

from ludus.errors import SandboxError
from ludus.sandbox.backend import Guarantees, SandboxedProcess, Usage
from ludus.sandbox.environment.channel import MessageChannel
from ludus.sandbox.environment.interpreter import Interpreter
from ludus.sandbox.environment.process_exit import ProcessExit, process_exit
from ludus.sandbox.environment.spawn_messages import ServerReply
from ludus.sandbox.sandbox import Sandbox
from ludus.wire.failures import clean
from ludus.wire.messages import Reply

__all__ = ["SpawnedEnvProcess", "EnvProcess"]

EXIT_TIMEOUT_S = 2.0
"""Seconds that a process whose channel is closed may take to be gone by itself, so that its code is known."""
OUTPUT_READ_BYTES = 1 << 16
MAX_REPORTED_OUTPUT_BYTES = 1 << 12


class EnvProcess(ABC):
    """A process with a channel to it."""

    channel: MessageChannel[Reply | ServerReply]
    guarantees: Guarantees

    @abstractmethod
    def usage(self) -> Usage:
        """What it has used so far."""

    @abstractmethod
    def drain(self) -> None:
        """Take in what it wrote to its standard error, of which the end is kept."""

    @abstractmethod
    def end(self, limit: str | None = None) -> ProcessExit:
        """Kill it where it is still there (at once where a `limit` was passed), and tell how it ended."""

    def kill(self) -> None:
        """End it, from whichever thread: the call that waits for its answer hears of its end, and sees to the rest."""
        self.channel.hang_up()

    @abstractmethod
    def close(self) -> None:
        """Kill what is left and release everything; harmless twice."""


class SpawnedEnvProcess(EnvProcess):
    """A process tree of its own, started by a backend."""

    def __init__(self, sandbox: Sandbox, interpreter: Interpreter, entry: str = "main", kind: object = Reply) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        self._output, writing = os.pipe()
        os.set_blocking(self._output, False)
        os.set_blocking(writing, False)  # what does not fit is lost: a flood neither fills memory nor blocks
        self.channel = MessageChannel(ours, kind)
        try:
            policy = interpreter.policy(sandbox.policy)
            argv = interpreter.argv(entry)
            self.process: SandboxedProcess = sandbox.backend.start(
                argv, policy, stderr=writing, channel=theirs.fileno()
            )
        except BaseException:
            self.channel.close()
            os.close(self._output)
            raise
        finally:
            theirs.close()
            os.close(writing)
        self.guarantees = self.process.guarantees
        self._closed, self._tail = False, b""
        self._output_lock = Lock()
        """A fork server's is drained by the thread of each child: a number that is closed may be another file's."""

    def usage(self) -> Usage:
        return self.process.usage()

    def end(self, limit: str | None = None) -> ProcessExit:
        code, reason = None, None
        try:
            code = None if limit is not None else self.process.wait(EXIT_TIMEOUT_S)
        except SandboxError as error:  # it was never executed
            reason = str(error)
        self.process.kill()
        self.drain()
        output = clean(self._tail.decode("utf8", "replace"), MAX_REPORTED_OUTPUT_BYTES)
        ending = process_exit(limit, code, self.process.usage(), output, reason)
        self.close()
        return ending

    def kill(self) -> None:
        self.process.kill()

    def drain(self) -> None:
        with self._output_lock, suppress(BlockingIOError):  # nothing written since
            if not self._closed:
                self._tail = (self._tail + os.read(self._output, OUTPUT_READ_BYTES))[-MAX_REPORTED_OUTPUT_BYTES:]

    def close(self) -> None:
        with self._output_lock:
            if self._closed:
                return
            self._closed = True
            os.close(self._output)
        self.channel.close()
        self.process.close()
