"""`AgentLink`: an agent inside a sandbox, and calls to it, one at a time."""

import socket
import subprocess
import time

from ludus.errors import ChannelError, SandboxError, shorten
from ludus.sandbox.backend import SandboxedProcess
from ludus.sandbox.session.channel import SessionChannel
from ludus.sandbox.session.launch import Launcher, command, modules
from ludus.sandbox.session.reply import Alive, Lost, Output, Ready, Reply

__all__ = ["SILENCE_TIMEOUT_S", "Gathered", "AgentLink"]

START_TIMEOUT_S = 30.0
"""Seconds in which an agent must be there."""
SILENCE_TIMEOUT_S = 30.0
"""Seconds without a sign of life after which an agent is given up: it tells every two seconds that it lives."""
MAX_STDERR_BYTES = 4096


class Gathered:
    """Output of a call: of each stream the beginning and the end, together at most `limit` bytes."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.begins = {1: bytearray(), 2: bytearray()}
        self.ends = {1: bytearray(), 2: bytearray()}

    def take(self, output: Output, data: bytes) -> None:
        """More of a stream."""
        (self.ends if output.end else self.begins)[output.stream].extend(data)
        size = len(self.begins[output.stream]) + len(self.ends[output.stream])
        if size > self.limit:
            raise ChannelError(f"session: expected at most {self.limit} bytes of output from inside, got {size}")

    def stream(self, number: int, dropped: int = 0) -> bytes:
        """All of a stream that was kept, with a line where bytes are missing."""
        gap = b"\n[%d bytes dropped]\n" % dropped if dropped else b""
        return bytes(self.begins[number]) + gap + bytes(self.ends[number])


class AgentLink:
    """Starts the agent; ChannelError from a call means that it is lost."""

    def __init__(self, sandbox: Launcher, shell: str) -> None:
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                self.process: SandboxedProcess = sandbox.start(
                    command(shell), stderr=subprocess.PIPE, channel=theirs.fileno()
                )
        except BaseException:
            ours.close()
            raise
        self.channel = SessionChannel(ours, self.process)
        self._calls = 0
        try:
            self.ready = self._handshake()
        except BaseException:
            self.close()
            raise

    def _handshake(self) -> Ready:
        try:
            self.channel.send_raw(modules(), seconds=START_TIMEOUT_S)
            reply, _ = self.channel.receive(time.monotonic() + START_TIMEOUT_S)
        except ChannelError as error:
            raise SandboxError(
                f"session: expected its agent to start in the sandbox, got: {self._why(error)}"
            ) from None
        if not isinstance(reply, Ready):
            raise ChannelError(f"session: expected its agent to be ready, got {shorten(reply)}")
        return reply

    def _why(self, error: ChannelError) -> str:
        """What the process said on its stderr, where it said anything."""
        self.process.kill()
        stderr = self.process.stderr.read1(MAX_STDERR_BYTES).decode("utf8", "replace").strip()
        return shorten(stderr, 400) if stderr else str(error)

    def call(
        self,
        do: str,
        data: bytes = b"",
        /,
        *,
        seconds: float = SILENCE_TIMEOUT_S,
        output: Gathered | None = None,
        **fields: object,
    ) -> tuple[Reply, bytes]:
        """Ask, and gather output until the answer comes; `seconds` may be infinite, silence may not."""
        self._calls += 1
        begun = time.monotonic()
        self.channel.send({"do": do, "call": self._calls, **fields}, data, seconds=SILENCE_TIMEOUT_S)
        while True:
            reply, more = self.channel.receive(min(begun + seconds, time.monotonic() + SILENCE_TIMEOUT_S))
            if reply.call != self._calls or isinstance(reply, Ready):
                raise ChannelError(f"session: expected an answer to call {self._calls}, got {shorten(reply)}")
            if isinstance(reply, Lost):
                raise ChannelError(f"session: its agent gave up: {reply.reason}")
            if isinstance(reply, Output) and output is not None:
                output.take(reply, more)
            elif not isinstance(reply, Alive):
                return reply, more

    def interrupt(self) -> None:
        """Have the running command interrupted; called in any thread."""
        self.channel.send({"do": "interrupt"}, seconds=SILENCE_TIMEOUT_S)

    def close(self) -> None:
        """Kill everything inside; a call in another thread ends."""
        try:
            self.process.close()
        finally:
            self.channel.close()
