"""Descriptions: a space as plain data, and back. Nothing is pickled, and no name in a description is ever imported."""

from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from math import isfinite, prod
from typing import Any

import numpy as np

from ludus.errors import CodecError, shorten
from ludus.spaces.array_space import array_from_plain, plain_from_array
from ludus.spaces.message import read_json, write_json
from ludus.spaces.space import Space, known_space

__all__ = ["describe", "from_description", "from_json", "from_plain", "to_json", "to_plain"]

MOST_NUMBERS = 2**27
"""How many numbers the bounds of a described space may have: a limit for descriptions from strangers."""


def to_json(space: Space[Any]) -> str:
    """The space as JSON text.

    >>> from ludus.spaces import Discrete
    >>> to_json(Discrete(3))
    '{"type":"Discrete","n":3,"start":0,"dtype":"int64"}'
    """
    return write_json(describe(space)).decode()


def from_json(text: str | bytes) -> Space[Any]:
    """The space that `to_json` wrote.

    >>> from_json('{"type":"Discrete","n":3,"start":0,"dtype":"int64"}')
    Discrete(3)
    """
    return from_description(read_json(text, "space"))


def describe(space: Space[Any]) -> dict[str, Any]:
    """The space as plain data: its type name and its constructor arguments."""
    return {"type": space.type_name()} | {name: to_plain(one, name) for name, one in space.arguments().items()}


def from_description(data: Any) -> Space[Any]:
    """The space that `describe` wrote; custom classes must have been imported before."""
    try:
        numbers = _numbers(data)
        if numbers > MOST_NUMBERS:
            raise CodecError(f"space: expected shapes of at most {MOST_NUMBERS} numbers in all, got {numbers}")
        return _build(data)
    except RecursionError as error:
        raise CodecError("space: expected a few levels of nesting, got more than can be read") from error


def _numbers(data: Any) -> int:
    """How many numbers the shapes in a description ask for, before any memory is taken for them."""
    if isinstance(data, list):
        return sum(map(_numbers, data))
    if not isinstance(data, dict):
        return 0
    found = sum(map(_numbers, data.values()))
    for name in ("shape", "n"):
        shape = data.get(name)
        for lengths in shape.values() if isinstance(shape, dict) else (shape,):
            if isinstance(lengths, list) and all(isinstance(one, int) for one in lengths):
                found += abs(prod(lengths))
    return found


def _build(data: Any) -> Space[Any]:
    if not isinstance(data, dict) or not isinstance(data.get("type"), str):
        raise CodecError(f"space: expected an object with a type, got {shorten(data)}")
    kind = known_space(data["type"])
    arguments = {name: from_plain(one, name) for name, one in data.items() if name != "type"}
    try:
        return kind.from_arguments(arguments)
    except CodecError:
        raise
    except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, MemoryError) as error:
        raise CodecError(
            f"space {data['type']}: expected its constructor's arguments, got {shorten(arguments)}: {error}"
        ) from error


def to_plain(value: Any, path: str = "value") -> Any:
    """Any value made of numbers, text, arrays, dtypes, spaces and containers of these, as plain data with tags.

    >>> to_plain({"shape": (2, 3), "top": float("inf")})
    {'shape': {'$tuple': [2, 3]}, 'top': {'$float': 'Infinity'}}
    """
    if value is None or (isinstance(value, bool | int | str) and not isinstance(value, np.generic)):
        return value
    if isinstance(value, float) and not isinstance(value, np.generic):
        return value if isfinite(value) else {"$float": plain_from_array(np.asarray(value))}
    for kind, write in _WRITERS:
        if isinstance(value, kind):
            return write(value, path)
    raise CodecError(
        f"{path}: expected numbers, text, arrays, dtypes, spaces or containers of these, got {shorten(value)}; "
        "only such values can be written"
    )


