"""The channel as an attacker has it: a descriptor, on which any bytes can be said."""

import os
import struct
import time
from typing import Any, NoReturn

import msgspec

from ludus.sandbox.environment.channel import Channel

__all__ = ["CHANNEL", "OBSERVATION", "framed", "hang", "say", "swallow_reply", "tell", "tell_step"]

CHANNEL = 3
LIFE = 20.0
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
        left = left[os.write(CHANNEL, left) :]


def tell(message: list[Any]) -> None:
    """Say a message in the place of the reply that is due."""
    say(framed(msgspec.msgpack.encode(message)))
    swallow_reply()


def swallow_reply() -> None:
    """Have the reply that is due not be said: something else was said in its place."""
    honest = Channel.send

    def swallow(self: Channel, *arguments: Any) -> None:
        del self, arguments
        Channel.send = honest

    Channel.send = swallow


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
