"""`ForkServer`: many short-lived environments of one kind, each a fork of a sandboxed process that has imported it."""

import os
import socket
import weakref
from collections.abc import Mapping, Sequence
from functools import partial
from threading import RLock
from typing import Self, TypeVar

from ludus.core import EnvSpec
from ludus.errors import ChannelError, EnvError, SandboxError
from ludus.sandbox.backend import Guarantees, Usage
from ludus.sandbox.deadlines import Deadlines
from ludus.sandbox.environment.blueprint import Blueprint
from ludus.sandbox.environment.channel import ChannelClosed, DeadlinePassed, MessageChannel
from ludus.sandbox.environment.env_process import EnvProcess, SpawnedEnvProcess
from ludus.sandbox.environment.interpreter import Interpreter, StrPath
from ludus.sandbox.environment.isolation import sandbox_for
from ludus.sandbox.environment.process_exit import ProcessExit, process_exit
from ludus.sandbox.environment.process_link import ProcessLink, release
from ludus.sandbox.environment.sandboxed_env import SandboxedEnv
from ludus.sandbox.environment.spawn_messages import EndReply, EndRequest, ServerReply, SpawnReply, SpawnRequest
from ludus.sandbox.sandbox import Sandbox
from ludus.spaces import Space
from ludus.wire.failures import read_failure
from ludus.wire.messages import DoneReply, FailedReply, Reply

__all__ = ["ForkServer"]

ReplyT = TypeVar("ReplyT")
EXIT_TIMEOUT_S = 1.0
"""Seconds that a child whose channel is closed may take to end by itself, so that its code is known."""


