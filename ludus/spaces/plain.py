"""Plain data: values made of numbers, text, arrays and containers, as JSON or msgpack carries them, and back.

There is one walk through a value and one back; a `Dialect` says what its format has by itself and how the rest is
written. What a format lacks is an object with one tag: `$tuple`, `$set`, `$dict` (keys that are no text), `$int`,
`$array`, `$scalar`, `$float`, `$bytes`. Types survive the way. Nothing is pickled, and no name is ever imported.

Not here: values of a space, which the space writes; `ludus.spaces.description` adds spaces and dtypes to JSON, and
`ludus.spaces.shown` writes for those who know no tags.
"""

from binascii import a2b_base64, b2a_base64  # what base64 calls, without it: `import ludus` is to be quick
from collections.abc import Callable, Iterable, Mapping, Sized
from math import isfinite
from typing import Any, Final, NamedTuple, NoReturn, TypeGuard, TypeVar

import numpy as np

from ludus.errors import CodecError, LudusError, shorten
from ludus.spaces.array_space import Array, array_from_plain, plain_from_array
from ludus.spaces.kinds import class_of, is_list

__all__ = [
    "BINARY",
    "MAX_EXACT_INTEGER",
    "JSON",
    "LIMITS",
    "Dialect",
    "PlainLimits",
    "Reader",
    "Write",
    "decode_value",
    "encode_value",
]


KeysT = TypeVar("KeysT", bound=Sized)


def _is_buffer(value: object) -> "TypeGuard[bytearray | memoryview[int]]":
    return isinstance(value, bytearray | memoryview)


class PlainLimits(NamedTuple):
    """What data from strangers may ask for."""

    depth: int = 24
    """Containers inside one another, tags counted: a message around them still fits a frame."""
    keys: int = 4096
    """Entries of a `$set` or a `$dict`: their keys are hashed by rules that a stranger can play against."""
    digits: int = 1 << 16
    """Hexadecimal digits of an `$int`."""


LIMITS: Final = PlainLimits()
MAX_EXACT_INTEGER: Final = 1 << 53
"""Whole numbers up to here are the same in every format, a browser's too."""
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
NUMBERS = ("bool", *INTEGERS, "float16", "float32", "float64", "longdouble")
COMPLEX = ("complex64", "complex128")

Write = Callable[["Dialect", Any, str, int], object]
"""Writes a value at a path, whose parts may have so many levels."""


class Reader(NamedTuple):
    """What stands beside a tag, and what reads the object."""

    names: tuple[str, ...]
    read: Callable[["Dialect", dict[str, object], str, int], object]


