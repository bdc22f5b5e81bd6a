"""The process's own generators, `random` and `np.random`: set for a while, and put back."""

import random
from collections.abc import Generator
from contextlib import contextmanager

import numpy as np

from ludus.testing.equality import data_equal

__all__ = ["global_random", "global_states", "moved"]


@contextmanager
def global_random(seed: int = 0) -> Generator[None]:
    """Both global generators seeded inside the block, and afterwards as they were.

    >>> with global_random(1):
    ...     first = random.random()
    >>> with global_random(1):
    ...     first == random.random()
    True
    """
    saved = random.getstate(), np.random.get_state()  # noqa: NPY002  (the global generator is the subject here)
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002
    try:
        yield
    finally:
        random.setstate(saved[0])
        np.random.set_state(saved[1])  # noqa: NPY002


def global_states() -> dict[str, object]:
    """The state of each global generator, by the name users know it under."""
    return {"random": random.getstate(), "np.random": np.random.get_state()}  # noqa: NPY002


def moved(before: dict[str, object]) -> list[str]:
    """The global generators that were drawn from, or seeded, since `before`."""
    return [name for name, state in global_states().items() if not data_equal(state, before[name])]
