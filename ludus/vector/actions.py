"""Actions of a batch, held to their space before any lane moves.

What a Box's bounds mean is for each lane to say, since some clip: everything else is checked here.
"""

from typing import Any

from ludus.errors import InvalidAction
from ludus.spaces import Box, Dict, Space, Tuple

__all__ = ["check_choices", "is_choice"]


def is_choice(space: Space[object]) -> bool:
    """Whether there is anything to check in actions of this space.

    >>> from ludus.spaces import Discrete
    >>> is_choice(Box(-1, 1)), is_choice(Dict({"throttle": Box(-1, 1), "gear": Discrete(5)}))
    (False, True)
    """
    if isinstance(space, Dict | Tuple):
        return any(map(is_choice, space.subspaces))
    return not _has_bounds(space)


def check_choices(one: Space[object], batch: Space[object], action: Any, path: str) -> None:
    """Raise InvalidAction unless `action`, of `batch`, is in it but for bounds; `one` is the space of a lane.

    >>> from ludus.spaces import Discrete
    >>> gears = Dict({"throttle": Box(-1, 1), "gear": Discrete(5)})
    >>> check_choices(gears, gears.batch(2), {"throttle": [[9], [0]], "gear": [0, 7]}, "action")
    Traceback (most recent call last):
    ludus.errors.InvalidAction: action['gear'][1]: expected Discrete(5), got 7
    """
    if isinstance(one, Dict):
        for (key, part), whole in zip(one.spaces.items(), batch.subspaces, strict=True):
            check_choices(part, whole, action[key], f"{path}[{key!r}]")
    elif isinstance(one, Tuple):
        for place, (part, whole) in enumerate(zip(one.spaces, batch.subspaces, strict=True)):
            check_choices(part, whole, action[place], f"{path}[{place}]")
    elif is_choice(one):
        batch.check(action, path, InvalidAction)


def _has_bounds(space: Space[object]) -> bool:
    return isinstance(space, Box) or any(map(_has_bounds, space.subspaces))
