"""Nonsense on the channel: bytes that are no message."""

import os
import socket
import struct
import time
from collections.abc import Callable
from typing import Any

import msgspec

from tests.attacks.hostile.channel import (
    LIFE,
    OBSERVATION,
    descriptor,
    framed,
    hang,
    say,
    swallow_reply,
    tell_step,
)

__all__ = ["NONSENSE"]

STEP = framed(msgspec.msgpack.encode([1, OBSERVATION, 0.0, False, False, {}]))
MANY = 1 << 21


def _said(data: bytes) -> Callable[[Any], None]:
    def deed(path: Any) -> None:
        del path
        say(data)
        hang()

    return deed


def _pickle(path: str) -> bytes:
    """A pickle that, once read, makes a file; written by hand, so that nothing here reads or writes pickles."""
    return b"cos\nmkdir\n(V" + path.encode() + b"\ntR."


def pickle_frame(path: str) -> None:
    """A pickle in the place of a message."""
    say(framed(_pickle(path)))
    hang()


def pickle_inside(path: str) -> None:
    """A pickle as data within a message."""
    tell_step(info={"payload": _pickle(path), "object": {"$object": "os.system"}})


def broken_off(path: str) -> None:
    """Half a message, and the end."""
    del path
    say(STEP[:-3])
    os._exit(0)


def dribbled(path: str) -> None:
    """A message of 60 MiB, one byte at a time."""
    del path
    say(struct.pack(">I", 60 << 20))
    end = time.monotonic() + LIFE
    while time.monotonic() < end:
        say(b"\x90")
        time.sleep(0.02)


def descriptors(path: str) -> None:
    """A message with open files, for the other side to keep."""
    del path
    with socket.socket(fileno=os.dup(descriptor())) as link:
        socket.send_fds(link, [STEP], [os.open(os.devnull, os.O_RDONLY) for _ in range(50)])
    swallow_reply()


def pushed(path: str) -> None:
    """A message, and without being asked megabytes more."""
    del path
    say(STEP)
    say(b"\x90" * (8 << 20))
    hang()


NONSENSE: dict[str, Callable[[Any], None]] = {
    "malformed": _said(b"\0\0\0\5\xc1\xc1\xc1\xc1\xc1"),
    "huge": _said(b"\xff\xff\xff\xff" + b"x" * 100),
    "empty": _said(b"\0\0\0\0"),
    "nested": _said(framed(b"\x91" * MANY + b"\xc0")),
    "many": _said(framed(b"\xdd" + struct.pack(">I", MANY) + b"\x90" * MANY)),
    "announced": _said(framed(b"\xdf\xff\xff\xff\xff" * 30)),
    "text": _said(b"HTTP/1.1 200 OK\r\n\r\n"),
    "twice": _said(STEP * 2),
    "other-kind": _said(framed(msgspec.msgpack.encode([4, 1]))),
    "unknown-kind": _said(framed(msgspec.msgpack.encode([99, 1, 2]))),
    "field-missing": _said(framed(msgspec.msgpack.encode([1, OBSERVATION]))),
    "truncated": _said(STEP[:-3]),
    "broken-off": broken_off,
    "dribbled": dribbled,
    "pushed": pushed,
    "descriptors": descriptors,
    "pickle-frame": pickle_frame,
    "pickle-inside": pickle_inside,
}
"""By name: what is said in the place of the reply to a step; the argument is the path that a pickle would make."""
