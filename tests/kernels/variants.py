"""Which sets of rules a run compiles with checks, and which without: each class of them once, all in `make test-full`.

A loop with checks and one without are compiled apart, seconds for each id. Half of every family is tried with them (by
the contract, in tests/envs), the other half without (tests/kernels/test_batch.py); the seed of the samples chooses. Of
ids that are one class with other arguments, which have the same rules, a run compiles one.
"""

import random
from collections.abc import Sequence
from itertools import groupby

import pytest

import ludus
from ludus.core.spec import load_entry_point
from ludus.kernels import RuleEnv
from tests.sampling import SEED

__all__ = ["CHECKED", "COMPILED", "RULED", "UNCHECKED", "half", "unchecked"]

USED = ("CartPole-v1", "Copy-v0", "Pendulum-v1", "Taxi-v4", "open/Connect4Board-v0", "open/FinRLMarket-v0")
"""Tests of other things compile these without checks in any case."""


def half(ids: Sequence[str]) -> list[str]:
    """Half of a family, by the seed, of what is not used elsewhere."""
    free = [name for name in ids if name not in USED]
    return random.Random(SEED).sample(free, min(len(free), (len(ids) + 1) // 2))


_SPECS = [spec for spec in ludus.list_envs() if issubclass(load_entry_point(spec.entry_point), RuleEnv)]
RULED = [spec.id for spec in _SPECS]
_CLASSES = {str(spec.entry_point): spec for spec in reversed(_SPECS)}
_CLASSES |= {str(spec.entry_point): spec for spec in _SPECS if spec.id in USED}
"""One id of each class: the one that is used elsewhere, or the first."""
COMPILED = [spec.id for spec in _SPECS if spec in _CLASSES.values()]
CHECKED = [
    name
    for _, family in groupby(sorted(_CLASSES.values(), key=lambda spec: str(spec.family)), lambda spec: spec.family)
    for name in half(sorted(spec.id for spec in family))
]
UNCHECKED = [name for name in COMPILED if name not in CHECKED]


def unchecked(name: str) -> list[pytest.MarkDecorator]:
    """The marks of a test that compiles the rules of an id without checks."""
    return [] if name in UNCHECKED else [pytest.mark.full]
