"""Descriptions: a space as plain data, and back. Nothing is pickled, and no name in a description is ever imported."""

from math import prod
from typing import Any

import numpy as np

from ludus.errors import CodecError, shorten
from ludus.spaces.kinds import is_dict, is_list
from ludus.spaces.message import read_json, write_json
from ludus.spaces.plain import JSON, Dialect, Reader
from ludus.spaces.space import Space, known_space

__all__ = ["SPEC_JSON", "describe", "from_description", "from_json", "to_json"]

MAX_NUMBERS = 2**27
"""How many numbers the bounds of a described space may have: a limit for descriptions from strangers."""


def to_json(space: Space[object]) -> str:
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


def describe(space: Space[object]) -> dict[str, object]:
    """The space as plain data: its type name and its constructor arguments."""
    described: dict[str, object] = {"type": space.type_name()}
    return described | {name: SPEC_JSON.write(one, name) for name, one in space.arguments().items()}


def from_description(data: object) -> Space[Any]:
    """The space that `describe` wrote; custom classes must have been imported before."""
    try:
        numbers = _numbers(data)
        if numbers > MAX_NUMBERS:
            raise CodecError(f"space: expected shapes of at most {MAX_NUMBERS} numbers in all, got {numbers}")
        return _build(data)
    except RecursionError as error:
        raise CodecError("space: expected a few levels of nesting, got more than can be read") from error


def _numbers(data: object) -> int:
    """How many numbers the shapes in a description ask for, before any memory is taken for them."""
    if is_list(data):
        return sum(map(_numbers, data))
    if not is_dict(data):
        return 0
    found = sum(map(_numbers, data.values()))
    for name in ("shape", "n"):
        shape = data.get(name)
        for lengths in shape.values() if is_dict(shape) else (shape,):
            whole = [one for one in lengths if isinstance(one, int)] if is_list(lengths) else []
            if is_list(lengths) and len(whole) == len(lengths):
                found += abs(prod(whole))
    return found


def _build(data: object) -> Space[object]:
    name = data.get("type") if is_dict(data) else None
    if not is_dict(data) or not isinstance(name, str):
        raise CodecError(f"space: expected an object with a type, got {shorten(data)}")
    kind = _kind(name)
    arguments = {key: SPEC_JSON.read(one, key) for key, one in data.items() if key != "type"}
    try:
        return kind.from_arguments(arguments)
    except CodecError:
        raise
    except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, MemoryError) as error:
        raise CodecError(
            f"space {name}: expected its constructor's arguments, got {shorten(arguments)}: {error}"
        ) from error


def _kind(name: str) -> type[Space[object]]:
    """The class of a space; those of typed values are loaded when there are any: most environments have none."""
    if name not in ("Record", "Scalar"):
        return known_space(name)
    from ludus.spaces.record import Record  # see above
    from ludus.spaces.scalar import Scalar  # see above

    return Record if name == "Record" else Scalar


def _write_dtype(dialect: Dialect, value: object, path: str, depth: int) -> object:
    del dialect, path, depth
    return {"$dtype": str(value)}


def _write_type(dialect: Dialect, value: type, path: str, depth: int) -> object:
    """`np.float32` and the like stand for their dtype; other classes are code, not data."""
    del depth
    if _is_of_numbers(value):
        return {"$dtype": str(np.dtype(value))}
    return dialect.refuse(f"{path}: expected data, got the class {value.__qualname__}")


def _is_of_numbers(kind: type) -> bool:
    return issubclass(kind, np.generic) or kind in (int, float, bool)


def _write_space(dialect: Dialect, value: Space[object], path: str, depth: int) -> object:
    del dialect, path, depth
    return {"$space": describe(value)}


def _read_dtype(dialect: Dialect, data: dict[str, object], path: str, depth: int) -> object:
    del dialect, depth
    name = data["$dtype"]
    if type(name) is not str:
        raise CodecError(f"{path}: expected the name of a dtype, got {shorten(name)}")
    return np.dtype(name)


def _read_space(dialect: Dialect, data: dict[str, object], path: str, depth: int) -> object:
    del dialect, path, depth
    return _build(data["$space"])


SPEC_JSON = JSON.admitting(
    {Space: _write_space, np.dtype: _write_dtype, type: _write_type},
    {
        "$dtype": Reader(("$dtype",), _read_dtype),
        "$space": Reader(("$space",), _read_space),
    },
    "numbers, text, arrays, dtypes, spaces or containers of these",
)
"""JSON for what makes spaces and environments: their arguments may be spaces and dtypes too."""
