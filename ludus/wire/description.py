"""Descriptions of spaces from strangers: measured before a space is built, since a few bytes describe a vast one."""

from collections.abc import Iterable
from math import prod
from typing import Any

from ludus.errors import CodecError, listing, shorten
from ludus.spaces import Space, describe, from_description

__all__ = ["read_space", "write_space"]

HEAVIEST = 1 << 24
"""Numbers in the bounds of a space, the copies that some spaces keep of their parts counted too."""
DEEPEST = 12
"""Spaces inside one another."""
MOST_FIELDS = 1024
OWN = "ludus.tools.calls:Calls"
"""The one space of Ludus's own that is found by its place, since most programs need no tools."""
COPYING = ("Graph", "Sequence")
"""Spaces that keep a batch of their part beside it: each such level doubles what is below."""


def write_space(space: Space[Any]) -> dict[str, Any]:
    """A space as data that msgpack carries.

    >>> from ludus.spaces import Discrete
    >>> write_space(Discrete(3))
    {'type': 'Discrete', 'n': 3, 'start': 0, 'dtype': 'int64'}
    """
    return describe(space)


def read_space(data: Any, name: str = "space", *, known: Iterable[type[Space[Any]]] = ()) -> Space[Any]:
    """The space that `write_space` wrote: one of Ludus's own, or of the custom classes in `known`.

    CodecError, and nothing else, on any data.

    >>> read_space({"type": "Box", "low": 0, "high": 1, "shape": [10**6, 10**6], "dtype": "int8"})
    Traceback (most recent call last):
    ludus.errors.CodecError: space: expected parts and bounds of at most 16777216 numbers, got 1000000000001
    """
    weight = _weight(data, DEEPEST, {kind.type_name() for kind in known}, name)
    if weight > HEAVIEST:
        raise CodecError(f"{name}: expected parts and bounds of at most {HEAVIEST} numbers, got {weight}")
    try:
        return from_description(data)
    except CodecError:
        raise
    except Exception as error:
        raise CodecError(f"{name}: expected the description of a space, got {shorten(data)}: {error}") from error


def _weight(data: Any, depth: int, known: set[str], name: str) -> int:
    """What the space in `data`, or the spaces somewhere in it, ask for; checks types and nesting on the way."""
    if isinstance(data, list):
        return sum(_weight(one, depth, known, name) for one in data if isinstance(one, list | dict))
    if not isinstance(data, dict):
        return 0
    kind, own = data.get("type"), 0
    if isinstance(kind, str):
        depth -= 1
        _check_type(kind, data, depth, known, name)
        own = 1 + _numbers(kind, data, name)
    elif "$array" in data:
        own = prod(_lengths(data.get("shape"), name))
    inner = sum(_weight(one, depth, known, name) for one in data.values() if isinstance(one, list | dict))
    return own + inner * (2 if kind in COPYING else 1)


def _check_type(kind: str, data: Any, depth: int, known: set[str], name: str) -> None:
    if depth < 0:
        raise CodecError(f"{name}: expected at most {DEEPEST} spaces inside one another, got more")
    if ":" in kind and kind != OWN and kind not in known:
        allowed = f"one of Ludus's own or {listing(sorted(known))}" if known else "one of Ludus's own"
        raise CodecError(
            f"{name}: expected {allowed}, got the custom space {shorten(kind)}; "
            "name its class in `spaces` if you trust it in this process"
        )
    fields = data.get("fields")
    if isinstance(fields, list) and len(fields) > MOST_FIELDS:
        raise CodecError(f"{name}: expected at most {MOST_FIELDS} fields, got {len(fields)}")


def _numbers(kind: str, data: dict[Any, Any], name: str) -> int:
    """How many numbers one space asks for by a length alone; bounds that are written out take their own bytes."""
    found = prod(_lengths(data["shape"], name)) if data.get("shape") is not None else 0
    if kind == "MultiBinary":
        found += prod(_lengths(data.get("n"), name))
    if kind == "Text":
        found += prod(_lengths(data.get("min_length", 1), name))
    return found


def _lengths(shape: Any, name: str) -> list[int]:
    """The lengths in a shape: a list, one tagged as a tuple, or one number."""
    if isinstance(shape, dict) and list(shape) == ["$tuple"]:
        shape = shape["$tuple"]
    lengths: list[Any] = shape if isinstance(shape, list) else [shape]
    if not all(type(one) is int and one >= 0 for one in lengths):
        raise CodecError(f"{name}: expected lengths of at least 0, got {shorten(shape)}")
    return lengths
