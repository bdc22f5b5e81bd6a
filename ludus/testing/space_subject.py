"""Subjects that are spaces: fresh copies of one, its samples, and values that hardly any space holds."""

from collections.abc import Callable
from copy import deepcopy
from functools import cached_property

import numpy as np

from ludus.errors import InvalidType, shorten
from ludus.seeding import Seed
from ludus.spaces import Space
from ludus.spaces.space import is_space

__all__ = ["GARBAGE", "SpaceSubject"]

GARBAGE: tuple[object, ...] = (
    None, True, -1, 0, 7, 10**30, 1.5, float("nan"), float("inf"), 1j, "", "text", b"bytes", object(), print, int,
    (), (0,), (None, None), [], [None], [[1], [2, 3]], {}, {"a": 1}, {1, 2},
    np.int8(1), np.float64(0.5), np.bool_(True), np.datetime64("2020-01-01"),
    np.array(0), np.array([]), np.array([np.nan]), np.zeros((2, 3, 5)), np.array("text"),
    np.array([None, 1], dtype=object),
)  # fmt: skip
"""Values of many kinds; most are in no given space, and none may make a space stumble."""

SAMPLES = 12


class SpaceSubject:
    """A space under check; each rule works on copies of it."""

    def __init__(self, target: object, *, seed: int = 0) -> None:
        self.seed = seed
        self._target = target
        self.name = shorten(target, 60) if is_space(target) else getattr(target, "__name__", shorten(target, 60))

    def fresh(self, seed: Seed | None = None) -> Space[object]:
        """A copy of the space, seeded by `seed`, by default the subject's own."""
        space = self.made()
        space.seed(self.seed if seed is None else seed)
        return space

    def made(self) -> Space[object]:
        """The space as it was given or made, copied."""
        found: object = self._target if is_space(self._target) or not callable(self._target) else self._target()
        if not is_space(found):
            raise InvalidType(
                f"check_space: expected a ludus Space, its class or a function that makes one, got {shorten(found)}"
            )
        return deepcopy(found)

    @cached_property
    def samples(self) -> list[object]:
        """Some values of the space."""
        space = self.fresh()
        return [space.sample() for _ in range(SAMPLES)]

    def tidy(self) -> None:
        """Nothing is held."""


SpaceTarget = Space[object] | type[Space[object]] | Callable[[], Space[object]]
"""A space, its class, or a function that makes one."""
