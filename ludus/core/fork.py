"""Forks of wrapped batches: a wrapper of the same kind around a fork of what it is around, its state lane by lane."""

from collections import deque
from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import ClassVar, Protocol, TypeGuard

import numpy as np
import numpy.typing as npt

from ludus.errors import InvalidType
from ludus.spaces.kinds import class_of, is_array, is_dict, is_list_or_tuple

__all__ = ["Lanes", "fork_state", "lane_fields_of", "taken"]

Lanes = Sequence[int] | npt.NDArray[np.integer]
"""Lanes of a batch by their numbers."""

MADE_ANEW = frozenset(
    {"env", "_constructed", "_lead", "_mode", "_metadata", "_action_space", "_observation_space"}
    | {"_single_action_space", "_single_observation_space"}
)
"""What the constructor of the new wrapper sets for itself."""


class Wrapping(Protocol):
    """What a fork has to know of a wrapper."""

    snapshot_shared: ClassVar[tuple[str, ...]]

    @property
    def env(self) -> object:
        """What it is around."""
        ...


def lane_fields_of(kind: type) -> set[str]:
    """The attributes with a lane axis, of a class and its bases; each class that has a constructor has to say."""
    found: set[str] = set()
    for one in kind.__mro__:
        declared = one.__dict__.get("lane_fields")
        if (
            declared is None
            and "__init__" in one.__dict__
            and one.__module__ != __name__
            and hasattr(one, "lane_fields")
        ):
            raise InvalidType(
                f"fork: expected {one.__name__} to say which of its attributes have an entry for each lane, got "
                "nothing; set `lane_fields`, a tuple of their names, () for none"
            )
        found.update(declared or ())
    return found


def fork_state(old: Wrapping, new: Wrapping, lanes: Lanes) -> None:
    """Give a wrapper around forked lanes the state of the old one."""
    per_lane, shared = lane_fields_of(class_of(old)), MADE_ANEW | set(old.snapshot_shared)
    state: dict[str, object] = old.__dict__
    for name, value in state.items():
        if name in per_lane:
            setattr(new, name, taken(value, lanes))
        elif name not in shared:
            setattr(new, name, deepcopy(value, {id(old): new, id(old.env): new.env}))


def _is_deque(value: object) -> TypeGuard[deque[object]]:
    return isinstance(value, deque)


def taken(value: object, lanes: Lanes) -> object:
    """Lanes of what has an entry for each: arrays, structures of them, and objects that can be forked.

    >>> taken({"age": np.array([4, 5, 6])}, [2, 2])
    {'age': array([6, 6])}
    """
    if is_array(value):
        return value[np.asarray(lanes)]
    if is_dict(value):
        return {key: taken(one, lanes) for key, one in value.items()}
    if _is_deque(value):
        return deque((taken(one, lanes) for one in value), maxlen=value.maxlen)
    if is_list_or_tuple(value):
        return type(value)(taken(one, lanes) for one in value)
    forked: Callable[[Lanes], object] | None = getattr(value, "forked", None)
    return deepcopy(value) if forked is None else forked(lanes)
