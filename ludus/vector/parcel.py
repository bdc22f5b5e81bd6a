"""Parcels: a value as bytes, and back with the same types, between a batch and its own workers.

Plain data is msgpack, arrays are their raw bytes. What neither can carry is pickled: both ends are one program, forked
or spawned by itself. Nothing that comes from elsewhere may be opened here.
"""

import pickle
from functools import lru_cache
from importlib.util import find_spec
from typing import Any

import msgspec
import numpy as np

from ludus.errors import InvalidType, shorten
from ludus.spaces import GraphInstance

__all__ = ["dumps", "loads", "pack", "unpack"]

_TUPLE, _ARRAY, _SCALAR, _GRAPH, _PICKLE, _MAP = range(1, 7)
_PLAIN = frozenset({type(None), bool, float, str, bytes})
_RAW = frozenset("biufcSUmM")
"""Kinds of dtypes whose bytes say everything."""
Ext = msgspec.msgpack.Ext
_encode = msgspec.msgpack.Encoder().encode


def pack(value: Any) -> bytes:
    """A value as bytes.

    >>> unpack(pack({"seen": (1, np.float32(2)), "row": np.arange(2)}))
    {'seen': (1, np.float32(2.0)), 'row': array([0, 1])}
    """
    try:
        return _encode(_plain(value))
    except (UnicodeError, RecursionError, OverflowError):  # half a surrogate; a list that holds itself; 65 bits
        return _encode(Ext(_PICKLE, dumps(value, "value")))


def unpack(data: Any) -> Any:
    """The value that `pack` was given."""
    return _decode(data)


def _plain(value: Any) -> Any:
    """The value in what msgpack has, with a mark wherever that alone would lose the type."""
    kind: Any = type(value)
    whole: Any = value
    if kind in _PLAIN or (kind is int and -(2**63) <= value < 2**64):
        return value
    if kind is dict:
        return _plain_dict(value)
    if kind is np.ndarray and value.dtype.kind in _RAW:
        return Ext(_ARRAY, _head(value.dtype, value.shape) + value.tobytes())
    if kind is list:
        return [_plain(one) for one in value]
    if kind is tuple:
        return Ext(_TUPLE, _encode([_plain(one) for one in value]))
    if isinstance(value, np.generic) and value.dtype.kind in _RAW:
        return Ext(_SCALAR, _head(value.dtype, ()) + value.tobytes())
    if kind is GraphInstance:
        return Ext(_GRAPH, _encode([_plain(one) for one in whole]))
    return Ext(_PICKLE, dumps(value, "value"))


def _plain_dict(value: dict[Any, Any]) -> Any:
    plain: dict[str, Any] = {}
    for key, one in value.items():
        if type(key) is not str:
            return Ext(_MAP, _encode([[_plain(key), _plain(one)] for key, one in value.items()]))
        plain[key] = _plain(one)
    return plain


@lru_cache(1024)  # writing out a dtype takes longer than all the rest
def _head(dtype: np.dtype[Any], shape: tuple[int, ...]) -> bytes:
    text = f"{dtype.str}{list(shape)}".encode()
    return bytes([len(text)]) + text


@lru_cache(1024)
def _layout(head: bytes) -> tuple[np.dtype[Any], tuple[int, ...], bool]:
    """The dtype and shape in a head, and whether there are any bytes after it."""
    dtype, _, shape = head.decode().rpartition("[")
    lengths = tuple(int(one) for one in shape[:-1].split(",") if one)
    return np.dtype(dtype), lengths, 0 not in lengths and np.dtype(dtype).itemsize > 0


def _restored(code: int, data: memoryview) -> Any:
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


_decode: Any = msgspec.msgpack.Decoder(ext_hook=_restored).decode


def _array(data: memoryview) -> Any:
    start = data[0] + 1
    dtype, shape, filled = _layout(bytes(data[1:start]))
    return np.frombuffer(data[start:], dtype).reshape(shape).copy() if filled else np.zeros(shape, dtype)


# --- what only pickle carries ---


def dumps(value: Any, what: str) -> bytes:
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


def loads(data: Any) -> Any:
    """The value that was pickled, by this program's own worker or for it."""
    return pickle.loads(data)  # noqa: S301