def _write_array(value: Any, path: str) -> Any:
    if value.dtype.kind not in "biuf":
        if value.dtype.kind != "O":
            raise CodecError(f"{path}: expected a numeric array, got dtype {value.dtype}")
        return {"$array": to_plain(value.tolist(), path), "dtype": "object", "shape": list(value.shape)}
    return {"$array": plain_from_array(value), "dtype": str(value.dtype), "shape": list(value.shape)}


def _write_mapping(value: Any, path: str) -> Any:
    if all(isinstance(key, str) and not key.startswith("$") for key in value):
        return {key: to_plain(one, f"{path}[{key!r}]") for key, one in value.items()}
    return {"$dict": [[to_plain(key, path), to_plain(one, f"{path}[{key!r}]")] for key, one in value.items()]}


def _write_items(value: Any, path: str) -> list[Any]:
    return [to_plain(one, f"{path}[{i}]") for i, one in enumerate(value)]


_WRITERS: tuple[tuple[Any, Callable[[Any, str], Any]], ...] = (
    (Space, lambda value, _: {"$space": describe(value)}),
    (np.ndarray, _write_array),
    (np.generic, lambda value, path: {"$scalar": _write_array(np.asarray(value), path)}),
    (np.dtype, lambda value, _: {"$dtype": str(value)}),
    (tuple, lambda value, path: {"$tuple": _write_items(value, path)}),
    (list, _write_items),
    (Mapping, _write_mapping),
    ((set, frozenset), lambda value, path: {"$set": _write_items(sorted(value, key=repr), path)}),
    (bytes, lambda value, _: {"$bytes": b64encode(value).decode()}),
    (type, lambda value, path: _write_type(value, path)),
)


def _write_type(value: type, path: str) -> Any:
    """`np.float32` and the like stand for their dtype; other classes are code, not data."""
    if issubclass(value, np.generic) or value in (int, float, bool):
        return {"$dtype": str(np.dtype(value))}
    raise CodecError(f"{path}: expected data, got the class {value.__qualname__}")


def from_plain(data: Any, path: str = "value") -> Any:
    """The value that `to_plain` wrote; raises CodecError for unknown tags."""
    if isinstance(data, list):
        return [from_plain(one, f"{path}[{i}]") for i, one in enumerate(data)]
    if not isinstance(data, dict):
        return data
    tags = [key for key in data if isinstance(key, str) and key.startswith("$")]
    if not tags:
        return {key: from_plain(one, f"{path}[{key!r}]") for key, one in data.items()}
    read = _READERS.get(tags[0])
    if read is None:
        raise CodecError(f"{path}: expected one of the tags {', '.join(_READERS)}, got {shorten(tags[0])}")
    try:
        return read(data, path)
    except CodecError:
        raise
    except (TypeError, ValueError, KeyError) as error:
        raise CodecError(f"{path}: expected a well-formed {tags[0]}, got {shorten(data)}: {error}") from error


def _read_array(data: Any, path: str) -> Any:
    shape = tuple(data["shape"])
    if data["dtype"] == "object":
        return np.asarray(from_plain(data["$array"], path), dtype=object).reshape(shape)
    dtype = np.dtype(data["dtype"])
    if dtype.kind not in "biuf":
        raise CodecError(f"{path}: expected a numeric dtype, got {dtype}")
    return array_from_plain(data["$array"], dtype, shape, path)


_READERS: dict[str, Callable[[Any, str], Any]] = {
    "$float": lambda data, _: float(data["$float"]),
    "$array": _read_array,
    "$scalar": lambda data, path: _read_array(data["$scalar"], path)[()],
    "$dtype": lambda data, _: np.dtype(data["$dtype"]),
    "$space": lambda data, _: _build(data["$space"]),
    "$tuple": lambda data, path: tuple(from_plain(data["$tuple"], path)),
    "$set": lambda data, path: set(from_plain(data["$set"], path)),
    "$bytes": lambda data, _: b64decode(data["$bytes"], validate=True),
    "$dict": lambda data, path: {from_plain(key, path): from_plain(one, path) for key, one in data["$dict"]},
}
