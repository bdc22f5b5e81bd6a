"""`Columns`: what a confined batch knows of its lanes on this side, and what a step writes for each of them."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ludus.core import AutoresetMode, EpisodePlan, Info
from ludus.core.episode import planned
from ludus.sandbox.environment.resident import travelling
from ludus.sandbox.environment.restart import next_seed
from ludus.seeding import as_seed
from ludus.wire import encode_value
from ludus.wire.message import Plan

__all__ = ["Columns"]

AddInfo = Callable[[Info, Info, int], Info]
"""How the info of a lane enters those of the batch."""


class Columns:
    """One entry for each lane: rewards and flags of the last step, where it is in its episodes, and its seed."""

    def __init__(self, count: int, mode: AutoresetMode, episodes: EpisodePlan | None, add: AddInfo) -> None:
        self.count, self.mode, self.episodes, self._add = count, mode, episodes, add
        self.ended = np.ones(count, dtype=np.bool_)
        self.numbers = np.zeros(count, dtype=np.int64)
        self.seeds: list[int | None] = [None] * count
        self.restarts = [0] * count
        self.unplanned: set[int] = set()
        self.clear()

    def clear(self) -> None:
        """Nothing of a step yet."""
        self.rewards = np.zeros(self.count)
        self.terminated, self.truncated = np.zeros(self.count, np.bool_), np.zeros(self.count, np.bool_)
        self.infos: Info = {}

    def add(self, info: Info, lane: int) -> None:
        """Enter what a lane says."""
        self._add(self.infos, info, lane)

    def seeded(self, mask: Any, seeds: list[int | None]) -> None:
        """Remember how lanes are seeded from outside: what follows after a restart follows from it."""
        self.numbers[mask] = 0
        for lane in np.flatnonzero(mask):
            if seeds[lane] is not None:
                self.seeds[lane], self.restarts[lane] = seeds[lane], 0

    def revived(self, lane: int, seed: int | None) -> int | None:
        """The seed for a lane of a new process: where none is given, what follows from the one it had."""
        known = self.seeds[lane]
        if seed is not None or known is None:
            return seed
        self.restarts[lane] += 1
        return next_seed(known, self.restarts[lane])

    def state(self) -> tuple[Any, ...]:
        """What a snapshot keeps."""
        return self.ended, self.numbers, self.seeds, self.restarts

    def take_state(self, state: tuple[Any, ...]) -> None:
        """Go back to what a snapshot kept; the lanes have to be told all plans again."""
        self.ended, self.numbers, self.seeds, self.restarts = state
        self.unplanned = set(range(self.count))

    # --- planned episodes ---

    def began(self, lanes: Iterable[int]) -> None:
        """A new episode began in some lanes: the one after it has to be planned."""
        for lane in lanes:
            self.numbers[lane] += 1
            self.unplanned.add(lane)

    def beginnings(self, begin: int, end: int) -> list[Plan]:
        """How the lanes of a new process begin the episode that they are at, as data."""
        found: list[Plan] = []
        for lane in range(begin, end):
            episode = planned(self.episodes, lane, int(self.numbers[lane]))
            seed = self.revived(lane, None if episode.seed is None else as_seed(episode.seed))
            found.append((lane - begin, encode_value(seed), travelling(episode.options, "options")))
        return found

    def plans(self, lanes: Iterable[int], begin: int) -> list[Plan]:
        """What is planned for the next episode of lanes of the share from `begin` on, as data."""
        found: list[Plan] = []
        for lane in lanes if self.episodes is not None else ():
            episode = planned(self.episodes, begin + lane, int(self.numbers[begin + lane]) + 1)
            found.append((lane, travelling(episode.seed, "seed"), travelling(episode.options, "options")))
        return found

    def take_plans(self, begin: int, end: int) -> list[Plan]:
        """The plans that the share from `begin` to `end` has not been told yet."""
        lanes = sorted(lane for lane in self.unplanned if begin <= lane < end)
        self.unplanned -= set(lanes)
        return self.plans([lane - begin for lane in lanes], begin)
