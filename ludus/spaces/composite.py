"""`Composite`: what spaces made of spaces share — seeds drawn for the parts, and flat forms joined."""

from collections.abc import Sequence
from typing import TypeVar, cast

import numpy as np

from ludus.errors import InvalidSpace
from ludus.seeding import as_seed
from ludus.spaces.array_space import Array
from ludus.spaces.box import Box
from ludus.spaces.space import Space

__all__ = ["Composite", "combined_box", "split_flat"]

T_co = TypeVar("T_co", covariant=True)


class Composite(Space[T_co]):
    """A space whose values are made of values of its `subspaces`.

    >>> from ludus.spaces import Discrete, Tuple
    >>> Tuple((Discrete(2), Discrete(3))).flatdim
    5
    """

    @property
    def is_np_flattenable(self) -> bool:
        """Whether every part is."""
        return all(space.is_np_flattenable for space in self.subspaces)

    @property
    def flatdim(self) -> int:
        """The sum over the parts."""
        if not self.is_np_flattenable:
            raise InvalidSpace(
                f"flatdim: expected parts that flatten to arrays, got {self!r}, part of which varies in size"
            )
        return sum(space.flatdim for space in self.subspaces)

    @property
    def flat_dtype(self) -> np.dtype[np.generic]:
        """The dtype that holds every part."""
        return np.result_type(*(space.flat_dtype for space in self.subspaces))

    def same_layout(self, other: Space[object]) -> bool:
        """The same structure, and parts that fit the same buffers."""
        mine, theirs = self.subspaces, other.subspaces
        return (
            type(self) is type(other)
            and len(mine) == len(theirs)
            and all(a.same_layout(b) for a, b in zip(mine, theirs, strict=True))
        )

    def _drawn_seeds(self, seed: object) -> list[int]:
        """Seed this space by an integer and draw one seed for each part."""
        super().seed(as_seed(seed))
        return [int(one) for one in self.np_random.integers(np.iinfo(np.int32).max, size=len(self.subspaces))]


def combined_box(flat: Sequence[Space[object]]) -> Box:
    """One box with the bounds of flat boxes, one after another."""
    if not flat:
        raise InvalidSpace("flatten: expected at least one space, got none")
    boxes = cast(Sequence[Box], flat)  # as those of spaces that flatten to arrays are
    return Box(
        np.concatenate([box.low for box in boxes]),
        np.concatenate([box.high for box in boxes]),
        dtype=np.result_type(*[box.dtype for box in boxes]),
    )


def split_flat(space: Space[object], x: Array) -> list[Array]:
    """The flat form of each part of a joined one."""
    sizes = [part.flatdim for part in space.subspaces]
    if x.shape != (sum(sizes),):
        raise InvalidSpace(f"unflatten into {space!r}: expected {sum(sizes)} numbers in one row, got shape {x.shape}")
    return np.split(x, np.cumsum(sizes[:-1]))
