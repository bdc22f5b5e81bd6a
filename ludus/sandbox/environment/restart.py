"""Restarts: what seeds the process that takes the place of another, so that one history follows from one seed."""

from ludus.seeding import derived_stream, np_random

__all__ = ["next_seed"]

STREAM = "sandbox"


def next_seed(seed: int, restarts: int) -> int:
    """The seed for the process that follows on so many others since that seed."""
    return int(derived_stream(np_random(seed)[0], f"{STREAM} {restarts}").integers(1 << 63))
