"""Namespaces for what is shown without isolation: attackers, victims and judges are in them, and reach nobody else.

An attack that is known to succeed has succeeded somewhere. So a worker is started in namespaces of its own (processes,
mounts, network, System V, names; of users too where it is not root who starts it), and the whole of an attack happens
there: the victims are started, the attack is run and judgement is passed inside. The worker is the first process there,
which survives whatever is signalled to everybody, and all that is left ends with it.
"""

import atexit
import ctypes
import fcntl
import json
import os
import select
import socket
import struct
import subprocess
import sys
import threading
import traceback
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from ludus.errors import SandboxError, shorten
from ludus.sandbox.bwrap import tool
from tests.patience import PATIENCE_S

__all__ = ["Isolated", "check_isolated", "is_isolated", "isolated"]

ROOT = str(Path(__file__).resolve().parents[2])
WORK = "from tests.attacks.isolated import main; main()"
NAMESPACES = ("--pid", "--fork", "--kill-child", "--mount-proc", "--mount", "--net", "--ipc", "--uts")
OF_A_USER = ("--user", "--map-current-user", "--keep-caps")
PATIENCE = 5 * PATIENCE_S
LOOPBACK = b"lo"
ADD_ROUTE, GET_FLAGS, SET_FLAGS, UP = 0x890B, 0x8913, 0x8914, 1
"""Of the network."""

_here: list[bool] = []
"""Not empty in a worker."""


class Isolated:
    """A worker in namespaces of its own, which calls functions; one that is lost is replaced at the next call.

    >>> with Isolated() as worker:
    ...     worker.call("os:getpid")
    1
    """

    def __init__(self) -> None:
        self._process: Any = None
        self._lock = threading.Lock()

    def call(self, function: str, *arguments: Any, patience: float = PATIENCE) -> Any:
        """What `module:function` returns there; arguments and result are JSON. SandboxError with whatever it raises."""
        with self._lock:
            if self._process is None:
                self._process = _start()
            reply = self._asked([function, *arguments], patience)
        if "error" in reply:
            raise SandboxError(f"{function}: expected a value from namespaces of their own, got:\n{reply['error']}")
        return reply["value"]

    def _asked(self, words: list[Any], patience: float) -> dict[str, Any]:
        stdin, stdout = self._process.stdin, self._process.stdout
        stdin.write(json.dumps(words).encode() + b"\n")
        stdin.flush()
        line = stdout.readline() if select.select([stdout], [], [], patience)[0] else b""
        if line:
            return json.loads(line)
        self.close()
        return {"error": f"no answer within {patience:g} s, or the end of the worker"}

    def close(self) -> None:
        """End the worker and all that is in its namespaces; harmless twice."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.stdin.close()
            process.stdout.close()
            process.wait()

    def __enter__(self) -> "Isolated":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


@cache
def isolated() -> Isolated:
    """The worker of this process, which ends with it.

    >>> isolated() is isolated()
    True
    """
    worker = Isolated()
    atexit.register(worker.close)
    return worker


def is_isolated() -> bool:
    """Whether this process is a worker.

    >>> is_isolated()
    False
    """
    return bool(_here)


def check_isolated() -> None:
    """Refuse what must not be done outside of a worker."""
    if not is_isolated():
        raise SandboxError(
            "no isolation: expected namespaces of their own around an attack, got a process of the machine; "
            "call it by tests.attacks.isolated.isolated().call(…)"
        )


def _start() -> Any:
    own = () if os.geteuid() == 0 else OF_A_USER
    return subprocess.Popen(
        [tool("unshare", "util-linux"), *own, *NAMESPACES, "--", sys.executable, "-c", WORK],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=os.getcwd(),
        env={**os.environ, "PYTHONPATH": os.pathsep.join([ROOT, os.environ.get("PYTHONPATH", "")])},
        start_new_session=True,
    )


def main() -> None:
    """Call what is asked for, line by line, until nobody asks any more."""
    ctypes.CDLL(None).prctl(1, ctypes.c_ulong(9))  # PR_SET_PDEATHSIG: end with whoever started it
    questions, answers = os.fdopen(os.dup(0), "rb"), os.dup(1)
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    os.dup2(2, 1)
    _here.append(True)
    _connect_loopback()
    for line in questions:
        name, *arguments = json.loads(line)
        try:
            reply = {"value": _found(name)(*arguments)}
        except BaseException:
            reply = {"error": traceback.format_exc()}
        _reap()
        os.write(answers, json.dumps(reply).encode() + b"\n")


def _reap() -> None:
    """Let go of whoever has ended: the first process inherits all that attacks leave, and each would stay a zombie.

    Between calls nobody waits for a child; within one, this would take its end from whoever does.
    """
    with suppress(ChildProcessError):  # nobody is left
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _found(name: str) -> Any:
    module, _, function = name.partition(":")
    if not function:
        raise SandboxError(f"isolated: expected 'module:function', got {shorten(name)}")
    return getattr(import_module(module), function)


class _Route(ctypes.Structure):
    """`struct rtentry`."""

    _fields_ = (
        ("first", ctypes.c_ulong),
        ("to", ctypes.c_byte * 16),
        ("by", ctypes.c_byte * 16),
        ("mask", ctypes.c_byte * 16),
        ("flags", ctypes.c_ushort),
        ("second", ctypes.c_short),
        ("third", ctypes.c_ulong),
        ("fourth", ctypes.c_void_p),
        ("metric", ctypes.c_short),
        ("device", ctypes.c_char_p),
        ("numbers", ctypes.c_ulong * 2),
        ("last", ctypes.c_ushort),
    )


def _connect_loopback() -> None:
    """Have a loopback, and a route by it to everywhere: there is a network, and it leads nowhere."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        request = struct.pack("16sH14x", LOOPBACK, 0)
        flags = struct.unpack("16sH14x", fcntl.ioctl(one, GET_FLAGS, request))[1]
        fcntl.ioctl(one, SET_FLAGS, struct.pack("16sH14x", LOOPBACK, flags | UP))
        everywhere = (ctypes.c_byte * 16)(socket.AF_INET)
        route = _Route(to=everywhere, by=everywhere, mask=everywhere, flags=UP, device=LOOPBACK)
        if ctypes.CDLL(None, use_errno=True).ioctl(one.fileno(), ADD_ROUTE, ctypes.byref(route)) < 0:
            raise OSError(ctypes.get_errno(), "a route by the loopback")
