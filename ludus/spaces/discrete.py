"""`Discrete`: one of `n` consecutive integers."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NoReturn, SupportsInt

import numpy as np
import numpy.typing as npt

from ludus.errors import CodecError, InvalidSpace, InvalidType, shorten
from ludus.seeding import Seed, copy_generator
from ludus.spaces.array_space import Array, ArraySpace, dtype_limits
from ludus.spaces.box import Box, require_same
from ludus.spaces.kinds import is_integer
from ludus.spaces.mask import choice, exclusive
from ludus.spaces.space import Space, known_space

if TYPE_CHECKING:
    from ludus.spaces.multi_discrete import MultiDiscrete

__all__ = ["Discrete"]

Integer = np.integer


class Discrete(ArraySpace[Any]):  # so that it is a Space[int] to whoever takes Python's integers
    """The integers `start`, …, `start + n - 1`.

    >>> space = Discrete(3, start=-1, seed=42)
    >>> space.sample()
    np.int64(-1)
    >>> space.sample(mask=np.array([0, 0, 1], dtype=np.int8))
    np.int64(1)
    >>> print(*space.validate(5, "action"))
    action: expected Discrete(3, start=-1), got 5

    To a type checker a sample is an `np.int64`, which it is unless another dtype was asked for.
    """

    batched = True  # so that a Tuple of these is refused by `iterate` rather than taken for a batch

    def __init__(
        self,
        n: int | Integer,
        seed: Seed | np.random.Generator | None = None,
        start: int | Integer = 0,
        dtype: npt.DTypeLike | None = np.int64,
    ) -> None:
        found = integer_dtype("Discrete", dtype)
        count, first = whole("Discrete n", n), whole("Discrete start", start)
        least, most = dtype_limits(found)
        if count <= 0:
            raise InvalidSpace(f"Discrete n: expected at least 1, got {count}")
        if not (least <= first <= first + count - 1 <= most and count <= most):
            raise InvalidSpace(
                f"Discrete: expected n={count} and {first} to {first + count - 1} to fit {found} ({least} to {most}); "
                "use a wider dtype"
            )
        self.n: Any = found.type(count)
        self.start: Any = found.type(first)
        self._count, self._first, self._type = count, first, found.type
        super().__init__((), found, seed)

    def arguments(self) -> dict[str, object]:
        """`n`, `start` and the dtype."""
        return {"n": self._count, "start": self._first, "dtype": str(self.dtype)}

    def sample(self, mask: Array | None = None, probability: Array | None = None) -> np.int64:
        """A random element: uniform, uniform over `mask == 1` (`start` when none is), or by `probability`."""
        rng = self._np_random or self._seeded_lazily()
        if mask is None and probability is None:
            return self.start + rng.integers(self._count, dtype=self._type)
        kind = exclusive(mask, probability) or "mask"
        return self.start + self._type(choice(rng, mask if kind == "mask" else probability, kind, self._count))

    def contains(self, x: Any) -> bool:
        """Whether `x` is a Python integer, or a NumPy one that casts safely, in range."""
        if isinstance(x, int):
            return self._first <= x < self._first + self._count
        number: Array = x
        if isinstance(x, np.generic | np.ndarray) and number.dtype.kind in "iu" and number.shape == ():
            fits = number.dtype == self.dtype or np.can_cast(number.dtype, self.dtype)
            return bool(fits and self._first <= int(number) < self._first + self._count)
        return False

    def default(self) -> np.int64:
        """The first element."""
        return self.start

    @property
    def flatdim(self) -> int:
        """`n`: a flattened value is one-hot."""
        return self._count

    def flatten(self, x: SupportsInt) -> Array:
        """A one-hot row."""
        row = np.zeros(self._count, dtype=self.dtype)
        row[int(x) - self._first] = 1
        return row

    def unflatten(self, x: Array) -> np.int64:
        """The element whose place in the row is not zero."""
        places = np.nonzero(x)[0]
        if not len(places):
            raise InvalidSpace(f"unflatten into {self!r}: expected a one-hot row, got {shorten(x)}")
        return self.start + places[0].astype(self.dtype)

    def flat_space(self) -> Box:
        """A box of zeros and ones."""
        return Box(0, 1, shape=(self._count,), dtype=self.dtype)

    def batch(self, n: int) -> MultiDiscrete:
        """A `MultiDiscrete` of `n` equal counts."""
        return self.batch_differing([self] * n)

    def batch_differing(self, spaces: Sequence[Space[object]]) -> MultiDiscrete:
        """A `MultiDiscrete` with the count and start of each, in the widest dtype."""
        each = require_same(self, spaces)
        widest = max({one.dtype for one in each}, key=attrgetter("itemsize"))
        counts, starts = np.array([one.n for one in each], widest), np.array([one.start for one in each], widest)
        return known_space("MultiDiscrete")(counts, dtype=widest, seed=copy_generator(self.np_random), start=starts)

    def iterate(self, items: object) -> NoReturn:
        """Refused: one integer is not a batch."""
        raise InvalidType(f"iterate: expected a batched space, got {self!r}, whose values are single integers")

    def encode(self, x: SupportsInt, *, binary: bool = False) -> int:
        """A plain integer."""
        del binary
        return int(x)

    def decode(self, data: object) -> np.int64:
        """The integer as a NumPy scalar of the space's dtype."""
        least, most = dtype_limits(self.dtype)
        if not isinstance(data, int) or isinstance(data, bool) or not least <= data <= most:
            raise CodecError(f"{self!r}: expected an integer that fits {self.dtype}, got {shorten(data)}")
        return self._type(data)

    def json_schema(self) -> dict[str, object]:
        """An integer with both ends."""
        return {"type": "integer", "minimum": self._first, "maximum": self._first + self._count - 1}

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Discrete)
            and (self._count, self._first) == (other._count, other._first)
            and self.dtype == other.dtype
        )

    def __repr__(self) -> str:
        start = f", start={self._first}" if self._first else ""
        dtype = f", dtype={self.dtype}" if self.dtype != np.int64 else ""
        return f"Discrete({self._count}{start}{dtype})"


def integer_dtype(what: str, dtype: npt.DTypeLike | None) -> np.dtype[Any]:
    """`dtype`, checked to be an integer one."""
    found = None if dtype is None else np.dtype(dtype)
    if found is None or found.kind not in "iu":
        raise InvalidType(f"{what} dtype: expected an integer dtype, got {found}")
    return found


def whole(what: str, value: object) -> int:
    """`value` as a Python integer, checked to be one (bool excluded)."""
    if not is_integer(value) or isinstance(value, bool | np.timedelta64):
        raise InvalidType(f"{what}: expected an integer, got {shorten(value)}")
    return int(value)
