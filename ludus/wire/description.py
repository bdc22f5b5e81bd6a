"""Descriptions of spaces from strangers: measured before a space is built, since a few bytes describe a vast one."""

from collections.abc import Iterable, Mapping
from functools import reduce
from math import prod
from typing import Any, NamedTuple

from ludus.errors import CodecError, listing, shorten
from ludus.spaces import Space, describe, from_description
from ludus.spaces.kinds import is_dict, is_list

__all__ = ["read_space", "write_space"]

MAX_SPACE_BYTES = 64 << 20
"""Bytes that a space may take while it is built, the copies that some spaces keep of their parts counted too."""
MAX_SPACE_DEPTH = 12
"""Spaces inside one another."""
MAX_FIELDS = 1024
COPYING = ("Graph", "Sequence")
"""Spaces that keep a batch of their part beside it: each such level doubles what is below."""
EACH = {"Graph": 6 << 10, "Sequence": 4 << 10, "Text": 8 << 10}
"""Bytes of a space by itself, where it is more than `MIN_VALUE_BYTES`."""
MIN_VALUE_BYTES = 1 << 10
CHARACTER_BYTES = 128
"""Bytes of a character that a text may have."""
BOUND_BYTES = 9
"""Bytes that each number in the bounds of a box takes for a moment, beside those that are kept; at least."""
SIZES = {
    **dict.fromkeys(("bool", "int8", "uint8"), 1),
    **dict.fromkeys(("float16", "int16", "uint16"), 2),
    **dict.fromkeys(("float32", "int32", "uint32"), 4),
    **dict.fromkeys(("float64", "int64", "uint64"), 8),
}
"""Bytes of a number; of others `MAX_ITEM_BYTES`."""
MAX_ITEM_BYTES = 16


class Weight(NamedTuple):
    """Bytes that are kept, and the most that are needed for a moment."""

    kept: int = 0
    passing: int = 0

    def beside(self, other: "Weight") -> "Weight":
        """Both kept, and built one after the other."""
        return Weight(self.kept + other.kept, max(self.passing, other.passing))


def write_space(space: Space[object]) -> dict[str, object]:
    """A space as data that msgpack carries.

    >>> from ludus.spaces import Discrete
    >>> write_space(Discrete(3))
    {'type': 'Discrete', 'n': 3, 'start': 0, 'dtype': 'int64'}
    """
    return describe(space)


def read_space(data: object, name: str = "space", *, known: Iterable[type[Space[object]]] = ()) -> Space[Any]:
    """The space that `write_space` wrote: one of Ludus's own, or of the custom classes in `known`.

    CodecError, and nothing else, on any data.

    >>> read_space({"type": "Box", "low": 0, "high": 1, "shape": [10**6, 10**6], "dtype": "int8"})
    Traceback (most recent call last):
    ludus.errors.CodecError: space: expected one of at most 64 MiB, got one of 953674 MiB
    """
    weight = sum(_space_weight(data, MAX_SPACE_DEPTH, {kind.type_name() for kind in known}, name))
    if weight > MAX_SPACE_BYTES:
        raise CodecError(f"{name}: expected one of at most {MAX_SPACE_BYTES >> 20} MiB, got one of {weight >> 20} MiB")
    try:
        return from_description(data)
    except CodecError:
        raise
    except Exception as error:
        raise CodecError(f"{name}: expected the description of a space, got {shorten(data)}: {error}") from error


def _weight(data: object, depth: int, known: set[str], name: str) -> Weight:
    """What the spaces and arrays somewhere in `data` ask for; checks types and nesting on the way."""
    if is_list(data):
        return _together(data, depth, known, name)
    if not is_dict(data):
        return Weight()
    if "$space" in data:
        return _space_weight(data["$space"], depth, known, name)
    own = Weight(_count(data.get("shape"), name) * _size(data)) if "$array" in data else Weight()
    return own.beside(_together(data.values(), depth, known, name))


def _space_weight(data: object, depth: int, known: set[str], name: str) -> Weight:
    """What the space in `data` asks for, and all inside it."""
    kind = data.get("type") if is_dict(data) else None
    if not is_dict(data) or not isinstance(kind, str):
        raise CodecError(f"{name}: expected the description of a space, got {shorten(data)}")
    _check_type(kind, data, depth - 1, known, name)
    inner = _together(data.values(), depth - 1, known, name)
    copied = Weight(inner.kept * 2, inner.passing) if kind in COPYING else inner
    return _own(kind, data, name).beside(copied)


def _together(parts: Iterable[object], depth: int, known: set[str], name: str) -> Weight:
    weights = (_weight(one, depth, known, name) for one in parts if is_list(one) or is_dict(one))
    return reduce(Weight.beside, weights, Weight())


def _check_type(kind: str, data: Mapping[str, object], depth: int, known: set[str], name: str) -> None:
    if depth < 0:
        raise CodecError(f"{name}: expected at most {MAX_SPACE_DEPTH} spaces inside one another, got more")
    if kind.startswith("ludus.tools."):
        from ludus.tools.calls import Calls  # the one space that is not in `ludus.spaces`; few environments have tools

        known = known | {Calls.type_name()}
    if ":" in kind and kind not in known:
        allowed = f"one of Ludus's own or {listing(sorted(known))}" if known else "one of Ludus's own"
        raise CodecError(
            f"{name}: expected {allowed}, got the custom space {shorten(kind)}; "
            "name its class in `spaces` if you trust it in this process"
        )
    fields = data.get("fields")
    if is_list(fields) and len(fields) > MAX_FIELDS:
        raise CodecError(f"{name}: expected at most {MAX_FIELDS} fields, got {len(fields)}")


def _own(kind: str, data: Mapping[str, object], name: str) -> Weight:
    """What one space asks for by itself: by a length alone, too. What is written out was paid for in bytes."""
    kept, passing = EACH.get(kind, MIN_VALUE_BYTES), 0
    if kind == "Box" and data.get("shape") is not None and all(map(_is_number, (data.get("low"), data.get("high")))):
        kept += _count(data["shape"], name) * _size(data)  # bounds held once, and the room for one value
    elif data.get("shape") is not None:
        numbers = _count(data["shape"], name)
        kept += numbers * 2 * (_size(data) + 1)  # two bounds, and where they are finite
        passing = numbers * max(BOUND_BYTES, 2 * _size(data) + 1)
    if kind == "MultiBinary":
        kept += _count(data.get("n"), name)
    if kind == "Text":
        kept += _count(data.get("min_length", 1), name) + CHARACTER_BYTES * len(str(data.get("charset", "")))
    return Weight(kept, passing)


def _is_number(bound: object) -> bool:
    """Whether a bound of a box is one number for all."""
    return type(bound) in (int, float) or (is_dict(bound) and list(bound) == ["$float"])


def _size(data: Mapping[str, object]) -> int:
    """Bytes of a number, by the name of its type."""
    return SIZES.get(str(data.get("dtype")), MAX_ITEM_BYTES)


def _count(shape: object, name: str) -> int:
    return prod(_lengths(shape, name))


def _lengths(shape: object, name: str) -> list[int]:
    """The lengths in a shape: a list, one tagged as a tuple, or one number."""
    if is_dict(shape) and list(shape) == ["$tuple"]:
        shape = shape["$tuple"]
    given: list[object] = shape if is_list(shape) else [shape]
    lengths = [one for one in given if type(one) is int and one >= 0]
    if len(lengths) < len(given):
        raise CodecError(f"{name}: expected lengths of at least 0, got {shorten(shape)}")
    return lengths
