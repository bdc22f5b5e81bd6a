"""`Box`: arrays whose every element lies between a low and a high, either of which may be infinite."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import Any, Literal, TypeVar, cast, overload

import numpy as np
import numpy.typing as npt

from ludus.errors import InvalidArgument, InvalidSpace, InvalidType, shorten
from ludus.seeding import Seed, copy_generator
from ludus.spaces.array_space import Array, ArraySpace, dtype_limits, nested_schema
from ludus.spaces.kinds import is_array, is_scalar
from ludus.spaces.mask import refuse_mask
from ludus.spaces.space import ArrayT_co, Space, Violation

__all__ = ["Box"]

LARGE_BOX_SIZE = 2**16
"""Numbers of a value beyond which a bound that is one number is held once, and read as if repeated."""
_BOUNDS = ("low", "high", "bounded_below", "bounded_above")

SpaceT = TypeVar("SpaceT")
NumberT = TypeVar("NumberT", bound=np.generic)
Bound = float | int | np.number | Array


Mask = npt.NDArray[np.bool_]
Uniform = tuple[Literal["uniform"], float | Array, float | Array]
"""How a sample is drawn where every element has both ends: what `uniform` is given."""
Mixed = tuple[Literal["mixed"], Mask, Mask, Mask, Mask, Array, Array]
"""How it is drawn otherwise: which elements are free, have a lower end, an upper one, or both; and the ends."""


class Box(ArraySpace[ArrayT_co]):
    """Arrays of one shape and dtype between `low` and `high`, both included.

    A sample is uniform where both ends are finite, exponential from the one end that is, normal where none is.

    >>> Box(-1.0, 2.0, shape=(3, 4))
    Box(-1.0, 2.0, (3, 4), float32)
    >>> box = Box(low=np.array([0.0, -np.inf]), high=np.array([1.0, np.inf]), dtype=np.float64, seed=42)
    >>> box.sample()
    array([0.43887844, 0.30471708])
    >>> print(*box.validate(np.array([2.0, 0.0]), "observation"))
    observation[0]: expected 0.0 to 1.0, got 2.0
    """

    batched = True

    @overload
    def __init__(
        self: Box[npt.NDArray[np.float32]],
        low: Bound,
        high: Bound,
        shape: Sequence[int] | None = None,
        *,
        seed: Seed | np.random.Generator | None = None,
    ) -> None: ...

    @overload
    def __init__(
        self: Box[npt.NDArray[NumberT]],
        low: Bound,
        high: Bound,
        shape: Sequence[int] | None = None,
        dtype: type[NumberT] | np.dtype[NumberT] = ...,
        seed: Seed | np.random.Generator | None = None,
    ) -> None: ...

    @overload
    def __init__(
        self,
        low: Bound,
        high: Bound,
        shape: Sequence[int] | None = None,
        dtype: npt.DTypeLike | None = ...,
        seed: Seed | np.random.Generator | None = None,
    ) -> None: ...

    def __init__(
        self,
        low: Bound,
        high: Bound,
        shape: Sequence[int] | None = None,
        dtype: npt.DTypeLike | None = np.float32,
        seed: Seed | np.random.Generator | None = None,
    ) -> None:
        self.dtype = _box_dtype(dtype)
        self._shape = _box_shape(low, high, shape)
        self.low, self.bounded_below = _bound("low", low, -np.inf, self._shape, self.dtype)
        self.high, self.bounded_above = _bound("high", high, np.inf, self._shape, self.dtype)
        if (_one(self.low) > _one(self.high)).any():
            raise InvalidSpace(
                f"Box: expected low <= high everywhere, got low={shorten(self.low)}, high={shorten(self.high)}"
            )
        super().__init__(self._shape, self.dtype, seed)
        self._reprs: tuple[str, str] | None = None
        self._plan: Uniform | Mixed | None = None

    @property
    def _is_uniform(self) -> bool:
        """Whether each bound is one number, held once: so are those of large boxes that were given so."""
        return self.low.size > 1 and not any(self.low.strides) and not any(self.high.strides)

    def __getstate__(self) -> dict[str, object]:
        shared = {name: one for name in _BOUNDS if _is_repeated(one := getattr(self, name))}
        return {
            **vars(self),
            **{name: _one(one).copy() for name, one in shared.items()},
            "_shared": list(shared),
            "_plan": None,
        }

    def __setstate__(self, state: dict[str, object]) -> None:
        own = vars(self)
        own.update(state)
        for name in own.pop("_shared"):
            setattr(self, name, np.broadcast_to(own[name], self._shape))

    def arguments(self) -> dict[str, object]:
        """The bounds (infinity where there is none), the shape and the dtype."""
        low, high = _outer(self.low, self.bounded_below, -np.inf), _outer(self.high, self.bounded_above, np.inf)
        return {"low": low, "high": high, "shape": list(self._shape), "dtype": str(self.dtype)}

    def is_bounded(self, manner: Literal["both", "below", "above"] = "both") -> bool:
        """Whether every element has a finite end below, above, or on both sides."""
        below, above = bool(self.bounded_below.all()), bool(self.bounded_above.all())
        answers = {"both": below and above, "below": below, "above": above}
        if manner not in answers:
            raise InvalidArgument(f"is_bounded: expected 'both', 'below' or 'above', got {manner!r}")
        return answers[manner]

    # --- sampling ---

    def sample(self, mask: None = None, probability: None = None) -> ArrayT_co:
        """A random array, element by element by the kind of its interval."""
        if mask is not None or probability is not None:
            refuse_mask(self, mask, probability)
        rng = self._np_random or self._seeded_lazily()
        plan = self._plan or self._make_plan()
        if plan[0] == "uniform":
            drawn = rng.uniform(plan[1], plan[2], self._shape)
        else:
            drawn = self._sample_mixed(rng, plan)
        value: Any = drawn.astype(self.dtype) if self.dtype.kind == "f" else self._to_integers(drawn)
        return value

    def _make_plan(self) -> Uniform | Mixed:
        """What does not change between samples: which elements have which interval, and their ends as doubles."""
        below, above = self.bounded_below, self.bounded_above
        if self._is_uniform and below.all() and above.all():
            high = _one(self.high) if self.dtype.kind == "f" else _one(self.high).astype("int64") + 1
            self._plan = ("uniform", float(_one(self.low).flat[0]), float(high.flat[0]))
            return self._plan
        high = self.high if self.dtype.kind == "f" else self.high.astype("int64") + 1
        low64, high64 = self.low.astype(np.float64), high.astype(np.float64)
        if below.all() and above.all():
            one = low64.size > 0 and (low64 == low64.flat[0]).all() and (high64 == high64.flat[0]).all()
            self._plan = ("uniform", float(low64.flat[0]), float(high64.flat[0])) if one else ("uniform", low64, high64)
        else:
            self._plan = ("mixed", ~below & ~above, below & ~above, ~below & above, below & above, low64, high64)
        return self._plan

    def _sample_mixed(self, rng: np.random.Generator, plan: Mixed) -> Array:
        _, free, from_low, to_high, both, low, high = plan
        drawn = np.empty(self._shape)
        drawn[free] = rng.normal(size=free[free].shape)
        drawn[from_low] = rng.exponential(size=from_low[from_low].shape) + self.low[from_low]
        drawn[to_high] = -rng.exponential(size=to_high[to_high].shape) + high[to_high]
        drawn[both] = rng.uniform(low=low[both], high=high[both], size=both[both].shape)
        return drawn

    def _to_integers(self, drawn: Array) -> Array:
        drawn = np.floor(drawn)
        if self.dtype.kind != "b":
            least, most = dtype_limits(self.dtype)
            if self.dtype == np.int64:  # a double cannot hold the ends of int64: keep clear of them
                least, most = least + 2, most - 2
            drawn = drawn.clip(min=least, max=most)
        drawn = np.asarray(drawn).astype(self.dtype)
        return np.asarray(drawn.clip(min=self.low, max=self.high)) if self.dtype == np.int64 else drawn

    def default(self) -> ArrayT_co:
        """Zeros, moved into the bounds where zero is outside."""
        zeros = np.zeros(self._shape, dtype=self.dtype)
        return cast(ArrayT_co, np.clip(zeros, self.low, self.high, out=np.empty(self._shape, self.dtype)))

    # --- membership ---

    def contains(self, x: Any) -> bool:
        """Whether `x` has the shape, a dtype that casts safely, and every element in bounds; lists are cast first."""
        array: Array | None = x
        if not isinstance(x, np.ndarray):
            array = self._cast(x)
        if array is None:
            return False
        return bool(
            array.shape == self._shape
            and (array.dtype == self.dtype or np.can_cast(array.dtype, self.dtype))
            and (array >= self.low).all()
            and (array <= self.high).all()
        )

    def _cast(self, x: object) -> Array | None:
        try:
            with np.errstate(all="ignore"):
                return np.asarray(x, dtype=self.dtype)
        except (ValueError, TypeError, OverflowError, np.exceptions.ComplexWarning):
            return None

    def validate(self, x: object, path: str = "value") -> list[Violation]:
        """What is wrong with the type, shape or dtype, else each element out of bounds."""
        array = x if is_array(x) else self._cast(x)
        if array is None:
            return [self._violation(x, path)]
        wrong = self._structure_violation(array, path)
        if wrong:
            return [wrong]
        bad = ~((array >= self.low) & (array <= self.high))
        return self._element_violations(path, array, bad, lambda at: f"{self.low[at]} to {self.high[at]}")

    # --- structure ---

    def flat_space(self) -> Box:
        """A box of one row with the same bounds."""
        if self._is_uniform:
            return self._of_shape((self.low.size,))
        return Box(self.low.flatten(), self.high.flatten(), dtype=self.dtype)

    def _of_shape(self, shape: tuple[int, ...], seed: np.random.Generator | None = None) -> Box:
        low, high = _outer(self.low, self.bounded_below, -np.inf), _outer(self.high, self.bounded_above, np.inf)
        return Box(low, high, shape, self.dtype, seed)

    def batch(self, n: int) -> Box:
        """A box with a leading axis of `n`."""
        if self._is_uniform:
            return self._of_shape((n, *self._shape), copy_generator(self.np_random))
        repeats = (n,) + (1,) * self.low.ndim
        return Box(
            np.tile(self.low, repeats),
            np.tile(self.high, repeats),
            dtype=self.dtype,
            seed=copy_generator(self.np_random),
        )

    def batch_differing(self, spaces: Sequence[Space[object]]) -> Box:
        """A box whose row `i` has the bounds of space `i`."""
        boxes = require_same(self, spaces, "shape", "dtype")
        low, high = np.array([box.low for box in boxes]), np.array([box.high for box in boxes])
        return Box(low, high, dtype=self.dtype, seed=copy_generator(self.np_random))

    def json_schema(self) -> dict[str, object]:
        """Nested arrays of numbers; one range for all elements where they share it."""
        leaf: dict[str, object] = {"type": {"f": "number", "b": "boolean"}.get(self.dtype.kind, "integer")}
        if self.dtype.kind != "b" and self.low.size:
            low, high = _one(self.low).min(), _one(self.high).max()
            number = float if self.dtype.kind == "f" else int  # not .item(): that leaves a longdouble as it is
            leaf |= {} if np.isinf(low) else {"minimum": number(low)}
            leaf |= {} if np.isinf(high) else {"maximum": number(high)}
        if self.dtype.kind == "f":
            leaf = {"anyOf": [leaf, {"enum": ["NaN", "Infinity", "-Infinity"]}]} if not self.is_bounded() else leaf
        return nested_schema(self._shape, leaf)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Box)
            and self._shape == other._shape
            and self.dtype == other.dtype
            and _are_close(self.low, other.low)
            and _are_close(self.high, other.high)
        )

    def __repr__(self) -> str:
        if self._reprs is None:
            self._reprs = (_short(self.low), _short(self.high))
        return f"Box({self._reprs[0]}, {self._reprs[1]}, {self._shape}, {self.dtype})"


def _one(bound: Array) -> Array:
    """A bound with every length 1 where it is one number for all, else as it is."""
    return bound[(slice(1),) * bound.ndim] if _is_repeated(bound) else bound


def _is_repeated(bound: Array) -> bool:
    return bound.size > 1 and not any(bound.strides)


def _are_close(bound: Array, other: Array) -> bool:
    if _is_repeated(bound) and _is_repeated(other):
        bound, other = _one(bound), _one(other)
    return np.allclose(bound, other)


def _outer(bound: Array, finite: Array, infinity: float) -> Bound:
    """A bound as the constructor takes it: one number where all are equal."""
    bound, finite = (_one(bound), _one(finite)) if _is_repeated(bound) else (bound, finite)
    if not finite.all() and bound.dtype.kind != "f":
        bound = np.where(finite, bound.astype(object), infinity)
    if bound.dtype.kind == "b":  # the constructor takes 0 and 1, not False and True
        bound = bound.astype(np.int8)
    same = bound.size > 0 and bool((bound == bound.flat[0]).all())
    if not same:
        return bound
    first: float | np.integer | np.floating = bound.flat[0]
    return first.item() if isinstance(first, np.integer | np.floating) and first.dtype.itemsize <= 8 else first


def _short(bound: Array) -> str:
    bound = _one(bound)
    uniform = bound.size != 0 and bound.min() == bound.max()
    return str(bound.min()) if uniform else str(bound)


def _box_dtype(dtype: npt.DTypeLike | None) -> np.dtype[np.generic]:
    if dtype is None:
        raise InvalidSpace("Box dtype: expected an integer, floating or bool dtype, got None; name one")
    found = np.dtype(dtype)
    if found.kind not in "iufb":
        raise InvalidSpace(f"Box dtype: expected an integer, floating or bool dtype, got {found}")
    return found


def _box_shape(low: Bound, high: Bound, shape: Sequence[int] | None) -> tuple[int, ...]:
    if shape is not None:
        if not isinstance(shape, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidType(f"Box shape: expected a sequence of integers, got {shorten(shape)}")
        if not all(isinstance(dim, int | np.integer) for dim in shape):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidType(f"Box shape: expected integers, got {shorten(tuple(shape))}")
        return tuple(int(dim) for dim in shape)
    shapes = {bound.shape for bound in (low, high) if isinstance(bound, np.ndarray)}
    if len(shapes) > 1:
        raise InvalidSpace(f"Box: expected low and high of one shape, got {np.shape(low)} and {np.shape(high)}")
    if shapes:
        return shapes.pop()
    if is_real(low) and is_real(high):
        return (1,)
    raise InvalidSpace(
        f"Box: expected low and high to be numbers or NumPy arrays, got {shorten(low)} and {shorten(high)}; "
        "turn lists into arrays with np.array, or name the shape"
    )


def is_real(x: object) -> bool:
    """Whether `x` is a scalar number (a bool only as NumPy's)."""
    if is_scalar(x):
        return x.dtype.kind in "iufb"  # NumPy counts spans of time among its integers
    return isinstance(x, int | float) and not isinstance(x, bool)


def _bound(
    name: str, value: object, infinity: float, shape: tuple[int, ...], dtype: np.dtype[np.generic]
) -> tuple[Array, Array]:
    """A bound as an array of the space's dtype, and where it is finite."""
    if is_real(value) and prod(shape) > LARGE_BOX_SIZE:
        lengths = (1,) * len(shape)
        array, finite = _bound(name, np.full(lengths, value), infinity, lengths, dtype)
        return np.broadcast_to(array, shape), np.broadcast_to(finite, shape)
    if is_real(value):
        array: Array = np.full(shape, value)
    elif is_array(value) and (value.dtype.kind in "fiub" or all(map(is_real, value.flat))):
        array = value
    else:
        raise InvalidSpace(f"Box {name}: expected a number or a numeric NumPy array, got {shorten(value)}")
    if array.shape != shape:
        raise InvalidSpace(f"Box {name}: expected shape {shape}, got {array.shape}")
    if array.dtype.kind == "f" and np.isnan(array).any():
        raise InvalidSpace(f"Box {name}: expected numbers or infinities, got NaN in {shorten(array)}")
    finite = array < infinity if infinity > 0 else array > infinity
    if not finite.all():
        array = _fill_infinite(name, array, finite, infinity, dtype)
    else:
        _check_range(name, array, dtype)
    return array.astype(dtype), np.asarray(finite)


def _fill_infinite(name: str, array: Array, finite: Array, infinity: float, dtype: np.dtype[np.generic]) -> Array:
    if dtype.kind == "f":
        return array
    if dtype.kind != "i":
        raise InvalidSpace(
            f"Box {name}: expected finite bounds for {dtype}, got {infinity}; use a signed integer or a float dtype"
        )
    limit = dtype_limits(dtype)[1 if infinity > 0 else 0]
    # Integers of mixed bounds go through an int64 copy: a double would round the finite ones.
    filled = np.full(array.shape, limit, dtype=np.int64)
    filled[finite] = array[finite].astype(np.int64)
    _check_range(name, filled, dtype)
    return filled


def _check_range(name: str, array: Array, dtype: np.dtype[np.generic]) -> None:
    least, most = dtype_limits(dtype)
    floats = array.dtype.kind == dtype.kind == "f"
    if array.dtype == dtype or (floats and array.dtype.itemsize < dtype.itemsize):
        return
    bad = (array < least) | (array > most)
    if floats:
        bad &= ~np.isinf(array)
    if bad.any():
        raise InvalidSpace(f"Box {name}: expected values within {dtype} ({least} to {most}), got {shorten(array)}")


def require_same(space: SpaceT, spaces: Sequence[Space[object]], *names: str) -> Sequence[SpaceT]:
    """`spaces`, which the caller knows to be of one class, checked to agree with `space` in these attributes."""
    for name in names:
        found = [getattr(one, name) for one in spaces]
        if any(one != getattr(space, name) for one in found):
            raise InvalidSpace(f"batch_differing: expected spaces of one {name}, got {shorten(found)}")
    return cast(Sequence[SpaceT], spaces)
