"""The channel as an attacker has it: a descriptor, on which any bytes can be said."""

import os
import stat
import struct
import time
from contextlib import suppress
from typing import Any, NoReturn

import msgspec

from ludus.sandbox.environment.channel import MessageChannel

__all__ = ["LIFE", "OBSERVATION", "descriptor", "framed", "hang", "say", "swallow_reply", "tell", "tell_step"]

LIFE = 6.0
"""Seconds after which it ends by itself, whatever the other side does."""
OBSERVATION = struct.pack("<2f", 0.5, 0.5)
"""A valid one."""


def framed(payload: bytes) -> bytes:
    """A payload with its length before it."""
    return struct.pack(">I", len(payload)) + payload


def say(data: bytes) -> None:
    """Say bytes to the other side, all of them if it listens."""
    left = memoryview(data)
    while left:
        left = left[os.write(descriptor(), left) :]


def descriptor() -> int:
    """The channel: the first socket there is."""
    for number in range(3, 256):
        with suppress(OSError):  # not open
            if stat.S_ISSOCK(os.fstat(number).st_mode):
                return number
    raise RuntimeError("there is no channel")


def tell(message: list[Any]) -> None:
    """Say a message in the place of the reply that is due."""
    say(framed(msgspec.msgpack.encode(message)))
    swallow_reply()


def swallow_reply() -> None:
    """Have the reply that is due not be said: something else was said in its place."""
    honest = MessageChannel[object].send

    def swallow(*arguments: Any) -> None:
        del arguments
        setattr(MessageChannel, "send", honest)  # noqa: B010  (a method is not meant to be replaced, and this is no guest)

    setattr(MessageChannel, "send", swallow)  # noqa: B010


def tell_step(
    observation: Any = OBSERVATION,
    reward: Any = 0.0,
    terminated: Any = False,
    truncated: Any = False,
    info: Any = None,
) -> None:
    """Say a reply to a step, with whatever is in it."""
    tell([1, observation, reward, terminated, truncated, {} if info is None else info])


def hang() -> NoReturn:
    """Be there, and answer nothing."""
    time.sleep(LIFE)
    os._exit(0)
