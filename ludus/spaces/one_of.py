"""`OneOf`: a value of exactly one of several spaces, with the number of that space."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeGuard, cast

import numpy as np

from ludus.errors import CodecError, InvalidSeed, InvalidSpace, InvalidValue, shorten
from ludus.seeding import Seed
from ludus.spaces.array_space import Array, dtype_limits
from ludus.spaces.box import Box
from ludus.spaces.composite import Composite
from ludus.spaces.kinds import is_integer, is_list, is_list_or_tuple, is_tuple
from ludus.spaces.mask import exclusive, parts
from ludus.spaces.space import Space, Violation
from ludus.spaces.tuple import spaces_of

__all__ = ["OneOf"]


_NUMBER: tuple[type, ...] = (int, np.int64)  # NumPy's types call the second no class


Pair = tuple[int | np.int64, Any]
"""The number of a space and a value of it."""


class OneOf(Composite[Pair]):
    """Pairs of a number `i` and a value of space `i`.

    >>> from ludus.spaces import Box, Discrete
    >>> space = OneOf((Discrete(2), Box(-1, 1, shape=(2,))), seed=123)
    >>> space.sample()
    (np.int64(0), np.int64(0))
    >>> print(*space.validate((0, 5), "action"))
    action[1]: expected Discrete(2), got 5
    """

    def __init__(
        self, spaces: Iterable[Space[object]], seed: Seed | tuple[int, ...] | np.random.Generator | None = None
    ) -> None:
        self.spaces = spaces_of("OneOf", spaces)
        if not self.spaces:
            raise InvalidSpace("OneOf: expected at least one space, got none")
        super().__init__(None, None, seed)

    def arguments(self) -> dict[str, object]:
        """The spaces."""
        return {"spaces": self.spaces}

    @property
    def subspaces(self) -> tuple[Space[object], ...]:
        """The spaces in order."""
        return self.spaces

    def seed(self, seed: object = None) -> tuple[object, ...]:
        """Seed by one integer, from which each space's is drawn, or by one for the choice and one for each space."""
        if seed is None:
            return (super().seed(None), *[space.seed(None) for space in self.spaces])
        if is_list_or_tuple(seed):
            if len(seed) != 1 + len(self.spaces):
                raise InvalidSeed(
                    f"seed: expected {1 + len(self.spaces)} seeds (choice, then spaces), got {shorten(seed)}"
                )
            return (
                super().seed(seed[0]),
                *[space.seed(one) for space, one in zip(self.spaces, seed[1:], strict=True)],
            )
        drawn = self._drawn_seeds(seed)
        # Seeded again, so that one integer and the seeds it stands for leave the same generator.
        return (super().seed(seed), *[space.seed(one) for space, one in zip(self.spaces, drawn, strict=True)])

    def sample(self, mask: object = None, probability: object = None) -> tuple[np.int64, Any]:
        """A space chosen uniformly and a sample of it; a mask is a tuple with one entry, or None, for each space."""
        kind = exclusive(mask, probability)
        given = parts(mask if kind == "mask" else probability, kind, len(self.spaces)) if kind else ()
        choice = self.np_random.integers(0, len(self.spaces), dtype=np.int64)
        space = self.spaces[choice]
        return choice, (space.sample(**{kind: given[choice]}) if kind else space.sample())

    def default(self) -> tuple[int, Any]:
        """The zero of the first space."""
        return 0, self.spaces[0].default()

    def contains(self, x: Any) -> bool:
        """Whether `x` is a pair of the number of a space and a value of it."""
        pair: Pair = x
        return bool(
            isinstance(x, tuple)
            and len(pair) == 2
            and isinstance(pair[0], _NUMBER)
            and 0 <= pair[0] < len(self.spaces)
            and self[pair[0]].contains(pair[1])
        )

    def validate(self, x: object, path: str = "value") -> list[Violation]:
        """What is wrong with the pair or its number, else the violations of the value."""
        if not is_tuple(x) or len(x) != 2:
            return [self._violation(x, path, f"a pair (number, value), {self!r}")]
        if not self._is_number(x[0]):
            return [self._violation(x[0], f"{path}[0]", f"0 to {len(self.spaces) - 1}")]
        return self[x[0]].validate(x[1], f"{path}[1]")

    def coerce(self, x: object, name: str = "value", error: type[InvalidValue] = InvalidValue) -> Pair:
        """The number, and the value that the other stands for."""
        if not self.typed or not self._is_pair(x):
            return super().coerce(x, name, error)
        return x[0], self[x[0]].coerce(x[1], f"{name}[1]", error)

    def _is_pair(self, x: object) -> TypeGuard[Pair]:
        return is_list_or_tuple(x) and len(x) == 2 and self._is_number(x[0])

    def _is_number(self, x: object) -> TypeGuard[int | np.int64]:
        return is_integer(x) and isinstance(x, _NUMBER) and bool(0 <= x < len(self.spaces))

    def __getitem__(self, index: int | np.int64) -> Space[Any]:
        return self.spaces[index]

    def __len__(self) -> int:
        return len(self.spaces)

    # --- flattening: the number, then the flat value padded to the longest ---

    @property
    def flatdim(self) -> int:
        """One more than the longest."""
        return 1 + max(space.flatdim for space in self.spaces)

    @property
    def flat_dtype(self) -> np.dtype[np.generic]:
        """The dtype that holds every flat value and every number."""
        dtype = np.result_type(*(space.flat_dtype for space in self.spaces))
        last = len(self.spaces) - 1
        return (
            np.result_type(dtype, np.min_scalar_type(last))
            if dtype.kind in "biu" and last > dtype_limits(dtype)[1]
            else dtype
        )

    def flatten(self, x: tuple[int | np.int64, object]) -> Array | tuple[int | np.int64, object]:
        """The number and the flat value, padded with its own first element."""
        if not self.is_np_flattenable:
            return x[0], self[x[0]].flatten(x[1])
        flat: Array = self[x[0]].flatten(x[1])
        row = np.full(self.flatdim, flat[0] if flat.size else 0, dtype=self.flat_dtype)
        row[0] = x[0]
        row[1 : 1 + flat.size] = flat
        return row

    def unflatten(self, x: Any) -> tuple[np.int64, Any]:
        """The number and the value, padding dropped."""
        choice = np.int64(x[0])
        if not 0 <= choice < len(self.spaces):
            raise InvalidSpace(f"unflatten into {self!r}: expected 0 to {len(self.spaces) - 1} first, got {choice}")
        space = self.spaces[choice]
        flat = x[1 : 1 + space.flatdim].astype(space.flat_dtype) if self.is_np_flattenable else x[1]
        return choice, space.unflatten(flat)

    def flat_space(self) -> Space[object]:
        """A box wide enough for every space."""
        flat = [space.flat_space() for space in self.spaces]
        if not self.is_np_flattenable:
            return OneOf(flat)
        rest = self.flatdim - 1
        filled = [box for box in cast(list[Box], flat) if box.low.size]
        low, high = (
            min((box.low.min() for box in filled), default=0),
            max((box.high.max() for box in filled), default=0),
        )
        lows, highs = np.concatenate([[0], np.full(rest, low)]), np.concatenate([[len(flat) - 1], np.full(rest, high)])
        return Box(lows, highs, dtype=self.flat_dtype)

    def empty(self, n: int = 1, fn: Callable[..., Array] = np.zeros) -> tuple[tuple[()], ...]:
        """Empty tuples."""
        del fn
        return ((),) * n

    # --- the wire ---

    def encode(self, x: tuple[int | np.int64, object], *, binary: bool = False) -> list[object]:
        """A list of the number and the encoded value."""
        return [int(x[0]), self[x[0]].encode(x[1], binary=binary)]

    def decode(self, data: object) -> tuple[np.int64, Any]:
        """The pair in a list of two."""
        if not is_list(data) or len(data) != 2 or type(data[0]) is not int or not 0 <= data[0] < len(self.spaces):
            raise CodecError(
                f"{self!r}: expected a list of 0 to {len(self.spaces) - 1} and a value, got {shorten(data)}"
            )
        return np.int64(data[0]), self[data[0]].decode(data[1])

    def read(self, data: object, name: str = "value") -> Pair:
        """The number, and the value read by its space."""
        if not self.typed or not self._is_pair(data) or type(data[0]) is not int:
            return super().read(data, name)
        return np.int64(data[0]), self[data[0]].read(data[1], f"{name}[1]")

    def json_schema(self) -> dict[str, object]:
        """One of several pairs."""
        pairs = [{"prefixItems": [{"const": i}, space.json_schema()]} for i, space in enumerate(self.spaces)]
        return {"type": "array", "minItems": 2, "maxItems": 2, "oneOf": pairs}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OneOf) and self.spaces == other.spaces

    def __repr__(self) -> str:
        return f"OneOf({', '.join(map(repr, self.spaces))})"
