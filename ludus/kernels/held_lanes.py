"""Lanes that a masked step leaves alone: their memory is kept, and put back when all lanes have been stepped."""

from ludus.kernels.source import CUT_LANE
from ludus.spaces.array_space import Array

__all__ = ["Held"]


class Held:
    """A copy of what some lanes have in every column.

    >>> import numpy as np
    >>> columns = {"age": np.array([4, 7])}
    >>> held = Held(columns, np.array([False, True]))
    >>> columns["age"] += 1
    >>> held.put_back(np.ones(2), np.ones((2, 2), np.bool_)) % CUT_LANE
    1
    >>> columns["age"]
    array([5, 7])
    """

    def __init__(self, columns: dict[str, Array], lanes: Array) -> None:
        self.lanes = lanes
        self._columns = columns
        self._kept = {name: column[lanes] for name, column in columns.items()}

    def put_back(self, rewards: Array, flags: Array) -> int:
        """Give the lanes what they had, and no reward or flag; how many of the others ended, as the loop counts."""
        for name, rows in self._kept.items():
            self._columns[name][self.lanes] = rows
        rewards[self.lanes] = 0.0
        flags[:, self.lanes] = False
        return int((flags[0] | flags[1]).sum()) + CUT_LANE * int(flags[1].sum())
