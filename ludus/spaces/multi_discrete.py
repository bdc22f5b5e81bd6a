"""`MultiDiscrete`: an array of independent choices, each with a count of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, SupportsIndex, TypeVar, cast, overload

import numpy as np
import numpy.typing as npt

from ludus.errors import InvalidSpace, InvalidType, shorten
from ludus.seeding import Seed, copy_generator
from ludus.spaces.array_space import Array, ArraySpace, as_array, dtype_limits, nested_schema
from ludus.spaces.box import Box, require_same
from ludus.spaces.discrete import Discrete, integer_dtype
from ludus.spaces.kinds import is_array
from ludus.spaces.mask import choice, choice_of_possible, exclusive, parts
from ludus.spaces.space import ArrayT_co, Space, Violation

__all__ = ["MultiDiscrete"]

IntegerT = TypeVar("IntegerT", bound=np.integer)
Index = SupportsIndex | slice | Array


class MultiDiscrete(ArraySpace[ArrayT_co]):
    """Arrays whose element `i` is one of `nvec[i]` integers from `start[i]`; `nvec` may have any shape.

    >>> space = MultiDiscrete([5, 2, 4], seed=42)
    >>> space.sample()
    array([3, 0, 3])
    >>> print(*space.validate(np.array([4, 1, 7]), 'action["move"]'))
    action["move"][2]: expected Discrete(4), got 7
    >>> space[2]
    Discrete(4)
    """

    batched = True

    @overload
    def __init__(
        self: MultiDiscrete[npt.NDArray[np.int64]],
        nvec: npt.ArrayLike,
        *,
        seed: Seed | np.random.Generator | None = None,
        start: npt.ArrayLike | None = None,
    ) -> None: ...

    @overload
    def __init__(
        self: MultiDiscrete[npt.NDArray[IntegerT]],
        nvec: npt.ArrayLike,
        dtype: type[IntegerT] | np.dtype[IntegerT] = ...,
        seed: Seed | np.random.Generator | None = None,
        start: npt.ArrayLike | None = None,
    ) -> None: ...

    @overload
    def __init__(
        self,
        nvec: npt.ArrayLike,
        dtype: npt.DTypeLike | None = ...,
        seed: Seed | np.random.Generator | None = None,
        start: npt.ArrayLike | None = None,
    ) -> None: ...

    def __init__(
        self,
        nvec: npt.ArrayLike,
        dtype: npt.DTypeLike | None = np.int64,
        seed: Seed | np.random.Generator | None = None,
        start: npt.ArrayLike | None = None,
    ) -> None:
        self.dtype = integer_dtype("MultiDiscrete", dtype)
        self.nvec: Array = _counts("nvec", nvec, self.dtype)
        self.start: Array = np.zeros_like(self.nvec) if start is None else _counts("start", start, self.dtype)
        if self.start.shape != self.nvec.shape:
            raise InvalidSpace(
                f"MultiDiscrete: expected nvec and start of one shape, got {self.nvec.shape} and {self.start.shape}"
            )
        if not (self.nvec > 0).all():
            raise InvalidSpace(f"MultiDiscrete nvec: expected counts of at least 1, got {shorten(self.nvec)}")
        self._last: Array = self.start + (self.nvec - 1)
        if not (self._last >= self.start).all():
            raise InvalidSpace(f"MultiDiscrete: expected start + nvec - 1 to fit {self.dtype}; use a wider dtype")
        super().__init__(self.nvec.shape, self.dtype, seed)

    def arguments(self) -> dict[str, object]:
        """The counts, starts and dtype."""
        return {"nvec": self.nvec.tolist(), "start": self.start.tolist(), "dtype": str(self.dtype)}

    def sample(self, mask: object = None, probability: object = None) -> ArrayT_co:
        """A random array; `mask` and `probability` are tuples, nested like `nvec`, of one array for each choice."""
        rng = self._np_random or self._seeded_lazily()
        value: Any
        if mask is None and probability is None:
            value = (rng.random(self._shape) * self.nvec).astype(self.dtype) + self.start
            return value
        kind = exclusive(mask, probability) or "mask"
        chosen = self._choose(rng, mask if kind == "mask" else probability, kind, self.nvec)
        value = np.array(chosen, dtype=self.dtype) + self.start
        return value

    def _choose(self, rng: np.random.Generator, given: object, kind: str, nvec: Array | np.integer) -> object:
        if is_array(nvec):
            each = parts(given, kind, len(nvec))
            return [self._choose(rng, one, kind, count) for one, count in zip(each, nvec, strict=True)]
        if kind == "probability":
            return choice_of_possible(rng, given, int(nvec))
        return choice(rng, given, kind, int(nvec))

    def contains(self, x: Any) -> bool:
        """Whether `x` is an array (or a sequence) of the shape, of a safe dtype, with every choice in range."""
        array: Array | None = x
        if isinstance(array, Sequence):
            array = as_array(x)
        return bool(
            isinstance(array, np.ndarray)
            and array.shape == self._shape
            and (array.dtype == self.dtype or np.can_cast(array.dtype, self.dtype))
            and (self.start <= array).all()
            and (array <= self._last).all()
        )

    def validate(self, x: object, path: str = "value") -> list[Violation]:
        """What is wrong with the type, shape or dtype, else each choice out of range."""
        array = x
        if isinstance(array, Sequence):
            array = as_array(x)
        if not is_array(array):
            return [self._violation(x, path)]
        wrong = self._structure_violation(array, path)
        if wrong:
            return [wrong]
        bad = (array < self.start) | (array > self._last)
        return self._element_violations(path, array, bad, lambda at: repr(self[at]))

    def default(self) -> ArrayT_co:
        """The first element of each choice."""
        return cast(ArrayT_co, self.start.copy())

    def __getitem__(self, index: Index | tuple[Index, ...]) -> Discrete | MultiDiscrete:
        nvec, start = self.nvec[index], self.start[index]
        if np.ndim(nvec) == 0:
            part: Discrete | MultiDiscrete = Discrete(int(nvec), start=int(start), dtype=self.dtype)
        else:
            part = MultiDiscrete(nvec, start=start, dtype=self.dtype)
        part.np_random.bit_generator.state = self.np_random.bit_generator.state
        return part

    def __len__(self) -> int:
        return len(self.nvec)

    @property
    def flatdim(self) -> int:
        """The sum of the counts: one-hot rows, one after another."""
        return int(self.nvec.sum())

    def flatten(self, x: Array) -> Array:
        """A one-hot row for each choice, joined."""
        offsets = self._offsets()
        row = np.zeros(offsets[-1], dtype=self.dtype)
        row[offsets[:-1] + (x - self.start).flatten()] = 1
        return row

    def unflatten(self, x: Array) -> ArrayT_co:
        """The choices whose places in the row are not zero."""
        (places,) = np.nonzero(x)
        if len(places) != self.nvec.size:
            raise InvalidSpace(
                f"unflatten into {self!r}: expected {self.nvec.size} one-hot rows joined, got {shorten(x)}"
            )
        chosen = np.asarray(places - self._offsets()[:-1], dtype=self.dtype)
        return cast(ArrayT_co, chosen.reshape(self._shape) + self.start)

    def _offsets(self) -> Array:
        return np.concatenate([[0], np.cumsum(self.nvec.flatten(), dtype=np.int64)])

    def flat_space(self) -> Box:
        """A box of zeros and ones."""
        return Box(0, 1, shape=(self.flatdim,), dtype=self.dtype)

    def batch(self, n: int) -> Box:
        """An integer box with a leading axis of `n`."""
        return self.batch_differing([self] * n)

    def batch_differing(self, spaces: Sequence[Space[object]]) -> Box:
        """An integer box whose row `i` has the range of space `i`."""
        each = require_same(self, spaces, "shape", "dtype")
        low, high = np.array([one.start for one in each]), np.array([one._last for one in each])
        return Box(low, high, dtype=self.dtype, seed=copy_generator(self.np_random))

    def json_schema(self) -> dict[str, object]:
        """Nested arrays of integers; one range for all."""
        leaf: dict[str, object] = {"type": "integer"}
        if self.nvec.size:
            leaf |= {"minimum": int(self.start.min()), "maximum": int(self._last.max())}
        return nested_schema(self._shape, leaf)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, MultiDiscrete)
            and self.dtype == other.dtype
            and np.array_equal(self.nvec, other.nvec)
            and np.array_equal(self.start, other.start)
        )

    def __repr__(self) -> str:
        start = f", start={self.start}" if (self.start != 0).any() else ""
        return f"MultiDiscrete({self.nvec}{start})"


def _counts(name: str, value: object, dtype: np.dtype[np.generic]) -> Array:
    array: Array = np.array(value)
    if array.dtype.kind not in "iu" and array.size:
        raise InvalidType(f"MultiDiscrete {name}: expected integers, got {shorten(value)}")
    least, most = dtype_limits(dtype)
    if array.size and not (least <= int(array.min()) and int(array.max()) <= most):
        raise InvalidSpace(
            f"MultiDiscrete {name}: expected values within {dtype} ({least} to {most}), got {shorten(value)}"
        )
    return array.astype(dtype)
