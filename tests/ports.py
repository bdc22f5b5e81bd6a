"""Ports for programs that are told theirs before they listen."""

import random
import socket
from collections.abc import Generator
from contextlib import contextmanager

HANDED_OUT_FROM = 32_000
"""The kernel gives out higher ones to whoever asks for any, servers and clients alike."""


@contextmanager
def own_port() -> Generator[int, None, None]:
    """A port of loopback that stays free between two programs: nobody gets it by chance, and its UDP twin claims it."""
    for port in random.sample(range(HANDED_OUT_FROM - 12_000, HANDED_OUT_FROM), 1000):
        with socket.socket(type=socket.SOCK_DGRAM) as claim, socket.socket() as found:
            try:
                claim.bind(("127.0.0.1", port))
                found.bind(("127.0.0.1", port))
            except OSError:
                continue
            found.close()
            yield port
            return
    raise AssertionError(f"expected a free port below {HANDED_OUT_FROM}")
