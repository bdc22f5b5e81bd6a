"""Seeds of an evaluation: derived from what is evaluated and from the episode's number, so that none can be picked."""

from hashlib import blake2b

from ludus.errors import InvalidArgument

__all__ = ["derived_seed"]

APART = "ludus evaluation 1"
"""What goes into every hash first: seeds derived for another purpose are others."""


def derived_seed(name: str, seed: int, index: int, purpose: str = "environment") -> int:
    """The seed of episode `index` of the evaluation `seed` of `name`: any 63 bits, the same everywhere.

    Whoever reports episodes 0 to 49 of an evaluation cannot have chosen them. The agent's own draws have another
    `purpose`: with one seed for both, it would draw what the environment hides.

    >>> derived_seed("CartPole-v1", 7, 0), derived_seed("CartPole-v1", 7, 1)
    (654464799480727906, 8777062648285332640)
    """
    for what, value in (("seed", seed), ("index", index)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidArgument(f"{what}: expected an integer of at least 0, got {value!r}")
    # Each part with its length: two that differ never read alike.
    parts = [f"{len(part)}:{part}" for part in (APART, name, str(seed), str(index), purpose)]
    return int.from_bytes(blake2b("".join(parts).encode(), digest_size=8).digest(), "little") >> 1
