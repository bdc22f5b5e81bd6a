"""Random streams of a wrapper around a batch: one for each lane, the same that the lane by itself would give it.

They are kept here and not asked for: lanes may be in other processes or on other machines, where a stream that is sent
over is a copy, and where one message for each draw would cost more than the step.
"""

from __future__ import annotations  # else the annotations here would load numpy.random with `import ludus`

from collections.abc import Mapping, Sequence
from math import ceil

import numpy as np
import numpy.typing as npt

from ludus.core import EpisodePlan
from ludus.core.episode import planned
from ludus.core.fork import Lanes
from ludus.seeding import Seed, copy_generator, derived_stream, lane_seeds, np_random

__all__ = ["LaneStreams"]

Mask = npt.NDArray[np.bool_]
DRAWS_AHEAD = 2048
"""Draws of a lane that are made at once: one by one they take fifty times as long."""


class LaneStreams:
    """The stream `name` of each of `count` lanes; `plan` is the batch's plan of episodes.

    >>> streams = LaneStreams("noise", 2, None)
    >>> streams.reset([7, 8], np.ones(2, np.bool_))
    >>> streams[1].random() == derived_stream(np_random(8)[0], "noise").random()
    True
    """

    def __init__(self, name: str, count: int, plan: EpisodePlan | None) -> None:
        self._name, self.plan = name, plan
        self._seeds: list[int | None] = [None] * count
        self._streams: list[np.random.Generator | None] = [None] * count
        self._numbers = np.zeros(count, dtype=np.int64)
        self._drawn: npt.NDArray[np.bool_] | None = None
        """Draws made ahead, for each lane; those before `_at` are used up."""
        self._ends = np.arange(1, count + 1, dtype=np.int64) * DRAWS_AHEAD
        self._at = self._ends.copy()
        self._left = 0
        """How many draws every lane has at least."""

    def __getitem__(self, lane: int) -> np.random.Generator:
        stream = self._streams[lane]
        if stream is None:
            stream = self._streams[lane] = derived_stream(np_random(self._seeds[lane])[0], self._name)
        return stream

    def forked(self, lanes: Lanes) -> LaneStreams:
        """Streams that go on from where these lanes are."""
        chosen: list[int] = np.asarray(lanes).tolist()
        twin = LaneStreams(self._name, len(chosen), self.plan)
        twin._seeds = [self._seeds[lane] for lane in chosen]
        twin._streams = [None if self._streams[lane] is None else copy_generator(self[lane]) for lane in chosen]
        twin._numbers = self._numbers[chosen]
        if self._drawn is not None:
            rows = self._drawn.reshape(-1, DRAWS_AHEAD)[chosen]
            twin._drawn, twin._at = rows.ravel(), (self._at - self._ends)[chosen] + twin._ends
            twin._left = self._left
        return twin

    # --- lanes that begin ---

    def reset(self, seed: Seed | Sequence[Seed | None] | None, lanes: Mask) -> None:
        """Lanes were reset, with these seeds."""
        self._numbers[lanes] = 0
        if seed is not None:
            seeds = lane_seeds(seed, len(lanes))
            self._restart({lane: seeds[lane] for lane in np.flatnonzero(lanes).tolist()})

    def begin(self, lanes: Mask) -> None:
        """Lanes were begun by autoreset: a stream starts anew where the plan has a seed."""
        if self.plan is None:
            return
        self._numbers[lanes] += 1
        chosen: list[int] = np.flatnonzero(lanes).tolist()
        self._restart({lane: planned(self.plan, lane, int(self._numbers[lane])).seed for lane in chosen})

    def _restart(self, seeds: Mapping[int, Seed | None]) -> None:
        for lane, seed in seeds.items():
            if seed is not None:
                self._seeds[lane], self._streams[lane] = int(seed), None
                self._at[lane], self._left = self._ends[lane], 0

    # --- draws ---

    def chances(self, lanes: Mask, probability: float) -> Mask:
        """Whether `random() < probability` in each of these lanes; always the same probability."""
        drawn = self._drawn
        if drawn is None or not self._left:
            drawn = self._draw(probability)
        self._left -= 1
        found = drawn.take(self._at)
        found &= lanes
        self._at += lanes
        return found

    def _draw(self, probability: float) -> Mask:
        """Draw ahead in every lane that has few draws left; the draws of all lanes."""
        if self._drawn is None:
            self._drawn = np.zeros(len(self._at) * DRAWS_AHEAD, np.bool_)
        bound = np.uint64(ceil(probability * 2**53) << 11)  # of the 53 bits that a number from 0 to 1 has
        left = self._ends - self._at
        for lane in np.flatnonzero(left < DRAWS_AHEAD // 2).tolist():
            rest, at, end = int(left[lane]), int(self._at[lane]), int(self._ends[lane])
            first = end - DRAWS_AHEAD
            self._drawn[first : first + rest] = self._drawn[at:end].copy()
            raw: object = self[lane].bit_generator.random_raw(DRAWS_AHEAD - rest)
            self._drawn[first + rest : end] = raw < bound
            self._at[lane] = first
        self._left = int((self._ends - self._at).min())
        return self._drawn
