"""`MultiBinary`: an array of zeros and ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ludus.errors import InvalidSpace, InvalidType, shorten
from ludus.seeding import Seed, copy_generator
from ludus.spaces.array_space import Array, ArraySpace, as_array, nested_schema
from ludus.spaces.box import Box, require_same
from ludus.spaces.kinds import is_array
from ludus.spaces.mask import array_mask, exclusive
from ludus.spaces.space import Space, Violation

__all__ = ["MultiBinary"]


class MultiBinary(ArraySpace[npt.NDArray[np.int8]]):
    """Arrays of zeros and ones, of length `n` or of shape `n`.

    >>> MultiBinary(5, seed=42).sample()
    array([1, 0, 1, 0, 1], dtype=int8)
    >>> MultiBinary([2, 2], seed=0).sample(mask=np.array([[0, 1], [1, 0]], dtype=np.int8))
    array([[0, 1],
           [1, 0]], dtype=int8)
    """

    batched = True

    def __init__(self, n: int | Sequence[int] | Array, seed: Seed | np.random.Generator | None = None) -> None:
        if isinstance(n, int | np.integer) and not isinstance(n, bool):
            self.n: int | tuple[int, ...] = int(n)
            shape: tuple[int, ...] = (int(n),)
        elif isinstance(n, Sequence | np.ndarray) and not isinstance(n, str):
            self.n = shape = tuple(int(one) for one in n)
        else:
            raise InvalidType(f"MultiBinary n: expected an integer or a sequence of integers, got {shorten(n)}")
        if not all(length > 0 for length in shape):
            raise InvalidSpace(f"MultiBinary n: expected lengths of at least 1, got {shorten(n)}")
        super().__init__(shape, np.int8, seed)

    def sample(self, mask: object = None, probability: object = None) -> npt.NDArray[np.int8]:
        """Fair coins; `mask` fixes elements to 0 or 1 (2 leaves the coin), `probability` is the chance of each 1."""
        rng = self._np_random or self._seeded_lazily()
        if mask is None and probability is None:
            return rng.integers(0, 2, self.n, np.int8)
        if exclusive(mask, probability) == "mask":
            fixed = array_mask(mask, "mask", self._shape, top=2)
            return np.where(fixed == 2, rng.integers(0, 2, self._shape, np.int8), fixed)
        chance = array_mask(probability, "probability", self._shape)
        return (rng.random(self._shape) <= chance).astype(np.int8)

    def contains(self, x: Any) -> bool:
        """Whether `x` is an array (or a sequence) of the shape whose every element equals 0 or 1."""
        array: Array | None = x
        if isinstance(array, Sequence):
            array = as_array(x)
        return bool(
            isinstance(array, np.ndarray)
            and array.shape == self._shape
            and array.dtype.kind in "biuf"
            and ((array == 0) | (array == 1)).all()
        )

    def validate(self, x: object, path: str = "value") -> list[Violation]:
        """What is wrong with the type or shape, else each element that is neither 0 nor 1."""
        array = x
        if isinstance(array, Sequence):
            array = as_array(x)
        if not is_array(array):
            return [self._violation(x, path)]
        if array.shape != self._shape:
            return [Violation(path, f"shape {self._shape}", f"shape {array.shape}")]
        if array.dtype.kind not in "biuf":
            return [Violation(path, "numbers", f"dtype {array.dtype}")]
        bad: Array = ~np.asarray((array == 0) | (array == 1))
        return self._element_violations(path, array, bad, lambda _: "0 or 1")

    def flat_space(self) -> Box:
        """A box of zeros and ones."""
        return Box(0, 1, shape=(self.flatdim,), dtype=np.int8)

    def batch(self, n: int) -> Box:
        """An integer box with a leading axis of `n`."""
        return Box(0, 1, shape=(n, *self._shape), dtype=np.int8, seed=copy_generator(self.np_random))

    def batch_differing(self, spaces: Sequence[Space[object]]) -> Box:
        """The same as `batch`: only the shape could differ, and may not."""
        return self.batch(len(require_same(self, spaces, "shape")))

    def json_schema(self) -> dict[str, object]:
        """Nested arrays of 0 and 1."""
        return nested_schema(self._shape, {"type": "integer", "enum": [0, 1]})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MultiBinary) and self.n == other.n

    def __repr__(self) -> str:
        return f"MultiBinary({self.n})"
