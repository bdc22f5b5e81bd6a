"""`ArraySpace`: what all spaces of fixed-size numeric arrays share — stacking, buffers, bytes and lists."""

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from math import isfinite, prod
from sys import byteorder
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard, TypeVar, cast

import numpy as np
import numpy.typing as npt

from ludus.errors import CodecError, InvalidType, shorten
from ludus.spaces.kinds import Array, is_array
from ludus.spaces.slot import Allocate
from ludus.spaces.space import Space, Violation, known_space

if TYPE_CHECKING:
    from ludus.spaces.box import Box
__all__ = ["Array", "ArraySpace", "array_from_plain", "as_array", "dtype_limits", "nested_schema", "plain_from_array"]

T_co = TypeVar("T_co", covariant=True)
LITTLE = byteorder == "little"
RAW = (bytes, bytearray, memoryview)
MAX_ELEMENTS = 100
"""How many wrong elements of one array are named one by one; the rest are counted."""


class ArraySpace(Space[T_co]):
    """A space whose values are arrays of one shape and dtype: batches are arrays, the wire carries raw bytes.

    >>> class Simplex(ArraySpace[np.ndarray]):
    ...     def __init__(self, n, seed=None):
    ...         self.n = n
    ...         super().__init__((n,), np.float32, seed)
    ...     def sample(self, mask=None, probability=None):
    ...         return self.np_random.dirichlet(np.ones(self.n)).astype(np.float32)
    ...     def contains(self, x):
    ...         return isinstance(x, np.ndarray) and x.shape == self.shape and abs(x.sum() - 1) < 1e-4
    >>> space = Simplex(3, seed=0)
    >>> space.concatenate([space.sample(), space.sample()]).shape
    (2, 3)
    """

    _shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of a value."""
        return self._shape

    @property
    def _size(self) -> int:
        """How many numbers a value holds; `flatdim` may be more, where the flat form is one-hot."""
        return prod(self._shape)

    @property
    def is_np_flattenable(self) -> bool:
        """Always true: an array flattens to an array."""
        return True

    @property
    def flatdim(self) -> int:
        """How many numbers a value has."""
        return prod(self._shape)

    @property
    def flat_dtype(self) -> np.dtype[np.generic]:
        """The dtype of a value."""
        return self.dtype

    def flatten(self, x: Any) -> Array:
        """The numbers of `x` in one row, copied."""
        return np.asarray(x, dtype=self.dtype).flatten()

    def unflatten(self, x: Any) -> T_co:
        """The array of this shape with those numbers."""
        return cast(T_co, np.asarray(x, dtype=self.dtype).reshape(self._shape))

    def flat_space(self) -> "Box":
        """A box of one row with the widest bounds the dtype has."""
        if self.dtype.kind == "f":
            low, high = -np.inf, np.inf
        else:
            low, high = dtype_limits(self.dtype)
        return known_space("Box")(low, high, shape=(self.flatdim,), dtype=self.dtype)

    def default(self) -> T_co:
        """All zeros."""
        return cast(T_co, np.zeros(self._shape, dtype=self.dtype))

    def iterate(self, items: Any) -> Iterator[Any]:
        """The rows of an array."""
        try:
            return iter(items)
        except TypeError as error:
            raise InvalidType(
                f"iterate over {self!r}: expected an array with a leading lane axis, got {items!r}"
            ) from error

    def concatenate(self, items: Iterable[Any], out: Any = None) -> Array:
        """The values stacked along a new first axis."""
        return np.stack(list(items), axis=0, out=out)

    def empty(self, n: int = 1, fn: Callable[..., Array] = np.zeros) -> Array:
        """An array of `n` values."""
        return fn((n, *self._shape), dtype=self.dtype)

    def encode(self, x: Any, *, binary: bool = False) -> object:
        """Nested lists (infinities and NaN as strings), or little-endian bytes when `binary`."""
        return plain_from_array(np.asarray(x, dtype=self.dtype), binary=binary)

    def decode(self, data: object) -> T_co:
        """The array in nested lists or bytes, of exactly this shape."""
        value: Any = array_from_plain(data, self.dtype, self._shape, repr(self))
        return value

    def encode_many(self, items: npt.ArrayLike, *, binary: bool = False) -> object:
        """The whole stack at once."""
        binary = binary and self._size > 0  # with no bytes an element, the bytes could not tell how many there are
        return plain_from_array(np.asarray(items, dtype=self.dtype), binary=binary)

    def decode_many(self, data: object) -> Array:
        """The whole stack at once, however many values it has."""
        return array_from_plain(data, self.dtype, (-1, *self._shape), repr(self))

    def json_schema(self) -> dict[str, object]:
        """Nested arrays of numbers with fixed lengths."""
        return nested_schema(self._shape, {"type": "number" if self.dtype.kind == "f" else "integer"})

    def create_shared(self, n: int, allocate: Allocate) -> object:
        """One block for all lanes."""
        return allocate(max(1, n * self._size * self.dtype.itemsize))

    def read_shared(self, memory: Any, n: int) -> Array:
        """A view: it changes when a lane is written."""
        return np.frombuffer(memory, dtype=self.dtype, count=n * self._size).reshape(n, *self._shape)

    def write_shared(self, memory: Any, lane: int, x: npt.ArrayLike) -> None:
        """Copy `x` into its lane."""
        size = self._size
        row = np.frombuffer(memory, dtype=self.dtype, count=size, offset=lane * size * self.dtype.itemsize)
        row[...] = np.asarray(x, dtype=self.dtype).reshape(size)

    def _element_violations(
        self, path: str, x: Array, bad: Array, expected: Callable[[tuple[int, ...]], str]
    ) -> list[Violation]:
        where = [tuple(int(i) for i in row) for row in np.argwhere(bad)]
        found = [
            Violation(path + "".join(f"[{i}]" for i in at), expected(at), str(x[at])) for at in where[:MAX_ELEMENTS]
        ]
        if len(where) > MAX_ELEMENTS:
            found.append(Violation(path, repr(self), f"{len(where) - MAX_ELEMENTS} more elements out of range"))
        return found

    def _structure_violation(self, x: object, path: str) -> Violation | None:
        """What is wrong with the type, dtype or shape of `x`, before its elements are looked at."""
        if not is_array(x):
            return self._violation(x, path)
        array: Array = x
        if array.shape != self._shape:
            return Violation(path, f"shape {self._shape}", f"shape {array.shape}")
        if not np.can_cast(array.dtype, self.dtype):
            return Violation(path, f"dtype {self.dtype} or one that casts to it safely", f"dtype {array.dtype}")
        return None


@lru_cache(maxsize=64)
def dtype_limits(dtype: np.dtype[np.generic]) -> tuple[float, float]:
    """The least and greatest finite value of a numeric dtype, as Python numbers: whole ones of an integer dtype."""
    if dtype.kind == "b":
        return 0, 1
    if dtype.kind == "f":
        return float(np.finfo(dtype.str).min), float(np.finfo(dtype.str).max)
    return int(np.iinfo(dtype.str).min), int(np.iinfo(dtype.str).max)


def as_array(x: object) -> Array | None:
    """A sequence as an array; None when its rows differ in length."""
    try:
        return np.array(x)
    except ValueError:
        return None


def plain_from_array(x: Array | np.generic, *, binary: bool = False) -> object:
    """An array as nested lists, or as little-endian bytes when `binary`."""
    if binary:
        if LITTLE and x.dtype.byteorder != ">":  # as nearly always
            return x.tobytes()
        return np.ascontiguousarray(x, dtype=x.dtype.newbyteorder("<")).tobytes()
    if x.dtype.kind != "f":
        return x.tolist()
    if x.dtype.itemsize > 8:  # a Python float cannot hold it
        return x.astype(str).tolist()
    return x.tolist() if np.isfinite(x).all() else _with_names(x.tolist())


Nested: TypeAlias = "float | list[Nested]"
"""A number, or lists of numbers inside one another."""


def _with_names(data: Nested) -> object:
    """Infinities and NaN, which JSON lacks, by name."""
    if isinstance(data, list):
        return [_with_names(one) for one in data]
    if isfinite(data):
        return data
    return "NaN" if data != data else ("Infinity" if data > 0 else "-Infinity")


def _is_raw(data: object) -> "TypeGuard[bytes | bytearray | memoryview[int]]":
    return isinstance(data, RAW)


def array_from_plain(data: object, dtype: np.dtype[np.generic], shape: tuple[int, ...], what: str) -> Array:
    """The array that `plain_from_array` wrote; -1 as first length takes any. Raises CodecError for all else."""
    many = shape[:1] == (-1,)
    if _is_raw(data):
        size = prod(shape[1:] if many else shape) * dtype.itemsize
        fits = size > 0 and len(data) % size == 0 if many else len(data) == size
        if not fits:
            raise CodecError(f"{what}: expected {size} bytes a value, got {len(data)}")
        if dtype.kind == "b" and bytes(data).strip(b"\0\1"):  # NumPy would trust them
            raise CodecError(f"{what}: expected bytes of 0 and 1, got others")
        if LITTLE and dtype.byteorder != ">":
            if not many:
                return np.ndarray(shape, dtype, bytearray(data))  # one call instead of three
            return np.frombuffer(data, dtype).reshape(shape).copy()
        return np.frombuffer(data, dtype=dtype.newbyteorder("<")).astype(dtype).reshape(shape)
    array = _array_from_lists(data, dtype, what)
    if many and array.ndim:
        shape = (len(array), *shape[1:])
    if array.size == prod(shape) == 0:  # lists cannot tell (0,) from (0, 2)
        array = array.reshape(shape)
    if array.shape != shape:
        raise CodecError(f"{what}: expected shape {shape}, got {array.shape}")
    return array


def _array_from_lists(data: object, dtype: np.dtype[np.generic], what: str) -> Array:
    try:
        if _kind_fits(data, np.asarray(data), dtype):
            with np.errstate(over="raise"):
                return np.asarray(data, dtype=dtype)
        reason = None
    except (ValueError, TypeError, ArithmeticError) as error:
        reason = error
    raise CodecError(f"{what}: expected numbers of dtype {dtype}, got {shorten(data)}") from reason


def _kind_fits(data: object, array: Array, dtype: np.dtype[np.generic]) -> bool:
    """Whether lists, which NumPy reads as `array`, may become `dtype` without a silent change of value."""
    if array.size == 0:
        return True
    if dtype == np.uint64 and array.dtype.kind == "f":  # so NumPy reads small and huge integers together
        return all(type(one) is int for one in np.asarray(data, dtype=object).flat)
    allowed = {"b": "b", "i": "iu", "u": "iu", "f": "iufU"}[dtype.kind]
    return array.dtype.kind in allowed


def nested_schema(shape: tuple[int, ...], leaf: dict[str, object]) -> dict[str, object]:
    """The JSON schema of nested arrays of that shape."""
    schema: dict[str, object] = leaf
    for length in reversed(shape):
        schema = {"type": "array", "items": schema, "minItems": length, "maxItems": length}
    return schema