class Dialect:
    """One way to write values as plain data, and to read them back.

    `carried` are the types that the format has by itself, `writers` says how others are written (or some of those, in
    another way), `readers` which tags are read. What is not named there is neither written nor read: data from a
    stranger makes no space and no dtype unless the dialect admits them.

    >>> JSON.write({"shape": (2, 3), "top": float("inf")})
    {'shape': {'$tuple': [2, 3]}, 'top': {'$float': 'Infinity'}}
    >>> JSON.read({"$tuple": [2, {"$bytes": "QQ=="}]})
    (2, b'A')
    """

    error: type[LudusError] = CodecError
    """What is raised for a value that cannot be written."""

    def __init__(
        self,
        carried: Iterable[type],
        writers: Mapping[type, Write],
        readers: Mapping[str, Reader] | None = None,
        *,
        dtypes: Iterable[str] = NUMBERS,
        objects: bool = False,
        expected: str = "numbers, text, bytes, arrays or containers of these",
        limits: PlainLimits = LIMITS,
    ) -> None:
        self.carried, self.writers, self.readers = frozenset(carried), dict(writers), dict(readers or {})
        self.dtypes = {name: np.dtype(name) for name in dtypes}
        self.objects, self.expected, self.limits = objects, expected, limits
        """`objects`: whether there are arrays of objects, item by item."""
        self.as_is = self.carried - self.writers.keys()
        """Types whose values stay what they are."""
        self._names = {dtype: name for name, dtype in self.dtypes.items()}
        self._exact = {dtype.type: writers[np.generic] for dtype in self._names if np.generic in writers} | self.writers
        self._bases = tuple((kind, write) for kind, write in self.writers.items() if kind not in LEAVES)

    def admitting(
        self, writers: Mapping[type, Write], readers: Mapping[str, Reader], expected: str, *, objects: bool = False
    ) -> "Dialect":
        """The same dialect with more that it writes and reads."""
        return Dialect(
            self.carried,
            {**writers, **self.writers},
            {**self.readers, **readers},
            dtypes=self.dtypes,
            objects=self.objects or objects,
            expected=expected,
            limits=self.limits,
        )

    # --- writing ---

    def write(self, value: Any, path: str = "value", around: int = 0) -> Any:
        """A value as plain data, which will have so many levels around it; `error` names what cannot be written."""
        kind = class_of(value)
        if kind in self.as_is or (kind is int and -MAX_EXACT_INTEGER <= value <= MAX_EXACT_INTEGER):
            return value
        try:
            return self.walk(value, path, self.limits.depth - around)
        except RecursionError as error:
            raise self.error(f"{path}: expected a few levels of nesting, got more") from error

    def walk(self, value: Any, path: str, depth: int) -> object:
        """A value inside another, which may have so many levels."""
        kind = class_of(value)
        if kind in self.as_is or (kind is int and -MAX_EXACT_INTEGER <= value <= MAX_EXACT_INTEGER):
            return value
        write = self._exact.get(kind)
        if depth <= 0 and kind not in LEAVES:
            return self.too_deep(path)
        return self.of_a_class(value, path, depth - 1) if write is None else write(self, value, path, depth - 1)

    def of_a_class(self, value: object, path: str, depth: int) -> object:
        """A value of a class of its own: as one of the class that it is derived from."""
        for kind, write in self._bases:
            if isinstance(value, kind):
                return write(self, value, path, depth)
        for kind, plain in LEAVES.items():
            if isinstance(value, kind):
                return self.walk(plain(value), path, depth)
        if _is_buffer(value):
            return self.walk(bytes(value), path, depth)
        return self.unknown(value, path)

    def unknown(self, value: object, path: str) -> object:
        """What becomes of that which is no data: it is refused."""
        self.refuse(f"{path}: expected {self.expected}, got {shorten(value)}; only such values can be written")

    def too_deep(self, path: str) -> object:
        """What becomes of that which lies too deep: it is refused."""
        self.refuse(f"{path}: expected at most {self.limits.depth} levels, got more")

    def refuse(self, why: str) -> NoReturn:
        """Raise what is raised for a value that cannot be written."""
        raise self.error(why)

    def items(self, values: Iterable[Any], path: str, depth: int) -> list[object]:
        """Values one after another."""
        as_is, walk = self.as_is, self.walk
        return [
            one
            if (kind := class_of(one)) in as_is or (kind is int and -MAX_EXACT_INTEGER <= one <= MAX_EXACT_INTEGER)
            else walk(one, f"{path}[{place}]", depth)
            for place, one in enumerate(values)
        ]

    def dtype_name(self, dtype: np.dtype[np.generic], path: str) -> str:
        """The name of a dtype that is written."""
        name = self._names.get(dtype)
        if name is None:
            name = self._names.get(dtype.newbyteorder("=")) if dtype.kind in "iufc" else None
        if name is None:
            self.refuse(f"{path}: expected a numeric array, got dtype {dtype}")
        return name

    # --- reading ---

    def read(self, data: object, path: str = "value") -> Any:
        """The value that `write` was given; CodecError, and nothing else, on any data. Arrays are the caller's own."""
        if type(data) in self.carried:
            return data
        try:
            return self.part(data, path, self.limits.depth)
        except RecursionError as error:
            raise CodecError(f"{path}: expected a few levels of nesting, got more") from error

    def part(self, data: Any, path: str, depth: int) -> object:
        """The value in data that is part of other data."""
        kind = class_of(data)
        carried = self.carried
        if kind in carried:
            return data
        if depth <= 0:
            raise CodecError(f"{path}: expected at most {self.limits.depth} levels, got more")
        if kind is list:
            return self.parts(data, path, depth - 1)
        if kind is not dict:
            raise CodecError(f"{path}: expected plain data, got a {kind.__name__}")
        for key in data:
            if type(key) is not str:
                raise CodecError(f"{path}: expected text for keys, got {shorten(key)}")
            if key.startswith("$"):
                return self._tagged(data, key, path, depth - 1)
        return {
            key: one if type(one) in carried else self.part(one, f"{path}[{shorten(key, 40)}]", depth - 1)
            for key, one in data.items()
        }

    def parts(self, data: Any, path: str, depth: int) -> list[object]:
        """The values in a list."""
        if class_of(data) is not list:
            raise CodecError(f"{path}: expected a list, got {class_of(data).__name__}")
        carried, part = self.carried, self.part
        return [one if type(one) in carried else part(one, f"{path}[{place}]", depth) for place, one in enumerate(data)]

    def _tagged(self, data: dict[str, object], tag: str, path: str, depth: int) -> object:
        known = self.readers.get(tag)
        if known is None:
            raise CodecError(f"{path}: expected one of the tags {', '.join(self.readers)}, got {shorten(tag)}")
        if tuple(data) != known.names and data.keys() != set(known.names):
            raise CodecError(f"{path}: expected {' and '.join(known.names)}, got {shorten(list(data))}")
        try:
            return known.read(self, data, path, depth)
        except CodecError:
            raise
        except (TypeError, ValueError, LookupError, ArithmeticError) as error:
            raise CodecError(f"{path}: expected a well-formed {tag}, got {shorten(data)}: {error}") from error

    def keys(self, data: KeysT, path: str) -> KeysT:
        """What is hashed when it is read: not too many of them."""
        if len(data) > self.limits.keys:
            raise CodecError(f"{path}: expected at most {self.limits.keys} entries, got {len(data)}")
        return data

    def array(self, data: object, name: object, shape: tuple[int, ...], path: str) -> Array:
        """An array of its dtype's name, its shape, and its numbers in the form of the dialect."""
        dtype = self.dtypes.get(name) if type(name) is str else None
        if dtype is None:
            raise CodecError(f"{path}: expected a dtype out of {', '.join(self.dtypes)}, got {shorten(name)}")
        if (type(data) is bytes) is not (bytes in self.carried):
            raise CodecError(f"{path}: expected the numbers in this format's own form, got {type(data).__name__}")
        return array_from_plain(data, dtype, shape, path)


