"""Infos of a batch as data: plain data like any other, but for `final_obs`, which its space's codec writes.

The columns of a batch are arrays of one entry for each lane; that is checked as they come in.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ludus.errors import CodecError, shorten
from ludus.spaces.array_space import Array
from ludus.spaces.kinds import is_array, is_dict, is_list, is_list_or_tuple
from ludus.spaces.plain import BINARY
from ludus.wire.space_codec import SpaceCodec

__all__ = ["read_infos", "write_infos"]

FINAL = "final_obs"
COLUMNS = BINARY.admitting({}, {}, BINARY.expected, objects=True)
"""Columns of what is no number are arrays of objects."""


def write_infos(infos: object, write_final: Callable[[object], object]) -> dict[str, object]:
    """The infos of a batch as data; CodecError names what cannot travel.

    >>> from ludus.spaces import Discrete
    >>> codec = SpaceCodec(Discrete(5), "final_obs")
    >>> last = np.array([None, 3], dtype=object)
    >>> write_infos({"final_obs": last, "_final_obs": np.array([False, True])}, codec.write)["final_obs"]
    [None, [3]]
    """
    if not is_dict(infos):
        raise CodecError(f"info: expected a dictionary, got {shorten(infos)}")
    strange = [key for key in infos if type(key) is not str or key.startswith("$")]
    if strange:
        raise CodecError(f"info: expected text that does not begin with $ for keys, got {shorten(strange[0])}")
    rest = COLUMNS.write({key: value for key, value in infos.items() if key != FINAL}, "info")
    return {key: _written(infos[key], write_final) if key == FINAL else rest[key] for key in infos}


def read_infos(data: object, finals: SpaceCodec, count: int) -> dict[str, Any]:
    """The infos of a batch of `count` lanes; CodecError or InvalidValue, and nothing else, on any data.

    >>> from ludus.spaces import Discrete
    >>> read_infos({"final_obs": [None, [3]]}, SpaceCodec(Discrete(5)), 2)
    {'final_obs': array([None, 3], dtype=object)}
    """
    if not is_dict(data):
        COLUMNS.read(data, "info")  # which may know more of what is wrong
        raise CodecError(f"info: expected a dictionary, got {shorten(data)}")
    plain = {key: value for key, value in data.items() if key != FINAL}
    rest = COLUMNS.read(plain, "info")
    if not is_dict(rest) or rest.keys() != plain.keys():
        raise CodecError(f"info: expected a dictionary, got {shorten(data)}")
    _check_lanes(rest, count, "info")
    return {key: _finals(data[key], finals, count) if key == FINAL else rest[key] for key in data}


def _written(column: object, write: Callable[[object], object]) -> list[object]:
    if not is_array(column) and not is_list_or_tuple(column):
        raise CodecError(f"info[{FINAL!r}]: expected one observation for each lane, got {shorten(column)}")
    return [None if one is None else [write(one)] for one in column]


def _finals(entries: object, finals: SpaceCodec, count: int) -> Array:
    """For each lane its last observation, or None: in data a list of one, since None may be written of a value."""
    if not is_list(entries) or len(entries) != count:
        raise CodecError(f"info[{FINAL!r}]: expected {count} entries, got {shorten(entries)}")
    column = np.full(count, None, dtype=object)
    for lane, entry in enumerate(entries):
        if entry is not None:
            if not is_list(entry) or len(entry) != 1:
                raise CodecError(f"info[{FINAL!r}][{lane}]: expected None or a list of one, got {shorten(entry)}")
            column[lane] = finals.read(entry[0])
    return column


def _check_lanes(infos: Mapping[str, object], count: int, path: str) -> None:
    for key, value in infos.items():
        if is_dict(value):
            _check_lanes(value, count, f"{path}[{shorten(key, 40)}]")
        elif is_array(value) and (value.ndim < 1 or len(value) != count):
            where = f"{path}[{shorten(key, 40)}]"
            raise CodecError(f"{where}: expected {count} lanes, got an array of shape {value.shape}")
