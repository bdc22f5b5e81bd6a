"""Covering samples: a law over a large product is tried in every value of each axis by every run, and everywhere by a full one.

Which combinations a run takes follows from one seed, which the head of each run prints: whoever has it has the same sample.
"""

import os
import random
from collections.abc import Callable, Sequence
from itertools import combinations, product
from typing import Any

import pytest

SEED = int(os.environ.get("LUDUS_SAMPLE_SEED", "11"))
HEADER = f"samples of products: LUDUS_SAMPLE_SEED={SEED}; `make test-full` takes the products whole"

Point = tuple[int, ...]
"""Places on the axes."""


def sample(sizes: Sequence[int], *, strength: int = 2, seed: int = SEED) -> list[Point]:
    """Points of a product in which all values of any `strength` axes meet: few of them, and spread over pairs of axes.

    >>> len(sample([22, 3, 3], strength=1)), len(sample([22, 3, 3], strength=2)), len(list(product(*map(range, [22, 3, 3]))))
    (22, 66, 198)
    """
    points = list(product(*map(range, sizes)))
    random.Random(seed).shuffle(points)
    missing = {met for point in points for met in _met(point, strength)}
    spread = {met for point in points for met in _met(point, 2)}
    found: list[Point] = []
    while missing:
        best = max(points, key=lambda point: (len(missing & _met(point, strength)), len(spread & _met(point, 2))))
        missing -= _met(best, strength)
        spread -= _met(best, 2)
        found.append(best)
    return sorted(found)


def _met(point: Point, strength: int) -> set[tuple[tuple[int, int], ...]]:
    """The values that meet in a point, for every choice of so many axes."""
    return set(combinations(enumerate(point), min(strength, len(point))))


def covering(
    names: str,
    *axes: Sequence[Any],
    strength: int = 2,
    always: Callable[..., bool] = lambda *_: False,
    ids: Callable[[Any], str] = str,
) -> pytest.MarkDecorator:
    """A test over a product of axes: a covering sample of it and what is `always` tried in every run, the rest in full ones."""
    chosen = set(sample([len(axis) for axis in axes], strength=strength, seed=SEED))
    cells: list[Any] = []
    for point in product(*(range(len(axis)) for axis in axes)):
        values = [axis[place] for axis, place in zip(axes, point, strict=True)]
        marks = [] if point in chosen or always(*values) else [pytest.mark.full]
        cells.append(pytest.param(*values, marks=marks, id="-".join(map(ids, values))))
    return pytest.mark.parametrize([name.strip() for name in names.split(",")], cells)
