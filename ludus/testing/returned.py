"""What the calls of a history returned, held on to until its end: is it as it was, and the caller's own?"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np

from ludus.core import Info
from ludus.spaces.array_space import Array
from ludus.testing.equality import arrays, difference

__all__ = ["Kept", "Keeper", "Part", "writable_arrays"]

Part = Literal["observation", "info"]


class Kept(NamedTuple):
    """What became of the observations, or of the infos, that one history returned."""

    changed: str
    """The first that later calls changed, in words."""
    shared: str
    """The first array in memory that an earlier one has too, in words."""
    writable: bool
    """Whether there are arrays that a caller could write into."""


class Keeper:
    """Watches a history, and holds on to the very objects that its calls return.

    >>> keeper = Keeper()
    >>> keeper([1], {})
    >>> keeper.returned["observation"][0][0] = 2
    >>> print(keeper.kept("observation", ["reset()"], [[1]]).changed)
    the observation of reset(): expected it to stay as it was, got observation[0] 1 when returned, 2 later
    """

    def __init__(self) -> None:
        self.returned: dict[Part, list[object]] = {"observation": [], "info": []}

    def __call__(self, observation: object, info: Info) -> None:
        """Hold on to them."""
        self.returned["observation"].append(observation)
        self.returned["info"].append(info)

    def kept(self, part: Part, labels: Sequence[str], then: Sequence[object]) -> Kept:
        """What became of them, where `then` are the copies that were made when they came."""
        now = self.returned[part]
        writable = any(writable_arrays(one) for one in now)
        return Kept(_changed(part, labels, then, now), _shared(part, labels, now), writable)


def writable_arrays(value: object) -> list[Array]:
    """The arrays of numbers in a value that can be written into."""
    return [array for _, array in arrays(value) if array.flags.writeable and array.dtype.kind in "biuf"]


def _changed(part: Part, labels: Sequence[str], then: Sequence[object], now: Sequence[object]) -> str:
    for label, before, after in zip(labels, then, now, strict=True):
        found = difference(before, after, part)
        if found:
            got = f"{found.path} {found.left} when returned, {found.right} later"
            return f"the {part} of {label}: expected it to stay as it was, got {got}"
    return ""


def _shared(part: Part, labels: Sequence[str], now: Sequence[object]) -> str:
    for (label, earlier), (after, later) in pairwise(zip(labels, now, strict=True)):
        before = dict(arrays(earlier, part))
        for path, array in arrays(later, part):
            other = before.get(path)
            if other is not None and array.flags.writeable and np.shares_memory(array, other):
                return f"the {part} of {after}: expected a new array, got {path} in the memory of that of {label}"
    return ""
