"""A batch of EnvPool's, with as many threads as serve it best. Needs EnvPool, not Ludus."""

import os
import warnings
from collections.abc import Iterator
from importlib import import_module
from itertools import cycle
from time import perf_counter
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

__all__: list[str] = []

NAMES = {"Taxi-v4": "Taxi-v3"}
"""The same environment under another version."""
OWN_CHOICE = 0
TRIALS, TRIAL = 3, 0.1
"""How often each number of threads is tried, and for how many seconds."""


class Pool(Protocol):
    """A batch of EnvPool's, of which this much is used."""

    def step(self, action: npt.NDArray[np.generic], /) -> object:
        """Step each lane."""
        ...


@runtime_checkable
class Choices(Protocol):
    """Its space of so many choices."""

    n: int


class Range(Protocol):
    """Its space of numbers between bounds."""

    low: npt.NDArray[np.floating]
    high: npt.NDArray[np.floating]
    shape: tuple[int, ...]


class TimedBatch:
    """The batch of an id, in EnvPool's synchronous mode, by its Gymnasium interface."""

    turns = 1

    def __init__(self, id: str, lanes: int, ring: int, threads: int | None = None) -> None:
        warnings.simplefilter("ignore")
        envpool = import_module("envpool")
        name = NAMES.get(id, id)
        if name not in envpool.list_all_envs():
            raise LookupError(f"EnvPool has no environment {id}")
        choices = {OWN_CHOICE, 1, os.cpu_count() or 1} if threads is None else {threads}
        pools = {one: envpool.make(name, env_type="gymnasium", num_envs=lanes, num_threads=one) for one in choices}
        for pool in pools.values():
            pool.reset()
        self.actions = list(_actions(pools[min(choices)].action_space, lanes, ring))
        self.held = sum(one.nbytes for one in self.actions)
        best = _fastest(pools, self.actions) if threads is None else threads
        self._envs = pools.pop(best)
        used = "its own choice" if best == OWN_CHOICE else str(best)
        self.about = {"envpool": envpool.__version__, "numpy": np.__version__, "threads": used}
        self.step = self._envs.step

    def close(self) -> None:
        """Let go of the batch."""
        self._envs.close()
        del self._envs, self.step


def _fastest(pools: dict[int, Pool], actions: list[npt.NDArray[np.generic]]) -> int:
    """The number of threads whose best trial is the best; they take turns, as contestants do."""
    speeds = dict.fromkeys(pools, 0.0)
    for _ in range(TRIALS):
        for threads, pool in pools.items():
            speeds[threads] = max(speeds[threads], _speed(pool, actions))
    return max(speeds, key=lambda threads: speeds[threads])


def _speed(envs: Pool, actions: list[npt.NDArray[np.generic]]) -> float:
    calls, start, ring = 0, perf_counter(), cycle(actions)
    while perf_counter() - start < TRIAL:
        envs.step(next(ring))
        calls += 1
    return calls / (perf_counter() - start)


def _actions(space: Choices | Range, lanes: int, ring: int) -> Iterator[npt.NDArray[np.generic]]:
    """Batches in the dtype that EnvPool takes without converting."""
    rng = np.random.default_rng(0)
    for _ in range(ring):
        if isinstance(space, Choices):
            yield rng.integers(0, space.n, lanes, dtype=np.int32)
        else:
            yield rng.uniform(space.low, space.high, (lanes, *space.shape)).astype(np.float32)
