"""Trees: values of NamedTuples, tuples and dictionaries, however nested, and the columns their numbers lie in."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, TypeGuard

import numpy as np

from ludus.errors import KernelError, shorten
from ludus.kernels.block import BlockColumn, column_of
from ludus.kernels.parameters import coerce_parameter
from ludus.spaces.kinds import class_of, is_array, is_tuple

__all__ = ["Branch", "Leaf", "Tree", "composed", "is_record", "leaves", "record_kinds", "tree_of", "written"]


NUMBERS: tuple[type[object], ...] = (bool, int, float, np.generic)


class Leaf(NamedTuple):
    """Numbers of one dtype: one, or an array of fixed shape."""

    column: BlockColumn
    form: str
    """How rules give them: as a `number`, a `tuple` of numbers, or an `array`; a `scalar` is an array of no axis."""
    name: str
    """What messages call it."""


class Branch(NamedTuple):
    """A NamedTuple, a tuple or a dictionary of trees."""

    kind: Any
    """The NamedTuple's class, `tuple` or `dict`."""
    keys: tuple[object, ...]
    places: tuple[int, ...]
    """Where rules' own value has each part, which is a tuple in compiled code whatever its kind."""
    parts: "tuple[Tree, ...]"


Tree = Leaf | Branch


def is_record(value: object) -> "TypeGuard[NamedTuple]":
    """Whether a value is a NamedTuple."""
    return is_tuple(value) and hasattr(value, "_fields")


def tree_of(prefix: str, name: str, value: object) -> Tree:
    """The tree of a value that rules keep; its columns are called after the prefix and their number.

    >>> class Place(NamedTuple):
    ...     row: int
    ...     visits: np.ndarray
    >>> [leaf.column for leaf, _ in leaves(tree_of("s", "Place", Place(1, np.zeros((2, 3)))), "it")]
    [BlockColumn(name='s_0', dtype='int64', shape=()), BlockColumn(name='s_1', dtype='float64', shape=(2, 3))]
    """
    count = iter(range(1_000_000))
    return _tree(prefix, name, value, count)


def _tree(prefix: str, name: str, value: object, count: Iterator[int]) -> Tree:
    if is_tuple(value):
        if not value:
            raise KernelError(f"{name}: expected numbers, arrays and NamedTuples of them, got an empty tuple")
        record = is_record(value)
        keys = value._fields if is_record(value) else tuple(range(len(value)))
        kind: type[object] = type(value) if record else tuple
        names = [f"{name}.{key}" if record else f"{name}[{key}]" for key in keys]
        fits = [_fits(name, kind, key, one) for key, one in zip(keys, value, strict=True)]
        parts = tuple(_tree(prefix, where, one, count) for where, one in zip(names, fits, strict=True))
        return Branch(kind, keys, tuple(range(len(keys))), parts)
    array = np.asarray(value) if isinstance(value, NUMBERS) or is_array(value) else None
    if array is None or array.dtype.kind not in "biuf" or (is_array(value) and not value.ndim):
        raise KernelError(
            f"{name}: expected a number, an array of numbers, or a NamedTuple or tuple of them, "
            f"got {shorten(value)} ({class_of(value).__name__})"
        )
    if not array.size:
        raise KernelError(f"{name}: expected an array with elements, got shape {array.shape}")
    form = "array" if is_array(value) else "number"
    return Leaf(column_of(f"{prefix}_{next(count)}", array), form, name)


def _fits(name: str, kind: type[object], key: object, value: object) -> object:
    # A field is what its annotation says: a first state of 0 must not make a column of integers for a float.
    return value if kind is tuple else coerce_parameter(name, kind, str(key), value)


def leaves(tree: Tree, value: str) -> Iterator[tuple[Leaf, str]]:
    """Every leaf, and the text that finds it in the value that rules gave, which `value` is the text of."""
    if isinstance(tree, Leaf):
        yield tree, value
        return
    for place, part in zip(tree.places, tree.parts, strict=True):
        yield from leaves(part, f"{value}[{place}]")


def written(tree: Tree, known: Mapping[type[NamedTuple], str], read: Callable[[Leaf], str]) -> str:
    """The text that makes a value of a tree; `known` has the names of the classes of NamedTuples."""
    if isinstance(tree, Leaf):
        return read(tree)
    inside = "".join(f"{written(part, known, read)}, " for part in tree.parts)
    return f"{known.get(tree.kind, '')}({inside})"


def record_kinds(tree: Tree) -> dict[type[NamedTuple], None]:
    """The classes of NamedTuples in a tree, in the order they are met."""
    if isinstance(tree, Leaf):
        return {}
    found: dict[type[NamedTuple], None] = {} if tree.kind in (tuple, dict) else {tree.kind: None}
    for part in tree.parts:
        found |= record_kinds(part)
    return found


def composed(tree: Tree, read: Callable[[Leaf], object]) -> object:
    """The value of a tree whose leaves are as `read` gives them.

    >>> tree = tree_of("s", "pair", (1, 2.5))
    >>> composed(tree, lambda leaf: leaf.column.dtype)
    ('int64', 'float64')
    """
    if isinstance(tree, Leaf):
        return read(tree)
    parts = [composed(part, read) for part in tree.parts]
    if tree.kind is dict:
        return dict(zip(tree.keys, parts, strict=True))
    return tuple(parts) if tree.kind is tuple else tree.kind(*parts)
