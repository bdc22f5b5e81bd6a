"""Payloads: a value as bytes, and back with the same types, between a batch and its own workers.

Plain data is msgpack, by the walk of `ludus.spaces.plain` in a dialect of its own: what msgpack lacks is marked by its
extension types, so that plain data is read without a second walk, in a tenth of the time. What cannot be carried so is
pickled: both ends are one program, forked or spawned by itself. Nothing that comes from elsewhere may be opened here.
"""

import pickle
from functools import lru_cache
from importlib.util import find_spec
from typing import Any

import msgspec
import numpy as np

from ludus.errors import CodecError, InvalidType, shorten
from ludus.spaces import GraphInstance
from ludus.spaces.array_space import Array
from ludus.spaces.kinds import class_of, is_scalar
from ludus.spaces.plain import LIMITS, MAX_EXACT_INTEGER, Dialect

__all__ = ["dumps", "loads", "pack", "unpack"]

_TUPLE, _ARRAY, _SCALAR, _GRAPH, _PICKLE, _MAP = range(1, 7)
_RAW = frozenset("biufcSUmM")
"""Kinds of dtypes whose bytes say everything."""
Ext = msgspec.msgpack.Ext
_encode = msgspec.msgpack.Encoder().encode


def pack(value: object) -> bytes:
    """A value as bytes.

    >>> unpack(pack({"seen": (1, np.float32(2)), "row": np.arange(2)}))
    {'seen': (1, np.float32(2.0)), 'row': array([0, 1])}
    """
    try:
        return _encode(_walk(value, "value", LIMITS.depth))
    except (CodecError, UnicodeError, OverflowError):  # a list that holds itself; half a surrogate
        return _encode(_pickled(value))


def unpack(data: bytes | bytearray | memoryview) -> Any:
    """The value that `pack` was given."""
    return _decode(data)


class _Exact(Dialect):
    """Values of the types themselves: one of a class of its own comes back as one of that class."""

    def of_a_class(self, value: object, path: str, depth: int) -> object:
        """A number of NumPy's, or what only pickle carries."""
        if is_scalar(value):
            return _write_array(self, value, path, depth)
        return _pickled(value)


def _pickled(value: object) -> object:
    return Ext(_PICKLE, dumps(value, "value"))


def _write_int(dialect: Dialect, value: int, path: str, depth: int) -> object:
    del dialect, path, depth
    return value if -(1 << 63) <= value < 1 << 64 else _pickled(value)


def _write_array(dialect: Dialect, value: Array | np.generic, path: str, depth: int) -> object:
    del dialect, path, depth
    if value.dtype.kind not in _RAW:
        return _pickled(value)
    code = _ARRAY if type(value) is np.ndarray else _SCALAR
    return Ext(code, _head(value.dtype, value.shape) + value.tobytes())


def _write_dict(dialect: Dialect, value: dict[object, Any], path: str, depth: int) -> object:
    as_is, walk = dialect.as_is, dialect.walk
    found: dict[str, object] = {}
    for key, one in value.items():
        if type(key) is not str:
            return Ext(_MAP, _encode([[walk(key, path, depth), walk(one, path, depth)] for key, one in value.items()]))
        kind = class_of(one)
        small = kind in as_is or (kind is int and -MAX_EXACT_INTEGER <= one <= MAX_EXACT_INTEGER)
        found[key] = one if small else walk(one, path, depth)
    return found


_walk = _Exact(
    (type(None), bool, int, float, str, bytes),
    {
        int: _write_int,
        np.ndarray: _write_array,
        np.generic: _write_array,
        dict: _write_dict,
        list: lambda dialect, value, path, depth: dialect.items(value, path, depth),
        tuple: lambda dialect, value, path, depth: Ext(_TUPLE, _encode(dialect.items(value, path, depth))),
        GraphInstance: lambda dialect, value, path, depth: Ext(_GRAPH, _encode(dialect.items(value, path, depth))),
    },
).walk


@lru_cache(1024)  # writing out a dtype takes longer than all the rest
def _head(dtype: np.dtype[np.generic], shape: tuple[int, ...]) -> bytes:
    text = f"{dtype.str}{list(shape)}".encode()
    return bytes([len(text)]) + text


@lru_cache(1024)
def _layout(head: bytes) -> tuple[np.dtype[np.generic], tuple[int, ...], bool]:
    """The dtype and shape in a head, and whether there are any bytes after it."""
    dtype, _, shape = head.decode().rpartition("[")
    lengths = tuple(int(one) for one in shape[:-1].split(",") if one)
    return np.dtype(dtype), lengths, 0 not in lengths and np.dtype(dtype).itemsize > 0


def _restored(code: int, data: memoryview) -> object:
    """What a mark stands for."""
    if code == _ARRAY:
        return _array(data)
    if code == _SCALAR:
        return _array(data)[()]
    if code == _TUPLE:
        return tuple(_decode(data))
    if code == _GRAPH:
        return GraphInstance(*_decode(data))
    if code == _MAP:
        return {key: one for key, one in _decode(data)}  # noqa: C416  (pairs of lists)
    return loads(data)


_decode = msgspec.msgpack.Decoder(ext_hook=_restored).decode


def _array(data: memoryview) -> Array:
    start = data[0] + 1
    dtype, shape, filled = _layout(bytes(data[1:start]))
    return np.frombuffer(data[start:], dtype).reshape(shape).copy() if filled else np.zeros(shape, dtype)


# --- what only pickle carries ---


def dumps(value: object, what: str) -> bytes:
    """A value pickled, by cloudpickle where the standard library cannot and it is installed."""
    try:
        return pickle.dumps(value, protocol=5)
    except Exception as error:
        if find_spec("cloudpickle") is None:
            raise InvalidType(
                f"{what}: expected what can be pickled, to be sent to or from a worker process, "
                f"got {shorten(value)} ({error}); define it at the top of a module, or install cloudpickle"
            ) from error
    import cloudpickle

    try:
        return cloudpickle.dumps(value, protocol=5)
    except Exception as error:
        raise InvalidType(
            f"{what}: expected what can be pickled, to be sent to or from a worker process, "
            f"got {shorten(value)} ({error})"
        ) from error


def loads(data: bytes | bytearray | memoryview) -> Any:
    """The value that was pickled, by this program's own worker or for it."""
    return pickle.loads(data)  # noqa: S301
