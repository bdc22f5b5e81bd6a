"""Seeding many streams at once: NumPy's `SeedSequence` and PCG64's start, over arrays of lanes."""

import os
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ludus.kernels.stream import HIGH, WORDS, Words, write_stream

__all__ = ["fresh_entropy", "seeded_words"]

U32, U64 = np.uint32, np.uint64
Row = npt.NDArray[np.uint32]
# The constants of SeedSequence, and PCG64's multiplier by halves.
INIT_A, MULT_A, INIT_B, MULT_B = 0x43B0D7E5, 0x931E8875, 0x8B51F9DD, 0x58F38DED
MIX_LEFT, MIX_RIGHT = U32(0xCA01F9DD), U32(0x4973F715)
POOL, SHIFT, MASK = 4, U32(16), 0xFFFFFFFF
MULTIPLIER = 0x2360ED051FC65DA4, 0x4385DF649FCCF645
BYTES = 16
MAX_SEED_BITS = 128
"""Bits of a seed that the pool takes in one pass; longer ones are left to NumPy."""


def fresh_entropy(count: int) -> list[int]:
    """As many seeds of 128 bits from the operating system."""
    drawn = os.urandom(BYTES * count)
    return [int.from_bytes(drawn[at : at + BYTES], "little") for at in range(0, len(drawn), BYTES)]


def seeded_words(seeds: Sequence[int] | npt.NDArray[np.uint64]) -> Words:
    """The row of a stream for each seed, as `numpy.random.PCG64(seed)` starts.

    >>> from ludus.kernels.stream import generator_of
    >>> rows = seeded_words([7, 2**40])
    >>> generator_of(rows, 1).random() == np.random.default_rng(2**40).random()
    True
    """
    rows = np.zeros((len(seeds), WORDS), dtype=U64)
    if isinstance(seeds, np.ndarray):  # of 64 bits, by the million
        halves = np.ascontiguousarray(seeds, U64)
        low, high = (halves & U64(MASK)).astype(U32), (halves >> U64(32)).astype(U32)
        zero = np.zeros_like(low)
        rows[:, : HIGH + 4] = _start(_pools([low, high, zero, zero]))
        return rows
    short = np.array([seed.bit_length() <= MAX_SEED_BITS for seed in seeds], dtype=np.bool_)
    if short.any():
        entropy = _entropy([seed for seed in seeds if seed.bit_length() <= MAX_SEED_BITS])
        rows[short, : HIGH + 4] = _start(_pools(entropy))
    for lane in np.flatnonzero(~short):
        write_stream(rows, int(lane), np.random.PCG64(seeds[int(lane)]))
    return rows


def _entropy(seeds: Sequence[int]) -> list[Row]:
    """The four words of 32 bits of each seed; a missing word counts as 0, as the pool takes it."""
    if max(seeds) <= MASK:
        low = np.array(seeds, dtype=U32)
        zero = np.zeros_like(low)
        return [low, zero, zero, zero]
    packed = b"".join(seed.to_bytes(BYTES, "little") for seed in seeds)
    words = np.frombuffer(packed, dtype="<u4").reshape(len(seeds), POOL)
    return [np.ascontiguousarray(words[:, place]).astype(U32) for place in range(POOL)]


class _Hash:
    """SeedSequence's hash, whose constant moves on with every word."""

    def __init__(self, constant: int, multiplier: int) -> None:
        self.constant, self.multiplier = constant, multiplier

    def __call__(self, value: Row) -> Row:
        value = value ^ U32(self.constant)
        self.constant = self.constant * self.multiplier & MASK
        value = value * U32(self.constant)
        return value ^ (value >> SHIFT)


def _mixed(x: Row, y: Row) -> Row:
    value = x * MIX_LEFT - y * MIX_RIGHT
    return value ^ (value >> SHIFT)


def _pools(entropy: list[Row]) -> list[Row]:
    """The pool of each seed, and from it eight words of state."""
    hashed = _Hash(INIT_A, MULT_A)
    pool = [hashed(word) for word in entropy]
    for source in range(POOL):
        for target in range(POOL):
            if source != target:
                pool[target] = _mixed(pool[target], hashed(pool[source]))
    drawn = _Hash(INIT_B, MULT_B)
    return [drawn(pool[place % POOL]) for place in range(2 * POOL)]


def _start(drawn: list[Row]) -> Words:
    """State and increment of PCG64 after its first two steps, by halves of 64 bits."""
    halves = [drawn[2 * place].astype(U64) | (drawn[2 * place + 1].astype(U64) << U64(32)) for place in range(4)]
    state_high, state_low, seq_high, seq_low = halves
    inc_high = (seq_high << U64(1)) | (seq_low >> U64(63))
    inc_low = (seq_low << U64(1)) | U64(1)
    # From 0, one step leaves the increment; then the seed's state is added, and one more step follows.
    high, low = _added(inc_high, inc_low, state_high, state_low)
    high, low = _added(*_multiplied(high, low), inc_high, inc_low)
    return np.stack([high, low, inc_high, inc_low], axis=1)


def _added(a_high: Words, a_low: Words, b_high: Words, b_low: Words) -> tuple[Words, Words]:
    low = a_low + b_low
    return a_high + b_high + (low < a_low).astype(U64), low


def _multiplied(high: Words, low: Words) -> tuple[Words, Words]:
    """Times PCG64's multiplier, modulo 2**128."""
    by_high, by_low = U64(MULTIPLIER[0]), U64(MULTIPLIER[1])
    half, mask = U64(32), U64(MASK)
    a_low, a_high, b_low, b_high = low & mask, low >> half, by_low & mask, by_low >> half
    cross = a_high * b_low
    middle = (a_low * b_low >> half) + (cross & mask) + a_low * b_high
    carry = a_high * b_high + (cross >> half) + (middle >> half)
    return carry + high * by_low + low * by_high, low * by_low
