"""Rules about sampling and copies: one seed, one row of samples; a copy goes its own way."""

from copy import deepcopy

import numpy as np

from ludus.spaces import Space
from ludus.testing.equality import Difference, difference
from ludus.testing.global_random import global_random, global_states, moved
from ludus.testing.report import error
from ludus.testing.rule import Found
from ludus.testing.space_subject import SpaceSubject

__all__ = [
    "copies_are_independent",
    "equality_is_by_value",
    "global_random_untouched",
    "numpy_seeds_are_accepted",
    "same_seed_same_samples",
]

FIX = "draw from self.np_random alone, and let seed() seed every part"


def same_seed_same_samples(subject: SpaceSubject) -> Found:
    """The same seed gives the same samples, to copies and to the same space again."""
    space = subject.fresh()
    first = _draw(space)
    space.seed(subject.seed)
    for where, again in (("seeded again", _draw(space)), ("a copy with the same seed", _draw(subject.fresh()))):
        found = difference(first, again, "sample ")
        if found:
            yield error(f"{where}: expected the same samples, got {found}", FIX)
            return


def global_random_untouched(subject: SpaceSubject) -> Found:
    """Sampling neither depends on nor moves `random` and `np.random`, the process's own generators."""
    (first, used), (then, _) = _under(subject, 1), _under(subject, 2)
    found = difference(first, then, "sample ")
    if used or found:
        yield error(
            f"expected draws from self.np_random only, got some from {' and '.join(used) or 'a global generator'}", FIX
        )


def _under(subject: SpaceSubject, global_seed: int) -> tuple[list[object], list[str]]:
    with global_random(global_seed):
        before = global_states()
        return _draw(subject.fresh()), moved(before)


def numpy_seeds_are_accepted(subject: SpaceSubject) -> Found:
    """A NumPy integer as seed means the same as the Python one."""
    found = difference(_draw(subject.fresh()), _draw(subject.fresh(np.int64(subject.seed))), "sample ")
    if found:
        yield error(
            f"seed(np.int64({subject.seed})): expected the samples of {subject.seed}, got {found}",
            "hand the seed to super().seed",
        )


def copies_are_independent(subject: SpaceSubject) -> Found:
    """A deep copy continues where the original is, and drawing from either leaves the other alone."""
    space = subject.fresh()
    copied = deepcopy(space)
    expected = _draw(copied)
    if not _apart(subject, expected):
        return
    found = difference(expected, _draw(space), "sample ")
    if found:
        message = f"the original, after its copy was drawn from: expected the copy's samples, got {found}"
        yield error(
            message,
            "share no generator between copies: keep it in `_np_random`, and define no __deepcopy__ that shares it",
        )


def _apart(subject: SpaceSubject, samples: list[object]) -> Difference | bool:
    """Whether the same draws can be told from the next ones; a space of one value says nothing."""
    space = subject.fresh()
    _draw(space)
    return difference(samples, _draw(space)) or False


def equality_is_by_value(subject: SpaceSubject) -> Found:
    """A space equals its copy, wherever the generators are, and nothing that is not a space."""
    space, copied = subject.fresh(0), subject.fresh(1)
    if space != copied:
        yield error(f"expected {space!r} to equal its copy, got False", "compare by the constructor's arguments")
    if space == object() or space == None:  # noqa: E711
        yield error("expected False for what is no space, got True", "begin __eq__ by `isinstance(other, type(self))`")


def _draw(space: Space[object]) -> list[object]:
    return [space.sample() for _ in range(8)]
