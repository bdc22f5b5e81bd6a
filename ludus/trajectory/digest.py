"""Digests of what was seen: one number for each row, quick enough for compiled batches.

A row is taken as groups of 64 words, and a word as two halves of 32 bits. To each half a key of its place is added,
modulo 2**32; the sum of the products of the halves (NH, as in UMAC) is the number of the group, and the number of the
row is the polynomial of its groups in an odd constant, modulo 2**64. It shows that a replay has not seen the same; it
is no signature, since who forges a file can compute it too. (BLAKE2 over every observation would take half as long as
the step of a compiled batch; it is taken over the numbers, once for each chunk.)
"""

from collections.abc import Iterable
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

from ludus.spaces.array_space import Array

__all__ = ["RowDigest", "chunk_digest", "digest_keys"]

U32, U64 = np.uint32, np.uint64
GROUP = 64
FACTOR, MIX_1, MIX_2 = U64(0x9E3779B97F4A7C15), U64(0xBF58476D1CE4E5B9), U64(0x94D049BB133111EB)
MASK = (1 << 64) - 1
Words = npt.NDArray[np.uint64]


class RowDigest:
    """Computes the numbers of rows.

    >>> digest = RowDigest()
    >>> digest.of([np.zeros(3)]) == digest.of([np.zeros(3)]) != digest.of([np.array([0.0, 1.0, 0.0])])
    True
    """

    def __init__(self) -> None:
        self._halves = digest_keys().view(U32)
        self._powers: Words = np.ones(1, U64)

    def of(self, parts: Iterable[Array | bytes]) -> int:
        """The number of a row that consists of these arrays and bytes, in this order; each begins a group."""
        total = 0
        for part in parts:
            if isinstance(part, bytes):
                data: Array = np.frombuffer(blake2b(part, digest_size=8).digest(), U64)
            else:
                data = part if part.flags.c_contiguous else np.ascontiguousarray(part)
            if data.nbytes & 7:
                data = np.frombuffer(data.tobytes() + bytes(-data.nbytes % 8), U64)
            total = self._added(total, data.reshape(-1).view(U32))
        return total

    def _added(self, total: int, halves: Array) -> int:
        whole = len(halves) // (2 * GROUP)
        if whole:
            sums = halves[: whole * 2 * GROUP].reshape(whole, 2 * GROUP) + self._halves
            groups = np.add.reduce(np.multiply(sums[:, ::2], sums[:, 1::2], dtype=U64), axis=1)
            powers = self._powers_of(whole)
            total = total * int(powers[-1]) * int(FACTOR) + int(np.add.reduce(groups * powers[::-1]))
        rest = halves[whole * 2 * GROUP :]
        if len(rest):
            sums = rest + self._halves[: len(rest)]
            total = total * int(FACTOR) + int(np.add.reduce(np.multiply(sums[::2], sums[1::2], dtype=U64)))
        return total & MASK

    def _powers_of(self, count: int) -> Words:
        """The constant to the powers from 0 on."""
        if len(self._powers) < count:
            self._powers = np.multiply.accumulate(np.r_[U64(1), np.full(2 * count, FACTOR)])
        return self._powers[:count]


def digest_keys() -> Words:
    """The keys of a group: SplitMix64 from 0, whose formula, unlike a library's generator, never changes."""
    word: Words = np.arange(1, GROUP + 1, dtype=U64) * FACTOR
    word = (word ^ (word >> U64(30))) * MIX_1
    word = (word ^ (word >> U64(27))) * MIX_2
    return word ^ (word >> U64(31))


def chunk_digest(numbers: Words) -> str:
    """BLAKE2 over the numbers of a chunk's rows, as text."""
    return blake2b(numbers.astype("<u8").tobytes(), digest_size=16).hexdigest()
