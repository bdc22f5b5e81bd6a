"""Tenants for tests: an environment served by a thread of this process, and one that says what it is told to say."""

import socket
import threading
from contextlib import suppress
from pathlib import Path

import msgspec
import numpy as np

from ludus.sandbox import Deadlines, Guarantees, Usage
from ludus.sandbox.environment import SandboxedEnv
from ludus.sandbox.environment.blueprint import Blueprint
from ludus.sandbox.environment.channel import MessageChannel
from ludus.sandbox.environment.env_process import EnvProcess
from ludus.sandbox.environment.inside.host import SandboxedHost
from ludus.sandbox.environment.inside.request_loop import serve
from ludus.sandbox.environment.process_exit import process_exit
from ludus.sandbox.environment.process_link import ProcessLink
from ludus.spaces import Box, Discrete, describe
from ludus.wire.messages import (
    PROTOCOL,
    MakeReply,
    Reply,
    Request,
)

FOLDER = Path(__file__).with_name("dwellers")
DWELLER = "odd_dwellers:Dweller"


class ThreadEnvProcess(EnvProcess):
    """Runs `live(socket)` in a thread; it is not killed, it sees its socket closed."""

    def __init__(self, live, kind=Reply):
        ours, theirs = socket.socketpair()
        self.channel = MessageChannel(ours, kind)
        self.guarantees = Guarantees(backend="thread", boundary=False)
        self.thread = threading.Thread(target=self._run, args=(live, theirs), daemon=True)
        self.thread.start()

    @staticmethod
    def _run(live, theirs):
        with theirs, suppress(SystemExit, OSError):
            live(theirs)

    def usage(self):
        return Usage()

    def drain(self):
        pass

    def end(self, limit=None):
        self.close()
        return process_exit(limit, None, Usage())

    def close(self):
        self.channel.close()


def served(make):
    """What serves the environment that `make` makes."""
    return lambda link: serve(MessageChannel(link, Request), SandboxedHost(make))


def neighbour(make, **deadlines):
    """An environment as if it were sandboxed, in a thread."""
    request = Blueprint.of("Neighbour", {}).request()
    return SandboxedEnv(
        ProcessLink(lambda: ThreadEnvProcess(served(lambda _: make())), request, Deadlines(**deadlines))
    )


def packed(message) -> bytes:
    data = message if isinstance(message, bytes) else msgspec.msgpack.encode(message)
    return len(data).to_bytes(4, "big") + data


SPACES = (describe(Box(-1, 1, (2,), np.float32)), describe(Discrete(2)))
MADE = MakeReply(PROTOCOL, *SPACES, {"render_modes": []}, None, "Liar")


def saying(*frames):
    """What answers each request with the next of these frames, and then closes."""

    def live(link):
        for frame in frames:
            if not link.recv(1 << 16):
                return
            link.sendall(frame)

    return live


def liar(*frames, made=MADE, **deadlines):
    """An environment whose process says `made` and then these frames, bytes as they are."""
    request = Blueprint.of("Liar", {}).request()
    everything = [packed(made), *(frame if isinstance(frame, bytes) else packed(frame) for frame in frames)]
    return SandboxedEnv(ProcessLink(lambda: ThreadEnvProcess(saying(*everything)), request, Deadlines(**deadlines)))
