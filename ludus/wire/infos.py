"""Infos of a batch as data: columns of numbers are arrays, columns of anything else one entry for each lane.

`final_obs` holds observations, which their space's codec writes.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ludus.errors import CodecError, shorten
from ludus.spaces.plain import LIMITS, decode_value, encode_value
from ludus.wire.space_codec import SpaceCodec

__all__ = ["read_infos", "write_infos"]

OBJECTS = "$objects"
FINAL = "final_obs"


def write_infos(
    infos: Any, write_final: Callable[[Any], Any], path: str = "info", depth: int = LIMITS.depth
) -> dict[str, Any]:
    """The infos of a batch as data; CodecError names what cannot travel.

    >>> from ludus.spaces import Discrete
    >>> codec = SpaceCodec(Discrete(5), "final_obs")
    >>> last = np.array([None, 3], dtype=object)
    >>> write_infos({"final_obs": last, "_final_obs": np.array([False, True])}, codec.write)["final_obs"]
    {'$objects': [None, [3]]}
    """
    if not isinstance(infos, dict) or depth <= 0:
        raise CodecError(f"{path}: expected a dictionary of at most {LIMITS.depth} levels, got {shorten(infos)}")
    found: dict[str, Any] = {}
    for key, value in infos.items():
        if type(key) is not str or key.startswith("$"):
            raise CodecError(f"{path}: expected text that does not begin with $ for keys, got {shorten(key)}")
        where = f"{path}[{key!r}]"
        if key == FINAL:
            found[key] = {OBJECTS: [None if one is None else [write_final(one)] for one in _lanes(value, where)]}
        elif isinstance(value, dict):
            found[key] = write_infos(value, write_final, where, depth - 1)
        elif isinstance(value, np.ndarray) and value.dtype == object:
            found[key] = {OBJECTS: [None if one is None else [encode_value(one, where)] for one in value]}
        else:
            found[key] = encode_value(value, where)
    return found


def read_infos(
    data: Any, finals: SpaceCodec, count: int, path: str = "info", depth: int = LIMITS.depth
) -> dict[str, Any]:
    """The infos of a batch of `count` lanes; CodecError or InvalidValue, and nothing else, on any data.

    >>> from ludus.spaces import Discrete
    >>> read_infos({"steps": {"$objects": [None, [7]]}}, SpaceCodec(Discrete(5)), 2)
    {'steps': array([None, 7], dtype=object)}
    """
    if type(data) is not dict or depth <= 0:
        raise CodecError(f"{path}: expected a dictionary of a few levels, got {shorten(data)}")
    found: dict[str, Any] = {}
    for key, value in data.items():
        where = f"{path}[{shorten(key, 40)}]"
        if type(key) is not str or key.startswith("$"):
            raise CodecError(f"{path}: expected text for keys, got {shorten(key)}")
        if type(value) is not dict:
            found[key] = decode_value(value, where)
        elif not _is_tagged(value):
            found[key] = read_infos(value, finals, count, where, depth - 1)
        elif list(value) == [OBJECTS]:
            read = finals.read if key == FINAL else lambda one, where=where: decode_value(one, where)
            found[key] = _column(value[OBJECTS], read, count, where)
        else:
            found[key] = _sized(decode_value(value, where), count, where)
    return found


def _is_tagged(data: dict[Any, Any]) -> bool:
    first = next(iter(data), "")
    return type(first) is str and first.startswith("$")


def _lanes(value: Any, where: str) -> Any:
    if not isinstance(value, np.ndarray | list | tuple):
        raise CodecError(f"{where}: expected one observation for each lane, got {shorten(value)}")
    return value


def _column(entries: Any, read: Any, count: int, where: str) -> Any:
    if type(entries) is not list or len(entries) != count:
        raise CodecError(f"{where}: expected {count} entries, got {shorten(entries)}")
    column = np.full(count, None, dtype=object)
    for lane, entry in enumerate(entries):
        if entry is not None:
            if type(entry) is not list or len(entry) != 1:
                raise CodecError(f"{where}[{lane}]: expected None or a list of one, got {shorten(entry)}")
            column[lane] = read(entry[0])
    return column


def _sized(value: Any, count: int, where: str) -> Any:
    if isinstance(value, np.ndarray) and (value.ndim < 1 or len(value) != count):
        raise CodecError(f"{where}: expected {count} lanes, got an array of shape {value.shape}")
    return value
