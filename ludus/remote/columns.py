"""`Columns`: what this side knows of the lanes of a batch elsewhere: the episodes and seeds of each."""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from ludus.core import EpisodePlan
from ludus.core.episode import planned
from ludus.remote.codec import travelling
from ludus.remote.env import next_seed
from ludus.seeding import as_seed
from ludus.wire import encode_value
from ludus.wire.messages import Plan

__all__ = ["Columns", "ColumnsState"]


ColumnsState = tuple[npt.NDArray[np.bool_], npt.NDArray[np.int64], list[int | None], list[int]]
"""Of each lane: whether its episode ended, episodes since a reset, its seed, and how often it began anew since that."""


class Columns:
    """One entry for each lane."""

    def __init__(self, count: int, episodes: EpisodePlan | None) -> None:
        self.count, self.episodes = count, episodes
        self.ended = np.ones(count, dtype=np.bool_)
        self.numbers = np.zeros(count, dtype=np.int64)
        """Episodes that autoreset has begun since a reset."""
        self.seeds: list[int | None] = [None] * count
        self.restarts = [0] * count
        self.unplanned: set[int] = set()
        """Lanes whose next episode has not been sent to the other side."""

    def seeded(self, mask: npt.NDArray[np.bool_], seeds: list[int | None]) -> None:
        """Remember how lanes are seeded from outside: what follows after a restart follows from it."""
        self.numbers[mask] = 0
        for lane in np.flatnonzero(mask):
            self.unplanned.add(int(lane))
            if seeds[lane] is not None:
                self.seeds[lane], self.restarts[lane] = seeds[lane], 0

    def revived(self, lane: int, seed: int | None) -> int | None:
        """The seed for a lane of a new process: where none is given, what follows from the one it had."""
        known = self.seeds[lane]
        if seed is not None or known is None:
            return seed
        self.restarts[lane] += 1
        return next_seed(known, self.restarts[lane])

    def state(self) -> ColumnsState:
        """What a snapshot keeps."""
        return self.ended, self.numbers, self.seeds, self.restarts

    def take_state(self, state: ColumnsState) -> None:
        """Go back to what a snapshot kept; all plans have to be sent again."""
        self.ended, self.numbers, self.seeds, self.restarts = state
        self.unplanned = set(range(self.count))

    # --- planned episodes ---

    def began(self, lanes: Iterable[int]) -> None:
        """A new episode began in some lanes: the one after it has to be planned."""
        for lane in lanes:
            self.numbers[lane] += 1
            self.unplanned.add(int(lane))

    def beginnings(self, begin: int, end: int) -> list[Plan]:
        """How the lanes of a new process begin the episode that they are at, as data."""
        found: list[Plan] = []
        for lane in range(begin, end):
            episode = planned(self.episodes, lane, int(self.numbers[lane]))
            seed = self.revived(lane, None if episode.seed is None else as_seed(episode.seed))
            found.append((lane - begin, encode_value(seed), travelling(episode.options, "options")))
        return found

    def take_plans(self, begin: int, end: int) -> list[Plan]:
        """What is planned for the next episode of lanes that has not been sent to the other side yet."""
        if self.episodes is None or not self.unplanned:
            return []
        lanes = sorted(lane for lane in self.unplanned if begin <= lane < end)
        self.unplanned -= set(lanes)
        found: list[Plan] = []
        for lane in lanes:
            episode = planned(self.episodes, lane, int(self.numbers[lane]) + 1)
            found.append((lane - begin, travelling(episode.seed, "seed"), travelling(episode.options, "options")))
        return found
