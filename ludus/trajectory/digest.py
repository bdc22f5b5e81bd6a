"""Digests of what was seen: one number for each row, quick enough for compiled batches.

A row's number is the sum of its 64-bit words, each times its own odd constant, modulo 2**64: two rows that differ in
anything have different numbers but for one chance in 2**63. It shows that a replay has not seen the same; it is no
signature, since who forges a file can compute it too. (BLAKE2 over every observation would take as long as half the
step of a compiled batch; it is taken over the numbers, once for each chunk.)
"""

from collections.abc import Iterable
from hashlib import blake2b
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["RowDigest", "chunk_digest"]

U64 = np.uint64
GOLDEN, MIX_1, MIX_2 = U64(0x9E3779B97F4A7C15), U64(0xBF58476D1CE4E5B9), U64(0x94D049BB133111EB)
MASK = (1 << 64) - 1
Words = npt.NDArray[np.uint64]


class RowDigest:
    """Computes the numbers of rows.

    >>> digest = RowDigest()
    >>> digest.of([np.zeros(3)]) == digest.of([np.zeros(3)]) != digest.of([np.array([0.0, 1.0, 0.0])])
    True
    """

    def __init__(self) -> None:
        self._constants = _constants(64)
        self._products = np.empty(64, U64)

    def of(self, parts: Iterable[Any]) -> int:
        """The number of a row that consists of these arrays and bytes, in this order."""
        total = at = 0
        for part in parts:
            if type(part) is bytes:
                total += int.from_bytes(blake2b(part, digest_size=8).digest(), "little") * int(self._constant(at))
                at += 1
                continue
            array = part if part.flags.c_contiguous else np.ascontiguousarray(part)
            count, rest = divmod(array.nbytes, 8)
            if count:
                total += self._sum(array if not rest else array.reshape(-1).view(np.uint8)[: 8 * count], at, count)
            if rest:
                last = array.reshape(-1).view(np.uint8)[8 * count :].tobytes()
                total += int.from_bytes(last, "little") * int(self._constant(at + count))
            at += count + bool(rest)
        return total & MASK

    def _sum(self, array: Any, at: int, count: int) -> int:
        words = array.reshape(-1).view(U64)
        products = self._room(at + count)[:count]
        np.multiply(words, self._constants[at : at + count], products)
        return int(np.add.reduce(products))

    def _constant(self, at: int) -> Any:
        self._room(at + 1)
        return self._constants[at]

    def _room(self, count: int) -> Words:
        if count > len(self._constants):
            self._constants, self._products = _constants(2 * count), np.empty(2 * count, U64)
        return self._products


def _constants(count: int) -> Words:
    """The odd constants: SplitMix64 from 0, whose formula, unlike a library's generator, never changes."""
    word: Words = np.arange(1, count + 1, dtype=U64) * GOLDEN
    word = (word ^ (word >> U64(30))) * MIX_1
    word = (word ^ (word >> U64(27))) * MIX_2
    return (word ^ (word >> U64(31))) | U64(1)


def chunk_digest(numbers: Words) -> str:
    """BLAKE2 over the numbers of a chunk's rows, as text."""
    return blake2b(numbers.astype("<u8").tobytes(), digest_size=16).hexdigest()
