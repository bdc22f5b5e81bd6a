"""Seeds of an evaluation: derived from what is evaluated and from the episode's number, so that none can be picked."""

from functools import lru_cache
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

from ludus.errors import InvalidArgument

__all__ = ["STEP", "U64", "derived_seed", "derived_seeds", "mixed"]

APART = "ludus evaluation 1"
"""What goes into every hash first: seeds derived for another purpose are others."""
U64 = np.uint64
STEP, MIX_1, MIX_2 = U64(0x9E3779B97F4A7C15), U64(0xBF58476D1CE4E5B9), U64(0x94D049BB133111EB)


def derived_seed(name: str, seed: int, index: int, purpose: str = "environment") -> int:
    """The seed of episode `index` of the evaluation `seed` of `name`: any 63 bits, the same everywhere.

    Whoever reports episodes 0 to 49 of an evaluation cannot have chosen them. The agent's own draws have another
    `purpose`: with one seed for both, it would draw what the environment hides.

    >>> derived_seed("CartPole-v1", 7, 0), derived_seed("CartPole-v1", 7, 1)
    (7617151418292555387, 2263518733501365908)
    """
    return int(derived_seeds(name, seed, index, 1, purpose)[0])


def derived_seeds(name: str, seed: int, first: int, count: int, purpose: str = "environment") -> npt.NDArray[np.uint64]:
    """The seeds of `count` episodes from `first` on: BLAKE2 of name, seed and purpose, then SplitMix64 by number.

    Millions of them take a moment: a result of a hundred million steps is checked against all of its seeds.

    >>> derived_seeds("CartPole-v1", 7, 0, 3)[1] == derived_seed("CartPole-v1", 7, 1)
    np.True_
    """
    for argument, value in (("seed", seed), ("index", first), ("count", count)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidArgument(f"{argument}: expected an integer of at least 0, got {value!r}")
    return mixed(np.arange(first + 1, first + count + 1, dtype=U64) * STEP + _start(name, seed, purpose)) >> U64(1)


def mixed(word: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """What SplitMix64 makes of its state, which moves on by `STEP`."""
    word = (word ^ (word >> U64(30))) * MIX_1
    word = (word ^ (word >> U64(27))) * MIX_2
    return word ^ (word >> U64(31))


@lru_cache(maxsize=64)
def _start(name: str, seed: int, purpose: str) -> np.uint64:
    # Each part with its length: two that differ never read alike.
    parts = [f"{len(part)}:{part}" for part in (APART, name, str(seed), purpose)]
    return U64(int.from_bytes(blake2b("".join(parts).encode(), digest_size=8).digest(), "little"))
