"""Covering samples: each run tries a law over a large product with every value of each axis, a full one everywhere.

Which combinations a run takes follows from one seed, which the head of each run prints: the same seed, the same sample.
"""

import os
import random
from collections.abc import Callable, Sequence
from itertools import combinations, product
from typing import Any

import pytest

SEED = int(os.environ.get("LUDUS_SAMPLE_SEED", "11"))
FULL = "LUDUS_FULL" in os.environ
"""Whether this is a run of `make test-full`, for what has to be known before pytest chooses by markers."""
HEADER = f"samples of products: LUDUS_SAMPLE_SEED={SEED}; `make test-full` takes the products whole"


def examples(number: int) -> int:
    """How many examples of Hypothesis a run tries of so many that a full one does: one of five."""
    return number if FULL else max(1, number // 5)


Point = tuple[int, ...]
"""Places on the axes."""


def sample(points: Sequence[Point], *, strength: int = 2, seed: int = SEED) -> set[Point]:
    """Few points of a product, in which all values of any `strength` axes meet; spread over pairs of axes.

    >>> points = list(product(range(22), range(3), range(3)))
    >>> len(sample(points, strength=1)), len(sample(points, strength=2)), len(points)
    (22, 66, 198)
    """
    shuffled = {point: (_met(point, strength), _met(point, 2)) for point in points}
    shuffled = dict(random.Random(seed).sample(list(shuffled.items()), len(shuffled)))
    missing = {one for met, _ in shuffled.values() for one in met}
    spread = {one for _, met in shuffled.values() for one in met}
    found: set[Point] = set()
    while missing:
        best = max(shuffled, key=lambda point: (len(missing & shuffled[point][0]), len(spread & shuffled[point][1])))
        missing -= shuffled[best][0]
        spread -= shuffled.pop(best)[1]
        found.add(best)
    return found


def _met(point: Point, strength: int) -> set[tuple[tuple[int, int], ...]]:
    """The values that meet in a point, for every choice of so many axes."""
    return set(combinations(enumerate(point), min(strength, len(point))))


def covering(
    names: str,
    *axes: Sequence[Any],
    strength: int = 2,
    always: Callable[..., bool] = lambda *_: False,
    marks: Callable[..., list[pytest.MarkDecorator]] = lambda *_: [],
    ids: Callable[[Any], str] = str,
    indirect: Sequence[str] = (),
) -> pytest.MarkDecorator:
    """A test over a product of axes: each run tries what it `always` has to and a covering sample of the rest."""
    every = {
        point: tuple(axis[place] for axis, place in zip(axes, point, strict=True))
        for point in product(*(range(len(axis)) for axis in axes))
    }
    kept = {point for point, values in every.items() if always(*values)}
    kept |= sample([point for point in every if point not in kept], strength=strength, seed=SEED)
    cells = [
        pytest.param(
            *values,
            marks=[*marks(*values), *([] if point in kept else [pytest.mark.full])],
            id="-".join(map(ids, values)),
        )
        for point, values in every.items()
    ]
    return pytest.mark.parametrize([name.strip() for name in names.split(",")], cells, indirect=list(indirect))
