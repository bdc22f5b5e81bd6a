"""`PlannedLanes`: which episodes a batch's plan begins, and in which rows, as the batch asks it."""

import numpy as np

from ludus.core import AutoresetMode, EpisodePlan
from ludus.core.episode import planned
from ludus.spaces.array_space import Array
from ludus.spaces.plain import encode_value
from ludus.trajectory.block import PlannedEpisode

__all__ = ["PlannedLanes"]


class PlannedLanes:
    """Follows the episodes of lanes by number; a plan depends on lane and number alone, so it can be asked once more.

    >>> from ludus.core import Episode
    >>> lanes = PlannedLanes(lambda lane, number: Episode(seed=10 * lane + number), 2)
    >>> lanes.step(np.array([False, True]), AutoresetMode.SAME_STEP)
    (PlannedEpisode(lane=1, number=1, seed=11, options=None),)
    """

    def __init__(self, plan: EpisodePlan, lanes: int) -> None:
        self._plan = plan
        self._numbers = np.zeros(lanes, np.int64)
        self._waiting = np.zeros(lanes, np.bool_)
        """Lanes that the next step begins."""

    def reset(self, mask: Array | None, *, planned: bool) -> tuple[PlannedEpisode, ...]:
        """A reset of lanes, or of all of them; with `planned`, as autoreset begins them."""
        lanes = np.ones(len(self._numbers), np.bool_) if mask is None else mask
        self._numbers[lanes] = self._numbers[lanes] + 1 if planned else 0
        self._waiting &= ~lanes
        return self._episodes_of(lanes) if planned else ()

    def step(self, ended: Array, mode: AutoresetMode, mask: Array | None = None) -> tuple[PlannedEpisode, ...]:
        """What begins with the row of a step, of all lanes or of some, in which these lanes have ended."""
        stepped = np.ones_like(ended) if mask is None else mask
        begun = ended if mode is AutoresetMode.SAME_STEP else self._waiting & stepped
        if mode is AutoresetMode.NEXT_STEP:
            self._waiting = ended | (self._waiting & ~stepped)
        if mode is AutoresetMode.DISABLED or not begun.any():
            return ()
        self._numbers[begun] += 1
        return self._episodes_of(begun)

    def _episodes_of(self, lanes: Array) -> tuple[PlannedEpisode, ...]:
        found: list[PlannedEpisode] = []
        for lane in np.flatnonzero(lanes).tolist():
            number = int(self._numbers[lane])
            episode = planned(self._plan, lane, number)
            seed = None if episode.seed is None else encode_value(int(episode.seed))
            found.append(PlannedEpisode(lane, number, seed, encode_value(episode.options, "options")))
        return tuple(found)
