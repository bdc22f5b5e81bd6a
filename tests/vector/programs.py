"""Programs that hold a batch when they end, each in its own way: `python -m tests.vector.programs NAME CONTEXT`."""

import gc
import os
import signal
import sys
import threading
from collections import deque
from contextlib import suppress
from itertools import repeat

import numpy as np

from ludus.envs.teaching import GridWorld
from ludus.errors import ResetNeeded
from ludus.vector import ProcessVectorEnv, ThreadVectorEnv


class Gate(GridWorld):
    """Action 1 says so and waits until somebody opens the gate, which is a pipe with a name."""

    def step(self, action):
        if action:
            say("at the gate")
            with open(os.environ["GATE"]) as gate:
                gate.read()
        return super().step(1)


class Stubborn(GridWorld):
    """Never ends a step, and takes no hint: in Python for action 0, else in C."""

    def step(self, action):
        say(f"at work {int(action)}")
        if action:
            deque(repeat(0), maxlen=0)
        while True:
            with suppress(BaseException):
                threading.Event().wait()


def say(words):
    os.write(1, f"{words}\n".encode())


def start(make=GridWorld, **options):
    envs = ProcessVectorEnv([make] * 4, num_workers=2, context=sys.argv[2], **options)
    say("workers " + " ".join(str(link.process.pid) for link in envs._pool.links))
    envs.reset(seed=0)
    return envs


def idle():
    first, second = start(), start()
    say("ready")
    signal.pause()
    return first, second


def busy():
    envs = start()
    say("ready")
    while True:
        envs.step(np.zeros(4, np.int64))


def stubborn():
    envs = start(Stubborn)
    envs.send(np.array([0, 0, 1, 1]))
    say("ready")
    signal.pause()


def ends():
    envs = start()
    envs.step(np.zeros(4, np.int64))
    say("ready")
    return envs


def raises():
    globals()["kept"] = start()
    say("ready")
    raise RuntimeError("enough")


def collected():
    envs = start()
    envs.send(np.zeros(4, np.int64))
    del envs
    gc.collect()
    say("ready")
    sys.stdin.read()


def interrupted():
    """Ctrl-C in the middle of a step: the batch asks for a reset, goes on, and closes."""
    envs = start(Gate)
    resume(envs)


def interrupted_threads():
    envs = ThreadVectorEnv([Gate] * 4, num_threads=2)
    say("workers")
    envs.reset(seed=0)
    resume(envs)


def resume(envs):
    try:
        envs.step(np.array([0, 0, 1, 0]))
    except KeyboardInterrupt:
        say("interrupted")
    try:
        envs.step(np.zeros(4, np.int64))
    except ResetNeeded as error:
        say(str(error))
    envs.reset(seed=0)
    say(str(envs.step(np.zeros(4, np.int64)).observation.tolist()))
    envs.close()
    say("closed")


def interrupted_at_the_end():
    """Ctrl-C in the middle of a step, and nothing but an end after it."""
    envs = start(Gate)
    try:
        envs.step(np.array([0, 0, 1, 0]))
    finally:
        envs.close(timeout=0.3)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored by what was started in the background
    globals()[sys.argv[1]]()
