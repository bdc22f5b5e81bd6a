"""An environment without any isolation: a child process and a pipe of pickles, as a careless program would have it."""

import os
import signal
import socket
import struct
import subprocess
import sys
from multiprocessing.connection import Connection
from typing import Any

import msgspec
import numpy as np

from ludus.spaces import Box
from tests.attacks.isolated import ROOT, check_isolated
from tests.attacks.playing import IMPORTED, MARK, Watch, play_moment, play_step

HOSTILE = "tests.attacks.hostile.environment"
CHILD = f"""
import sys
from multiprocessing.connection import Connection
from {HOSTILE} import Hostile

link, env = Connection(3), None
while True:
    name, *arguments = link.recv()
    if name == "make":
        env = Hostile(*arguments)
        link.send(env.observation_space)
    elif name == "reset":
        link.send(env.reset(seed=0))
    elif name == "step":
        link.send(tuple(env.step(*arguments)))
    else:
        link.send(env.close())
        sys.exit()
"""
PATIENCE = 0.4
"""Seconds after which a program that waits for ever is taken to wait for ever."""


class Hung(Exception):
    """The child did not answer, and whoever asked it would still wait."""


class NaiveEnv:
    """Asks, and believes every answer."""

    observation_space = Box(0, 1, (2,), np.float32)

    def __init__(self, watch: Watch, deed: str = "") -> None:
        check_isolated()
        ours, theirs = socket.socketpair()
        command = f"import os; os.dup2({theirs.fileno()}, 3)\n{IMPORTED.get(deed, '')}{CHILD}"
        with theirs:
            self.process = subprocess.Popen(
                ["/bin/sh", "-c", '"$@"; exit $?', "sh", sys.executable, "-c", command],
                env={MARK: watch.mark, "PATH": "/usr/bin:/bin", "PYTHONPATH": ROOT},
                pass_fds=[theirs.fileno()],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("@ll", 0, int(PATIENCE * 1e6)))
        self.link = Connection(ours.detach())
        self.make = deed, watch.path
        self.made = False

    def ask(self, *words: Any, patience: float = PATIENCE) -> Any:
        self.link.send(words)
        if not self.link.poll(patience):
            raise Hung
        return self.link.recv()

    def reset(self, *, seed: int) -> Any:
        if not self.made:
            self.ask("make", *self.make, patience=2.0)
            self.made = True
        return self.ask("reset")

    def step(self, action: int) -> Any:
        return self.ask("step", action)

    def close(self) -> None:
        """Ask the child to close and to end, and believe that it did."""
        self.ask("close")

    def end(self) -> None:
        """End the child all the same."""
        self.link.close()
        os.killpg(self.process.pid, signal.SIGKILL)
        for stream in (self.process.stdout, self.process.stderr):
            stream.close()
        self.process.wait()


def believe_step(deed: str) -> Any:
    """The account of a hostile step, as data."""
    with Watch(0.1) as watch:
        env = NaiveEnv(watch)
        try:
            return msgspec.to_builtins(play_step(env, deed, watch))
        finally:
            env.end()


def believe_moment(deed: str) -> Any:
    """The account of a hostile moment, as data."""
    made: list[NaiveEnv] = []

    def make(watch: Watch, deed: str, deadlines: object) -> NaiveEnv:
        made.append(NaiveEnv(watch, deed))
        return made[0]

    try:
        return msgspec.to_builtins(play_moment(deed, make, 0.1))
    finally:
        made[0].end()
