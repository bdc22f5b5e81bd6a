"""Forms: how rules give the observations of a space, and take its actions."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from types import FunctionType
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
import numpy.typing as npt

from ludus.errors import ContractViolation, KernelError, shorten
from ludus.kernels.block import BlockColumn
from ludus.kernels.displays import dict_places
from ludus.kernels.tree import NUMBERS, Branch, Leaf, Tree, is_record
from ludus.spaces import Dict, Discrete, Space, Tuple
from ludus.spaces.array_space import ArraySpace
from ludus.spaces.kinds import class_of, is_array, is_dict, is_tuple

__all__ = ["action_record", "action_tree", "observation_tree", "parts_of"]

KeyT = TypeVar("KeyT")


def observation_tree(space: Space[object], seen: object, functions: Sequence[FunctionType]) -> Tree:
    """The tree of a space whose values rules give like the one `seen`; `functions` are those that wrote it.

    >>> from ludus.kernels.tree import leaves
    >>> from ludus.spaces import Box
    >>> tree = observation_tree(Tuple((Discrete(3), Box(0, 1, (2, 2)))), (1, np.zeros((2, 2))), [])
    >>> [(leaf.column.shape, leaf.form, where) for leaf, where in leaves(tree, "seen")]
    [((), 'number', 'seen[0]'), ((2, 2), 'array', 'seen[1]')]
    """
    return _observation(space, seen, functions, "observation", iter(range(1_000_000)))


def _observation(
    space: Space[object], seen: object, functions: Sequence[FunctionType], name: str, count: Iterator[int]
) -> Tree:
    if isinstance(space, Tuple):
        if not is_tuple(seen) or len(seen) != len(space.spaces):
            raise ContractViolation(
                f"{name}: expected a tuple of {len(space.spaces)} from observe, got {shorten(seen)}"
            )
        keys = tuple(range(len(space.spaces)))
        return _branch(
            tuple, dict(enumerate(space.spaces)), dict(zip(keys, seen, strict=True)), keys, (functions, name, count)
        )
    if isinstance(space, Dict):
        given = seen._asdict() if is_record(seen) else seen
        if not is_dict(given) or given.keys() != space.spaces.keys():
            raise ContractViolation(
                f"{name}: expected the keys {list(space.spaces)}, in a dictionary or a NamedTuple, from observe, "
                f"got {shorten(seen)}"
            )
        found = dict(zip(given, range(len(given)), strict=True))
        places = found if is_record(seen) else dict_places(name, given, functions)
        spaces = space.spaces
        return _branch(dict, spaces, given, tuple(places[key] for key in spaces), (functions, name, count))
    return Leaf(_column(space, f"x_{next(count)}", name), _form(space, seen, name), name)


def _branch(
    kind: type[object],
    spaces: Mapping[KeyT, Space[object]],
    given: Mapping[KeyT, object],
    places: tuple[int, ...],
    rest: tuple[Sequence[FunctionType], str, Iterator[int]],
) -> Branch:
    functions, name, count = rest
    keys = tuple(spaces)
    parts = [_observation(spaces[key], given[key], functions, f"{name}[{key!r}]", count) for key in keys]
    return Branch(kind, keys, places, tuple(parts))


def _column(space: Space[object], column: str, name: str) -> BlockColumn:
    if not isinstance(space, ArraySpace) or space.dtype.kind not in "biuf":
        raise KernelError(
            f"{name}: expected Box, Discrete, MultiDiscrete, MultiBinary, or Tuple and Dict of them, "
            f"got {shorten(space)}; run it with executor='serial'"
        )
    return BlockColumn(column, "bool_" if space.dtype.kind == "b" else space.dtype.name, space.shape)


def _form(space: Space[object], seen: object, name: str) -> str:
    if isinstance(seen, NUMBERS):
        form, shape = "number" if isinstance(space, Discrete) else "scalar", ()
    elif is_array(seen) and seen.ndim:
        form, shape = "array", seen.shape
    elif is_tuple(seen) and _only_numbers(seen):
        form, shape = "tuple", np.shape(cast(npt.ArrayLike, seen))
    else:
        raise KernelError(
            f"{name}: expected a number, a tuple of numbers or an array from observe, "
            f"got {shorten(seen)} ({class_of(seen).__name__}); write np.array(…) around it"
        )
    if shape != space.shape:
        raise ContractViolation(f"{name}: expected shape {space.shape} from observe, got shape {shape}")
    return form


def _only_numbers(seen: object) -> bool:
    """Whether nested tuples hold nothing but numbers, and as many in each."""
    if isinstance(seen, NUMBERS):
        return True
    if not is_tuple(seen):
        return False
    return len({np.shape(one) for one in cast(tuple[npt.ArrayLike, ...], seen)}) <= 1 and all(map(_only_numbers, seen))


# --- actions ---


def action_tree(space: Space[object]) -> Tree:
    """The tree of a space of actions: tuples for a Tuple, NamedTuples for a Dict."""
    return _action(space, "action", iter(range(1_000_000)))


def _action(space: Space[object], name: str, count: Iterator[int]) -> Tree:
    if isinstance(space, Tuple):
        keys = tuple(range(len(space.spaces)))
        return Branch(
            tuple, keys, keys, tuple(_action(one, f"{name}[{key}]", count) for key, one in enumerate(space.spaces))
        )
    if isinstance(space, Dict):
        keys = tuple(space.spaces)
        parts = tuple(_action(one, f"{name}[{key!r}]", count) for key, one in space.spaces.items())
        return Branch(action_record(keys), keys, tuple(range(len(keys))), parts)
    column = _column(space, f"a_{next(count)}", name)
    if isinstance(space, Discrete):
        column = column._replace(dtype="int64")  # rules take Python's integers
    return Leaf(column, "number" if column.shape == () else "array", name)


@cache
def action_record(keys: tuple[object, ...]) -> Callable[..., tuple[object, ...]]:
    """The NamedTuple that rules take an action of a Dict as."""
    if not all(isinstance(key, str) and key.isidentifier() and not key.startswith("_") for key in keys):
        raise KernelError(f"action: expected keys that are names, to be fields of a NamedTuple, got {list(keys)}")
    fields: Any = [(key, Any) for key in keys]
    return NamedTuple("Action", fields)


def parts_of(tree: Tree, value: Any) -> Iterator[tuple[Leaf, Any]]:
    """Every leaf of a tree, and what a value of its space has there."""
    if isinstance(tree, Leaf):
        yield tree, value
        return
    for key, part in zip(tree.keys, tree.parts, strict=True):
        yield from parts_of(part, value[key])
