"""Values: plain data and arrays, as msgpack carries them. Types survive the way; nothing is pickled, no name imported.

None, bool, int, float, text, bytes, lists and dictionaries with text for keys are what they are. What msgpack lacks is
a dictionary with one tag: `$tuple`, `$set`, `$dict` (other keys), `$int` (beyond 64 bits), `$array` and `$scalar`.
"""

from collections.abc import Callable, Mapping
from math import prod
from typing import Any

import numpy as np

from ludus.errors import CodecError, shorten

__all__ = ["decode_value", "encode_value"]

DEPTH = 24
"""Containers inside one another, tags counted: a message around them still fits a frame."""
MOST_KEYS = 4096
"""How many entries a `$set` or a `$dict` may have: their keys are hashed by rules that a stranger can play against."""
LONGEST_INT = 1 << 16
"""Hexadecimal digits."""
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
NAMES = ("bool", *INTEGERS, "float16", "float32", "float64", "longdouble", "complex64", "complex128")
DTYPES = {name: np.dtype(name) for name in NAMES}


def encode_value(value: Any, path: str = "value") -> Any:
    r"""A value as data that msgpack carries; CodecError names what cannot travel.

    >>> encode_value({"at": (1, 2.5), "seen": np.zeros(2, np.int8)})
    {'at': {'$tuple': [1, 2.5]}, 'seen': {'$array': b'\x00\x00', 'dtype': 'int8', 'shape': [2]}}
    >>> encode_value({"hook": print}, "options")
    Traceback (most recent call last):
    ludus.errors.CodecError: options['hook']: expected numbers, text, bytes, arrays or containers of these, got ...
    """
    try:
        return _encode(value, path, DEPTH)
    except RecursionError as error:  # a dictionary that holds itself would go on for ever; depth stops it first
        raise CodecError(f"{path}: expected a few levels of nesting, got more") from error


def _encode(value: Any, path: str, depth: int) -> Any:
    kind = type(value)
    if value is None or kind is bool or kind is float or kind is str or kind is bytes:
        return value
    if kind is int:
        return value if -(1 << 63) <= value < 1 << 64 else {"$int": f"{value:x}"}
    if depth <= 0:
        raise CodecError(f"{path}: expected at most {DEPTH} levels, got more")
    for known, write in _WRITERS:
        if isinstance(value, known):
            return write(value, path, depth - 1)
    raise CodecError(
        f"{path}: expected numbers, text, bytes, arrays or containers of these, got {shorten(value)}; "
        "only data crosses the channel"
    )


def _write_array(value: Any, path: str, depth: int) -> Any:
    del depth
    return {"$array": _bytes(value, path), "dtype": _name(value.dtype, path), "shape": list(value.shape)}


def _write_scalar(value: Any, path: str, depth: int) -> Any:
    del depth
    if value.dtype.kind in "US":  # text and bytes
        return value.item()
    return {"$scalar": _bytes(np.asarray(value), path), "dtype": _name(value.dtype, path)}


def _bytes(array: Any, path: str) -> bytes:
    _name(array.dtype, path)
    return np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")).tobytes()


def _name(dtype: Any, path: str) -> str:
    name = "longdouble" if dtype.type is np.longdouble else dtype.name
    if name not in DTYPES:
        raise CodecError(f"{path}: expected an array of numbers or bools, got dtype {dtype}")
    return name


def _write_mapping(value: Any, path: str, depth: int) -> Any:
    if all(type(key) is str and not key.startswith("$") for key in value):
        return {key: _encode(one, f"{path}[{key!r}]", depth) for key, one in value.items()}
    pairs = [[_encode(key, path, depth - 1), _encode(one, f"{path}[{key!r}]", depth - 1)] for key, one in value.items()]
    return {"$dict": pairs}


def _write_items(value: Any, path: str, depth: int) -> list[Any]:
    return [_encode(one, f"{path}[{place}]", depth) for place, one in enumerate(value)]


_WRITERS: tuple[tuple[Any, Callable[[Any, str, int], Any]], ...] = (
    (np.ndarray, _write_array),
    (np.generic, _write_scalar),
    (Mapping, _write_mapping),
    (list, _write_items),
    (tuple, lambda value, path, depth: {"$tuple": _write_items(value, path, depth - 1)}),
    ((set, frozenset), lambda value, path, depth: {"$set": _write_items(sorted(value, key=repr), path, depth - 1)}),
    (bool, lambda value, _, __: bool(value)),
    (int, lambda value, path, depth: _encode(int(value), path, depth)),  # an enum of integers, say
    (float, lambda value, _, __: float(value)),
    (str, lambda value, _, __: str.__str__(value)),
    ((bytes, bytearray, memoryview), lambda value, _, __: bytes(value)),
)


def decode_value(data: Any, path: str = "value") -> Any:
    r"""The value that `encode_value` wrote; CodecError, and nothing else, on any data. Arrays are the caller's own.

    >>> decode_value({"$scalar": b"\x07", "dtype": "int8"})
    np.int8(7)
    >>> decode_value({"$object": "os.system"})
    Traceback (most recent call last):
    ludus.errors.CodecError: value: expected one of the tags $array, $scalar, $tuple, $set, $dict, $int, got '$object'
    """
    try:
        return _decode(data, path, DEPTH)
    except RecursionError as error:
        raise CodecError(f"{path}: expected a few levels of nesting, got more") from error


