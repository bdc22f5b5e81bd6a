"""Legal actions: masks as rules give them, as `info` tells them, and as the space of actions samples by them."""

from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from ludus.errors import ContractViolation, InvalidAction, shorten
from ludus.spaces import Discrete, MultiDiscrete, Space, Tuple
from ludus.spaces.array_space import Array

__all__ = ["Choices", "as_mask", "check_legal", "choices_of", "lane_masks"]


OneMask = Array | tuple[bool, ...]
Legal = OneMask | tuple[OneMask, ...]
"""What rules say is legal: one bool for each action, or that of each of several choices."""


class Choices(NamedTuple):
    """The integers that an action is made of: how many of each, and the first."""

    sizes: tuple[int, ...]
    starts: tuple[int, ...]
    several: bool
    """Whether a mask is a tuple with one part for each, as the space takes it; else it is that part itself."""


def choices_of(space: Space[object]) -> Choices:
    """What a mask for a space has to say; raises ContractViolation for a space that takes none.

    >>> choices_of(MultiDiscrete([3, 2]))
    Choices(sizes=(3, 2), starts=(0, 0), several=True)
    """
    if isinstance(space, Discrete):
        return Choices((int(space.n),), (int(space.start),), several=False)
    if isinstance(space, MultiDiscrete) and space.nvec.ndim == 1:
        return Choices(tuple(space.nvec.tolist()), tuple(space.start.tolist()), several=True)
    if isinstance(space, Tuple):
        parts = [one for one in space.spaces if isinstance(one, Discrete)]
        if len(parts) == len(space.spaces):
            return Choices(tuple(int(one.n) for one in parts), tuple(int(one.start) for one in parts), several=True)
    raise ContractViolation(
        f"legal: expected actions of a Discrete, a MultiDiscrete of one axis or a Tuple of Discretes, "
        f"got {shorten(space)}; leave `legal` out, and tell what is allowed by `inform`"
    )


def check_mask(choices: Choices, legal: Legal) -> None:
    """Raise ContractViolation unless rules gave one bool for each choice."""
    parts = legal if choices.several else (legal,)
    shapes = [np.shape(cast(npt.ArrayLike, one)) for one in parts] if isinstance(parts, tuple) else None
    if shapes != [(size,) for size in choices.sizes]:
        many = f"a tuple of {len(choices.sizes)} masks, of {choices.sizes} bools" if choices.several else None
        one = f"one bool for each of {choices.sizes[0]} actions"
        raise ContractViolation(f"legal: expected {many or one}, got {shorten(legal)}")


def as_mask(legal: Legal) -> object:
    """What rules gave as `info["action_mask"]` has it: of int8, of several choices a tuple.

    >>> as_mask(((True, False), (True, True, False)))
    (array([1, 0], dtype=int8), array([1, 1, 0], dtype=int8))
    """
    if isinstance(legal, tuple) and np.ndim(legal[0]):
        return tuple(np.array(one, np.int8) for one in legal)
    return np.array(legal, np.int8)


def lane_masks(rows: Array, sizes: tuple[int, ...], told: Array | None) -> Array:
    """The column of masks of several choices, a tuple for each lane that told, as a serial batch has it."""
    found = np.full(len(rows), None, dtype=object)
    cuts = np.cumsum(sizes)[:-1]
    for lane in range(len(rows)) if told is None else np.flatnonzero(told).tolist():
        found[lane] = tuple(part.copy() for part in np.split(rows[lane], cuts))
    return found


def check_legal(legal: Any, action: Any, choices: Choices, name: str = "action") -> None:
    """Raise InvalidAction for an action that the rules do not allow now.

    >>> check_legal((True, False, True), 1, choices_of(Discrete(3)))
    Traceback (most recent call last):
    ludus.errors.InvalidAction: action: expected one of the legal actions [0, 2], got 1; see info["action_mask"]
    """
    if not choices.several:
        legal, action = (legal,), (action,)
    for place, (mask, one, start) in enumerate(zip(legal, action, choices.starts, strict=True)):
        if not mask[int(one) - start]:
            possible = [start + int(other) for other in np.flatnonzero(mask)]
            where = f"{name}[{place}]" if choices.several else name
            raise InvalidAction(
                f"{where}: expected one of the legal actions {shorten(possible)}, got {int(one)}; "
                'see info["action_mask"]'
            )