LEAVES: dict[type, Callable[[Any], object]] = {int: int, float: float, str: str.__str__, bytes: bytes}
"""What has no parts, and how one of a class of its own (an enum of numbers, say) becomes plain."""


# --- what both dialects share ---


def _write_items(dialect: Dialect, value: Iterable[object], path: str, depth: int) -> object:
    return dialect.items(value, path, depth)


def _write_tuple(dialect: Dialect, value: Iterable[object], path: str, depth: int) -> object:
    return {"$tuple": dialect.items(value, path, depth - 1)}


def _write_set(dialect: Dialect, value: set[object] | frozenset[object], path: str, depth: int) -> object:
    return {"$set": dialect.items(sorted(dialect.keys(value, path), key=repr), path, depth - 1)}


def _write_mapping(dialect: Dialect, value: Mapping[object, Any], path: str, depth: int) -> object:
    as_is, walk = dialect.as_is, dialect.walk
    found: dict[str, object] = {}
    for key, one in value.items():
        if type(key) is not str or key.startswith("$"):
            return _write_pairs(dialect, value, path, depth - 1)
        kind = class_of(one)
        small = kind in as_is or (kind is int and -MAX_EXACT_INTEGER <= one <= MAX_EXACT_INTEGER)
        found[key] = one if small else walk(one, f"{path}[{key!r}]", depth)
    return found


def _write_pairs(dialect: Dialect, value: Mapping[object, object], path: str, depth: int) -> object:
    walk, pairs = dialect.walk, dialect.keys(value, path).items()
    return {"$dict": [[walk(key, path, depth), walk(one, f"{path}[{key!r}]", depth)] for key, one in pairs]}


def _read_tuple(dialect: Dialect, data: dict[str, object], path: str, depth: int) -> object:
    return tuple(dialect.parts(data["$tuple"], path, depth))


def _read_set(dialect: Dialect, data: dict[str, Any], path: str, depth: int) -> object:
    return set(dialect.parts(dialect.keys(data["$set"], path), path, depth))


def _read_dict(dialect: Dialect, data: dict[str, Any], path: str, depth: int) -> object:
    given: object = dialect.keys(data["$dict"], path)
    pairs = [pair for pair in given if is_list(pair) and len(pair) == 2] if is_list(given) else []
    if not is_list(given) or len(pairs) < len(given):
        raise CodecError(f"{path}: expected pairs of key and value, got {shorten(given)}")
    return {dialect.part(key, path, depth): dialect.part(one, path, depth) for key, one in pairs}


def _write_array(dialect: Dialect, value: Array, path: str, depth: int) -> object:
    if value.dtype.kind == "O" and dialect.objects:
        items = dialect.items(value.ravel().tolist(), path, depth - 1)
        return {"$array": items, "dtype": "object", "shape": list(value.shape)}
    name = dialect.dtype_name(value.dtype, path)
    return {
        "$array": plain_from_array(value, binary=bytes in dialect.carried),
        "dtype": name,
        "shape": list(value.shape),
    }