class ForkServer:
    """A sandboxed process that has made an environment once, and forks a child for each that is spawned.

    The children share one sandbox: its limits count for all of them together, and what the sandbox does not keep apart
    (signals, and whatever files it lets be written) one child may use against another. `isolate` gives each its own.
    Threads may spawn and close at once. Where nobody may send signals, as under Landlock before Linux 6.12, a child
    that misses a deadline is ended with the whole server, and the others begin anew at `reset`.

    >>> with ForkServer("CartPole-v1", sandbox="process") as server:
    ...     with server.spawn() as env:
    ...         observation, info = env.reset(seed=0)
    ...         env.step(1).reward
    1.0
    """

    def __init__(
        self,
        target: str | EnvSpec,
        arguments: Mapping[str, object] | None = None,
        sandbox: Sandbox | str = "sandbox",
        *,
        deadline: Deadlines | float | None = None,
        modules: Sequence[str] = (),
        paths: Sequence[StrPath] = (),
        spaces: Sequence[type[Space[object]]] = (),
        models: Sequence[type] = (),
    ) -> None:
        self._blueprint, self._sandbox = Blueprint.of(target, arguments, modules), sandbox_for(sandbox)
        self._interpreter = Interpreter(self._blueprint.needed, paths)
        self.deadlines = self._sandbox.deadlines if deadline is None else Deadlines.of(deadline)
        self._spec = target if isinstance(target, EnvSpec) else None
        self._spaces, self._models = tuple(spaces), tuple(models)
        self._closed = False
        self._lock = RLock()
        self._held: list[EnvProcess] = []
        weakref.finalize(self, release, self._held, os.getpid())
        self._zygote = self._start()

    def spawn(self, spec: EnvSpec | None = None, *, memory: int | None = None) -> SandboxedEnv:
        """A new environment, in a child of its own; a child that ends is replaced by another at `reset`.

        `spec` is another one of the same imports, as with a time limit of its own. `memory` is how many bytes a child
        may take beyond what it shares with its server.
        """
        blueprint = self._blueprint if spec is None else Blueprint.of(spec, None)
        link = ProcessLink(partial(self._fork, memory), blueprint.request(), self.deadlines)
        return SandboxedEnv(link, spec or self._spec, known=self._spaces, models=self._models)

    def _start(self) -> SpawnedEnvProcess:
        zygote = SpawnedEnvProcess(self._sandbox, self._interpreter, "zygote", ServerReply)
        try:
            reply = zygote.channel.exchange(self._blueprint.request(), self.deadlines.start)
        except (ChannelClosed, DeadlinePassed) as gone:
            limit = "deadline" if isinstance(gone, DeadlinePassed) else None
            raise zygote.end(limit).error("fork server, starting", "") from None
        except BaseException:
            zygote.close()
            raise
        if type(reply) is DoneReply:
            self._held[:] = [zygote]
            return zygote
        zygote.close()
        if type(reply) is FailedReply:
            raise read_failure(reply, "fork server", "in the sandboxed process", sandboxed=True)
        raise ChannelError(f"channel: expected a DoneReply, got a {type(reply).__name__}")

    def _fork(self, memory: int | None = None) -> EnvProcess:
        """A new child; of a new server, where the last one is gone."""
        with self._lock:
            return self._forked(SpawnRequest(memory))

    def _forked(self, request: SpawnRequest) -> EnvProcess:
        self._check_open()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        with theirs:
            try:
                try:
                    number = self._ask(request, SpawnReply, theirs).number
                except (ChannelClosed, DeadlinePassed):
                    self._zygote.close()
                    self._check_open()  # it may have been closed by another thread, and that be its end
                    self._zygote = self._start()
                    number = self._ask(request, SpawnReply, theirs).number
            except (ChannelClosed, DeadlinePassed) as gone:
                ours.close()
                raise SandboxError(f"fork server: expected a child, got none: {gone or 'no answer in time'}") from None
            except BaseException:
                ours.close()
                raise
        return ForkedEnvProcess(self, self._zygote, number, ours)

    def _check_open(self) -> None:
        if self._closed:
            raise SandboxError("fork server: expected an open server, got one that was closed; make a new one")

    def _ask(self, request: object, kind: type[ReplyT], passed: socket.socket | None = None) -> ReplyT:
        """A reply of the server; what is no reply ends it."""
        channel = self._zygote.channel
        descriptors = [] if passed is None else [passed.fileno()]
        try:
            reply = channel.exchange(request, self.deadlines.other, descriptors)
        except ChannelError:
            self._zygote.close()
            raise
        if type(reply) is kind:
            return reply
        if type(reply) is FailedReply:
            raise read_failure(reply, "fork server", "in the sandboxed process", sandboxed=True)
        self._zygote.close()
        raise ChannelError(f"channel: expected a {kind.__name__}, got a {type(reply).__name__}")

    def end(self, zygote: SpawnedEnvProcess, number: int, seconds: float | None) -> int | None:
        """Have a child of a server killed, unless it ends within so many seconds; its code, where it is known."""
        try:
            with self._lock:
                if zygote is not self._zygote or self._closed:
                    return None
                return self._ask(EndRequest(number, seconds), EndReply).code
        except (ChannelClosed, DeadlinePassed, SandboxError, EnvError):
            zygote.close()  # one that does not answer, or cannot do it, is killed, and its children with it
            return None

    @property
    def guarantees(self) -> Guarantees:
        """What is in force for all children together."""
        return self._zygote.guarantees

    def usage(self) -> Usage:
        """What the server and its children have used so far."""
        return self._zygote.usage()

    def close(self) -> None:
        """Kill the server and every child; harmless twice."""
        self._closed = True
        self._held.clear()
        self._zygote.kill()  # so that a thread that waits for its answer lets go of the lock
        with self._lock:
            self._zygote.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class ForkedEnvProcess(EnvProcess):
    """A child of a fork server."""

    def __init__(self, server: ForkServer, zygote: SpawnedEnvProcess, number: int, link: socket.socket) -> None:
        self._server, self._zygote, self._number = server, zygote, number
        self.channel, self.guarantees = MessageChannel(link, Reply), zygote.guarantees
        self._closed = False

    def usage(self) -> Usage:
        return self._zygote.usage()

    def drain(self) -> None:
        self._zygote.drain()

    def end(self, limit: str | None = None) -> ProcessExit:
        code = self._server.end(self._zygote, self._number, 0.0 if limit is not None else EXIT_TIMEOUT_S)
        self._closed = True
        self.channel.close()
        return process_exit(limit, None if limit is not None else code, self.usage())

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self.channel.close()
            self._server.end(self._zygote, self._number, None)
