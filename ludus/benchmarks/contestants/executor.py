"""A batch of `ludus.make_vec`, by any of its executors."""

from typing import Any

import numpy as np

from ludus.registry import make_vec
from ludus.spaces.kinds import is_dict, is_list_or_tuple
from ludus.vector.executor import EXECUTORS
from ludus.version import __version__

__all__: list[str] = []


class TimedBatch:
    """The batch of an id and an executor."""

    turns = 1

    def __init__(self, id: str, lanes: int, ring: int, executor: str, **options: Any) -> None:
        self._envs = make_vec(id, lanes, EXECUTORS[executor](**options))
        space = self._envs.action_space
        space.seed(0)
        self.actions = [space.sample() for _ in range(ring)]
        self.held = sum(_bytes(one) for one in self.actions)
        self.about = {"ludus": __version__, "numpy": np.__version__}
        self._envs.reset(seed=0)
        self.step = self._envs.step

    def close(self) -> None:
        """Close the batch."""
        self._envs.close()


def _bytes(value: object) -> int:
    if isinstance(value, np.ndarray):
        return value.nbytes
    parts = value.values() if is_dict(value) else value if is_list_or_tuple(value) else ()
    return sum(_bytes(part) for part in parts)