def _write_scalar(dialect: Dialect, value: np.generic, path: str, depth: int) -> object:
    if value.dtype.kind in "US":  # text and bytes
        return dialect.walk(value.item(), path, depth)
    name = dialect.dtype_name(value.dtype, path)
    return {"$scalar": plain_from_array(value, binary=bytes in dialect.carried), "dtype": name}


def _read_array(dialect: Dialect, data: dict[str, object], path: str, depth: int) -> object:
    shape = _shape(dialect, data["shape"], path)
    if data["dtype"] == "object" and dialect.objects:
        return _objects(dialect.parts(data["$array"], path, depth), shape)
    return dialect.array(data["$array"], data["dtype"], shape, path)


def _objects(items: list[object], shape: tuple[int, ...]) -> Array:
    """An array of items, which may be lists and arrays themselves: NumPy would make more dimensions of them."""
    found = np.empty(len(items), dtype=object)
    for place, one in enumerate(items):
        found[place] = one
    return found.reshape(shape)


def _shape(dialect: Dialect, data: object, path: str) -> tuple[int, ...]:
    if is_list(data) and len(data) <= dialect.limits.depth:
        shape = tuple([one for one in data if type(one) is int and one >= 0])
        if len(shape) == len(data):
            return shape
    raise CodecError(f"{path}: expected a shape of up to {dialect.limits.depth} lengths, got {shorten(data)}")


def _read_scalar(dialect: Dialect, data: dict[str, object], path: str, depth: int) -> object:
    del depth
    return dialect.array(data["$scalar"], data["dtype"], (), path)[()]


WRITERS: dict[type, Write] = {
    np.ndarray: _write_array,
    np.generic: _write_scalar,
    dict: _write_mapping,
    Mapping: _write_mapping,
    list: _write_items,
    tuple: _write_tuple,
    set: _write_set,
    frozenset: _write_set,
}
READERS = {
    "$array": Reader(("$array", "dtype", "shape"), _read_array),
    "$scalar": Reader(("$scalar", "dtype"), _read_scalar),
    "$tuple": Reader(("$tuple",), _read_tuple),
    "$set": Reader(("$set",), _read_set),
    "$dict": Reader(("$dict",), _read_dict),
}


# --- msgpack ---


def _write_int(dialect: Dialect, value: int, path: str, depth: int) -> object:
    del depth
    if -(1 << 63) <= value < 1 << 64:
        return value
    text = f"{value:x}"
    if len(text) > dialect.limits.digits:
        dialect.refuse(f"{path}: expected at most {dialect.limits.digits} hexadecimal digits, got {len(text)}")
    return {"$int": text}


def _read_int(dialect: Dialect, data: dict[str, object], path: str, depth: int) -> int:
    del depth
    text = data["$int"]
    if type(text) is not str or len(text) > dialect.limits.digits:
        raise CodecError(f"{path}: expected a whole number in hexadecimal, got {shorten(text)}")
    return int(text, 16)


BINARY: Final = Dialect(
    (type(None), bool, int, float, str, bytes),
    {**WRITERS, int: _write_int},
    {**READERS, "$int": Reader(("$int",), _read_int)},
    dtypes=(*NUMBERS, *COMPLEX),
)
"""What msgpack carries: arrays are their bytes, little-endian; numbers beyond 64 bits are text."""

encode_value = BINARY.write
decode_value = BINARY.read


# --- JSON ---


def _write_float(dialect: Dialect, value: float, path: str, depth: int) -> object:
    del dialect, path, depth
    return value if isfinite(value) else {"$float": plain_from_array(np.asarray(value))}


def _write_base64(dialect: Dialect, value: bytes, path: str, depth: int) -> object:
    del dialect, path, depth
    return {"$bytes": b2a_base64(value, newline=False).decode()}


def _read_float(dialect: Dialect, data: dict[str, Any], path: str, depth: int) -> object:
    del dialect, path, depth
    return float(data["$float"])


def _read_base64(dialect: Dialect, data: dict[str, Any], path: str, depth: int) -> object:
    del dialect, path, depth
    return a2b_base64(data["$bytes"], strict_mode=True)


JSON: Final = Dialect(
    (type(None), bool, int, float, str),
    {**WRITERS, float: _write_float, bytes: _write_base64},
    {
        **READERS,
        "$float": Reader(("$float",), _read_float),
        "$bytes": Reader(("$bytes",), _read_base64),
    },
    objects=True,  # bounds of a space may be of whole numbers beside an infinity
)
"""What JSON carries: arrays are lists, bytes base64, and what is no finite number goes by name."""