def _decode(data: Any, path: str, depth: int) -> Any:
    if data is None or type(data) in (bool, int, float, str, bytes):
        return data
    if depth <= 0:
        raise CodecError(f"{path}: expected at most {DEPTH} levels, got more")
    if type(data) is list:
        return [_decode(one, f"{path}[{place}]", depth - 1) for place, one in enumerate(data)]
    if type(data) is not dict:
        raise CodecError(f"{path}: expected plain data, got {type(data).__name__}")
    tag = next(iter(data), "")
    if type(tag) is str and tag.startswith("$"):
        return _decode_tagged(data, tag, path, depth)
    for key in data:
        if type(key) is not str or key.startswith("$"):
            raise CodecError(f"{path}: expected text for keys, got {shorten(key)}")
    return {key: _decode(one, f"{path}[{shorten(key, 40)}]", depth - 1) for key, one in data.items()}


def _decode_tagged(data: dict[Any, Any], tag: str, path: str, depth: int) -> Any:
    known = _READERS.get(tag)
    if known is None:
        raise CodecError(f"{path}: expected one of the tags {', '.join(_READERS)}, got {shorten(tag)}")
    names, read = known
    if tuple(data) != names:
        raise CodecError(f"{path}: expected {' and '.join(names)}, got {shorten(list(data))}")
    return read(data, path, depth - 1)


def _read_array(data: Any, path: str, depth: int) -> Any:
    del depth
    shape = data["shape"]
    if type(shape) is not list or len(shape) > DEPTH or not all(type(one) is int and one >= 0 for one in shape):
        raise CodecError(f"{path}: expected a shape of up to {DEPTH} lengths, got {shorten(shape)}")
    return _array(data["$array"], data["dtype"], tuple(shape), path)


def _array(data: Any, name: Any, shape: tuple[int, ...], path: str) -> Any:
    dtype = DTYPES.get(name) if type(name) is str else None
    if dtype is None:
        raise CodecError(f"{path}: expected a dtype out of {', '.join(DTYPES)}, got {shorten(name)}")
    if type(data) is not bytes or len(data) != prod(shape) * dtype.itemsize:
        raise CodecError(f"{path}: expected the bytes of shape {shape} and dtype {name}, got {_size(data)}")
    if dtype.kind == "b" and data.strip(b"\0\1"):  # other bytes are no bools, and NumPy trusts them to be
        raise CodecError(f"{path}: expected bytes of 0 and 1 for bools, got {shorten(data)}")
    try:
        return np.frombuffer(data, dtype.newbyteorder("<")).astype(dtype).reshape(shape)
    except ValueError as error:  # lengths that no array can have, beside one of 0
        raise CodecError(f"{path}: expected a shape that an array can have, got {shape}") from error


def _size(data: Any) -> str:
    return f"{len(data)} bytes" if type(data) is bytes else type(data).__name__


def _list(data: Any, path: str) -> list[Any]:
    if type(data) is not list:
        raise CodecError(f"{path}: expected a list, got {type(data).__name__}")
    return data


def _keys(data: Any, path: str) -> list[Any]:
    if len(_list(data, path)) > MOST_KEYS:
        raise CodecError(f"{path}: expected at most {MOST_KEYS} entries, got {len(data)}")
    return data


def _read_set(data: Any, path: str, depth: int) -> Any:
    items = [_decode(one, path, depth) for one in _keys(data["$set"], path)]
    return _hashed(lambda: set(items), path)


def _read_dict(data: Any, path: str, depth: int) -> Any:
    pairs = _keys(data["$dict"], path)
    if not all(type(pair) is list and len(pair) == 2 for pair in pairs):
        raise CodecError(f"{path}: expected pairs of key and value, got {shorten(pairs)}")
    items = [(_decode(key, path, depth), _decode(one, path, depth)) for key, one in pairs]
    return _hashed(lambda: dict(items), path)


def _hashed(build: Callable[[], Any], path: str) -> Any:
    try:
        return build()
    except TypeError as error:
        raise CodecError(f"{path}: expected keys that can be hashed: {error}") from error


def _read_int(data: Any, path: str, depth: int) -> int:
    del depth
    text = data["$int"]
    try:
        if type(text) is str and len(text) <= LONGEST_INT:
            return int(text, 16)
    except ValueError:
        pass
    raise CodecError(f"{path}: expected a whole number in hexadecimal, got {shorten(text)}")


_READERS: dict[str, tuple[tuple[str, ...], Callable[[Any, str, int], Any]]] = {
    "$array": (("$array", "dtype", "shape"), _read_array),
    "$scalar": (
        ("$scalar", "dtype"),
        lambda data, path, _: _array(data["$scalar"], data["dtype"], (), path)[()],
    ),
    "$tuple": (
        ("$tuple",),
        lambda data, path, depth: tuple(_decode(one, path, depth) for one in _list(data["$tuple"], path)),
    ),
    "$set": (("$set",), _read_set),
    "$dict": (("$dict",), _read_dict),
    "$int": (("$int",), _read_int),
}
