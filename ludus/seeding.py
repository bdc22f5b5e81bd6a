"""Seeds and random streams: one integer seed gives one PCG64 stream, the same everywhere.

The law: equal seeds give equal histories, and no reader of randomness disturbs another. An environment draws from
`np_random`; wrappers and rendering draw from streams *derived* from its seed: adding one never shifts the dynamics.
"""

from __future__ import annotations

from binascii import crc32
from collections.abc import Sequence
from copy import deepcopy
from operator import index
from typing import TypeGuard

import numpy as np
import numpy.typing as npt

from ludus.errors import InvalidSeed, shorten

__all__ = ["as_seed", "copy_generator", "derived_stream", "lane_seeds", "np_random"]

Seed = int | np.integer


BOOLEANS: tuple[type[object], ...] = (bool, np.bool_)


def as_seed(seed: object, name: str = "seed") -> int:
    """`seed` as a Python integer; NumPy integers are accepted, everything that cannot be honoured is refused.

    >>> as_seed(np.int64(3))
    3
    >>> as_seed(-1)
    Traceback (most recent call last):
    ludus.errors.InvalidSeed: seed: expected an integer of at least 0, got -1; None takes one from the system
    """
    try:
        # bool is an int to Python, but `seed=True` is always a mistake.
        value = index(seed) if not isinstance(seed, BOOLEANS) else None  # pyright: ignore[reportArgumentType]
    except TypeError:
        value = None
    if value is None or value < 0:
        raise InvalidSeed(
            f"{name}: expected an integer of at least 0, got {shorten(seed)}; None takes one from the system"
        )
    return value


def np_random(seed: Seed | None = None) -> tuple[np.random.Generator, int]:
    """A generator for `seed` and the seed itself; `None` takes 128 bits from the operating system.

    >>> rng, seed = np_random(7)
    >>> seed, rng.integers(100)
    (7, np.int64(94))
    """
    sequence = np.random.SeedSequence(None if seed is None else as_seed(seed))
    entropy = sequence.entropy
    return np.random.Generator(np.random.PCG64(sequence)), int(entropy)  # pyright: ignore[reportArgumentType]


def lane_seeds(seed: Seed | Sequence[Seed | None] | None, num_envs: int) -> list[int | None]:
    """The seed of each lane of a batch: lane `i` of seed `s` gets `s + i`; a sequence is taken as it is.

    >>> lane_seeds(10, 3)
    [10, 11, 12]
    >>> lane_seeds([1, None, 5], 3)
    [1, None, 5]
    """
    if seed is None:
        return [None] * num_envs
    if (isinstance(seed, np.ndarray) and seed.ndim) or (
        isinstance(seed, Sequence) and not isinstance(seed, str | bytes)
    ):
        if len(seed) != num_envs:
            raise InvalidSeed(f"seed: expected one seed for each of {num_envs} lanes, got {len(seed)}")
        if _is_array(seed) and seed.dtype.kind in "iu" and seed.min(initial=0) >= 0:
            return seed.tolist()  # thousands of lanes that are begun one after another, each with its own
        return [None if one is None else as_seed(one, f"seed[{lane}]") for lane, one in enumerate(seed)]
    first = as_seed(seed)
    return [first + lane for lane in range(num_envs)]


def _is_array(seed: object) -> TypeGuard[npt.NDArray[np.generic]]:
    return isinstance(seed, np.ndarray)


def copy_generator(generator: np.random.Generator) -> np.random.Generator:
    """A generator that will draw the same numbers, and derive the same streams; five times faster than `deepcopy`.

    >>> rng, _ = np_random(1)
    >>> copy_generator(rng).random() == rng.random()
    True
    """
    bits, sequence = generator.bit_generator, generator.bit_generator.seed_seq
    if type(bits) is not np.random.PCG64 or not isinstance(sequence, np.random.SeedSequence):
        return deepcopy(generator)
    copied = np.random.PCG64(sequence)
    copied.state = bits.state
    return np.random.Generator(copied)


def derived_stream(generator: np.random.Generator, name: str) -> np.random.Generator:
    """An independent stream named `name` that depends only on how `generator` was seeded, not on what was drawn since.

    >>> rng, _ = np_random(1)
    >>> before = derived_stream(rng, "render").random()
    >>> _ = rng.random(100)
    >>> derived_stream(rng, "render").random() == before
    True
    """
    parent: object = generator.bit_generator.seed_seq
    if not isinstance(parent, np.random.SeedSequence):
        raise InvalidSeed(
            f"stream {name!r}: expected a generator seeded through SeedSequence, got {shorten(generator)}; "
            "use numpy.random.default_rng(seed)"
        )
    key = (*parent.spawn_key, crc32(name.encode()))
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(parent.entropy, spawn_key=key)))
