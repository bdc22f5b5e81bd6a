"""Attempts to outlive one's end: daemons, processes that fork faster than they are killed, death of the keeper.

All of them hold the channel: it is closed when none of them is left.
"""

import os
import select
import signal
import time
from contextlib import suppress
from typing import Any

from tests.attacks.inside.kernel import call
from tests.attacks.inside.trying import CHANNEL

Aim = dict[str, Any]
CLONE_PARENT = 0x8000
LIFE = 8.0
"""Seconds after which they end by themselves; sooner, when the other side closes the channel."""


def daemon(aim: Aim) -> str:
    """Leave a daemon behind: a session of its own, nobody's child, deaf to signals."""
    del aim
    _leave_daemon()
    return ""


def daemon_when_killed(aim: Aim) -> str:
    """Leave a daemon behind, and stay until one is killed oneself."""
    _leave_daemon()
    time.sleep(aim["stay"])
    return ""


def hydra(aim: Aim) -> str:
    """Be many processes, each of which forks and ends before anybody can list it."""
    del aim
    end = time.monotonic() + 3.0
    for _ in range(3):
        if os.fork() == 0:
            _let_go()
            while time.monotonic() < end:
                try:
                    if os.fork():
                        os._exit(0)
                except OSError:
                    pass  # no room for the next: stay
            _linger()
    time.sleep(0.2)
    return ""


def deep_folders(aim: Aim) -> str:
    """Leave folders inside one another, deeper than a path can name, and a daemon."""
    del aim
    home = os.getcwd()
    for _ in range(3000):
        os.mkdir("deep")
        os.chdir("deep")
    os.chdir("/")
    _leave_daemon()
    time.sleep(0.5)  # for whoever measures the folder to meet it
    return home


def clone_sibling(aim: Aim) -> str:
    """Leave a process behind that is not a child of this one but of the process that looks after it."""
    del aim
    if call("clone", CLONE_PARENT | signal.SIGCHLD, 0, 0, 0, 0) == 0:
        _linger()
    return ""


def kill_parent(aim: Aim) -> str:
    """Kill the process that looks after this one, and stay."""
    return _without_parent(aim, [signal.SIGKILL])


def storm_parent(aim: Aim) -> str:
    """Send every signal, many times, to the process that looks after this one, and stay."""
    harmless = [number for number in range(1, signal.NSIG) if number not in (signal.SIGKILL, signal.SIGSTOP)]
    return _without_parent(aim, [*harmless * 50, signal.SIGSTOP, signal.SIGKILL])


def _without_parent(aim: Aim, signals: "list[int]") -> str:
    parent = os.getppid()
    if parent == aim["suite"]:
        raise ValueError("the parent is the suite itself")
    if os.fork():
        _wait_for(parent)
        return ""
    for number in signals:
        with suppress(OSError):  # not allowed, or gone
            os.kill(parent, number)
    _linger()
    return ""


def _wait_for(parent: int) -> None:
    """Give the signals time to arrive."""
    end = time.monotonic() + 0.5
    while os.getppid() == parent and time.monotonic() < end:
        time.sleep(0.01)


def _leave_daemon() -> None:
    told, telling = os.pipe()
    if os.fork() == 0:
        if os.fork() == 0:
            os.write(telling, b"x")
            _linger()
        os._exit(0)
    os.read(told, 1)


def _linger() -> None:
    """Hold nothing but the channel, and end with it."""
    _let_go()
    select.select([CHANNEL], [], [], LIFE)
    os._exit(0)


def _let_go() -> None:
    """Be in a session of one's own, deaf to signals, with nothing open but the channel."""
    with suppress(OSError):  # it leads one already
        os.setsid()
    for number in range(1, signal.NSIG):
        with suppress(OSError, ValueError):  # those that nobody can ignore
            signal.signal(number, signal.SIG_IGN)
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(nothing, number)
    os.closerange(CHANNEL + 1, 256)
