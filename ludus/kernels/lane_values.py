"""Values of single lanes: a lane's state out of its columns and back, and actions for lanes that take none."""

from collections.abc import Iterator

import numpy as np

from ludus.errors import InvalidArgument, listing, shorten
from ludus.kernels.tree import Leaf, Tree
from ludus.spaces import Dict, Space, Tuple
from ludus.spaces.array_space import Array
from ludus.spaces.kinds import is_array, is_dict, is_list_or_tuple, is_tuple

__all__ = ["filled", "fitting", "known", "state_parts", "value_at"]

PYTHONS = ("float64", "int64", "bool_")
"""The dtypes whose numbers rules know as Python's."""


def value_at(columns: dict[str, Array], leaf: Leaf, lane: int) -> object:
    """What a lane has in the column of a leaf: a number as rules know it, or an array of its own."""
    return known(leaf, columns[leaf.column.name][lane])


def known(leaf: Leaf, value: Array) -> object:
    """What a column holds, as rules know it."""
    if leaf.form == "array":
        return np.array(value)
    return value.item() if leaf.column.dtype in PYTHONS else value[()]


def state_parts(tree: Tree, value: object) -> Iterator[tuple[Leaf, object]]:
    """Every leaf of a state, and what `value` has there; raises InvalidArgument where it has other fields."""
    if isinstance(tree, Leaf):
        yield tree, value
        return
    if not (is_list_or_tuple(value) or is_array(value)) or len(value) != len(tree.keys):
        raise InvalidArgument(f"state: expected the fields {listing(map(str, tree.keys))}, got {shorten(value)}")
    for part, one in zip(tree.parts, value, strict=True):
        yield from state_parts(part, one)


def fitting(leaf: Leaf, value: object) -> Array:
    """A value as the column of a leaf takes it; raises InvalidArgument where it would be another.

    >>> from ludus.kernels.block import column_of
    >>> fitting(Leaf(column_of("s_0", 0.5), "number", "State.x"), 2)
    array(2.)
    """
    column = leaf.column
    try:
        given = np.asarray(value)
        found = given.astype(column.dtype)
    except (TypeError, ValueError) as error:
        raise InvalidArgument(f"{leaf.name}: expected {_described(leaf)}, got {shorten(value)}") from error
    if given.shape != column.shape or not np.array_equal(found, given, equal_nan=given.dtype.kind == "f"):
        raise InvalidArgument(f"{leaf.name}: expected {_described(leaf)}, got {shorten(value)}")
    return found


def _described(leaf: Leaf) -> str:
    return f"{leaf.column.dtype} of shape {leaf.column.shape}" if leaf.column.shape else leaf.column.dtype


def filled(space: Space[object], action: object, mask: Array) -> object:
    """A batch of actions with something valid for the lanes that the mask leaves out; what is odd is refused later."""
    if isinstance(space, Tuple):
        if not is_tuple(action) or len(action) != len(space.spaces):
            return action
        return tuple(filled(part, one, mask) for part, one in zip(space.spaces, action, strict=True))
    if isinstance(space, Dict):
        if not is_dict(action) or action.keys() != space.spaces.keys():
            return action
        return {key: filled(part, action[key], mask) for key, part in space.spaces.items()}
    actions = np.asarray(action)
    if actions.shape[:1] != mask.shape or actions.dtype.kind not in "fiub":
        return action
    over = mask.reshape(mask.shape + (1,) * (actions.ndim - 1))
    return np.where(over, actions, np.asarray(space.default(), actions.dtype))
