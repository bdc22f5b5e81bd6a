"""Environments whose every instance starts programs: a browser, a simulation, a forge, the sandbox of a research task.

What is tried on every id of the registry is tried on these in `make test-full`; in each run their own tests show it.
"""

from collections.abc import Callable, Iterable
from typing import Any
from zlib import crc32

import pytest

from ludus.core import EnvSpec
from tests.sampling import FULL, SEED

SMALLER: dict[str, dict[str, Any]] = {"open/Atari-v0": {"obs_type": "ram"}, "open/AtariArrays-v0": {"obs_type": "ram"}}
"""By which each run tries a console by its memory: pictures would be compared, and written, number by number."""
ENGINES = {"open/BrowserGym-v0", "open/Git-v0", "open/SumoRL-v0", "open/SumoRLSignals-v0"}


def starts_programs(name: str) -> bool:
    """Whether each instance of it takes a second and more."""
    return name in ENGINES or name.startswith("task/")


def in_small(spec: EnvSpec) -> EnvSpec:
    """The environment as each run tries it; in `make test-full`, as it is."""
    return spec if FULL else spec.replace(kwargs={**spec.kwargs, **SMALLER.get(spec.id, {})})


def engines_in_full(names: Iterable[str]) -> list[Any]:
    """The ids as parameters of a test: those that start programs are for `make test-full`."""
    return [pytest.param(name, marks=pytest.mark.full) if starts_programs(name) else name for name in names]


SIBLINGS = (
    ("CartPole-v0", "CartPole-v1"),
    ("FrozenLake-v1", "FrozenLake8x8-v1"),
    ("CliffWalking-v1", "CliffWalkingSlippery-v1"),
    ("MountainCar-v0", "MountainCarContinuous-v0"),
    ("Bandit-v0", "GaussianBandit-v0"),
    ("Copy-v0", "DuplicatedInput-v0", "Reverse-v0"),
    ("RepeatCopy-v0", "ReversedAddition-v0", "ReversedAddition3-v0"),
    ("open/Atari-v0", "open/AtariArrays-v0"),
    ("open/Connect4-v0", "open/Connect4Board-v0", "open/Connect4Players-v0"),
    ("open/OpenSpiel-v0", "open/OpenSpielArrays-v0"),
    ("open/FinRL-v0", "open/FinRLMarket-v0"),
    ("open/Echo-v0", "open/EchoTools-v0"),
)
"""Ids of one class, one engine or one family's code, which differ in arguments or in how they are seen."""


def has_turn(name: str) -> bool:
    """Whether a run tries what it tries on every id on this one, or on one of its siblings."""
    for alike in SIBLINGS:
        if name in alike:
            return alike[(crc32(alike[0].encode()) + SEED) % len(alike)] == name
    return True


def siblings_in_turns(names: Iterable[str], also: Callable[[str], bool] = lambda _: True) -> list[Any]:
    """The ids as parameters of a test that is dear: of siblings each run tries one, and `make test-full` all.

    `also` says which of those that have their turn a run tries.
    """
    return [
        one if has_turn(one) and not starts_programs(one) and also(one) else pytest.param(one, marks=pytest.mark.full)
        for one in names
    ]
