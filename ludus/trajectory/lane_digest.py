"""Digests of what each lane of a batch has seen, all lanes at once: the numbers that `RowDigest` gives lane by lane."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from ludus.spaces import Space
from ludus.spaces.array_space import Array
from ludus.trajectory.digest import FACTOR, GROUP, RowDigest, digest_keys
from ludus.trajectory.values import ValueColumns

__all__ = ["LaneDigest"]

U32, U64 = np.uint32, np.uint64
Words = npt.NDArray[np.uint64]


class LaneDigest:
    """Computes the number of each lane, as if its observation were recorded alone.

    >>> from ludus.spaces import Box
    >>> seen = np.arange(6, dtype=np.float32).reshape(2, 3)
    >>> numbers = LaneDigest(Box(0, 9, (3,)), 2).of(seen)
    >>> int(numbers[1]) == RowDigest().of([seen[1:]])
    True
    """

    def __init__(self, space: Space[object], lanes: int, *, compiled: bool = False) -> None:
        self.lanes = lanes
        self._compiled: Callable[[Array, Words], Words] | None = None
        if compiled:
            from ludus.kernels.tally import lane_numbers  # with the compiler, which a compiled batch has loaded already

            self._compiled = lane_numbers
        self._columns = ValueColumns(space, "observation", lanes)
        self._row = RowDigest()
        self._keys = digest_keys()
        self._halves = self._keys.view(U32)

    def of(self, observation: object) -> Words:
        """The number of each lane of a batch's observation."""
        arrays, objects = self._columns.take(observation)
        if objects:
            found = [
                self._row.of(
                    self._columns.parts(
                        {name: one[lane : lane + 1] for name, one in arrays.items()},
                        {name: one[lane : lane + 1] for name, one in objects.items()},
                    )
                )
                for lane in range(self.lanes)
            ]
            return np.array(found, U64)
        if self._compiled is not None and len(arrays) == 1:
            words = self._as_words(next(iter(arrays.values()))).view(U64)
            return self._compiled(words, self._keys)
        total = np.zeros(self.lanes, U64)
        for name in self._columns.names:
            total = self._added(total, self._as_words(arrays[name]))
        return total

    def _as_words(self, array: object) -> Array:
        """The halves of each lane's words, filled up with zeros."""
        flat = np.ascontiguousarray(array).reshape(self.lanes, -1)
        if flat.itemsize * flat.shape[1] % 8 == 0:
            return flat.view(U32) if flat.shape[1] else flat.astype(U32)
        octets = flat.view(np.uint8)
        padded = np.zeros((self.lanes, -(-octets.shape[1] // 8) * 8), np.uint8)
        padded[:, : octets.shape[1]] = octets
        return padded.view(U32)

    def _added(self, total: Words, halves: Array) -> Words:
        for begin in range(0, halves.shape[1], 2 * GROUP):
            part = halves[:, begin : begin + 2 * GROUP]
            sums = part + self._halves[: part.shape[1]]
            total = total * FACTOR + np.multiply(sums[:, ::2], sums[:, 1::2], dtype=U64).sum(axis=1, dtype=U64)
        return total
