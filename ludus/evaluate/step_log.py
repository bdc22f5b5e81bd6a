"""`StepLog`: what all lanes did, row by row, until the episodes they are in have ended and are taken out."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ludus.evaluate.evaluation import EpisodeResult
from ludus.spaces.array_space import Array

__all__ = ["EpisodeRecord", "StepLog"]

PAGE_ROWS = 256


class EpisodeRecord(NamedTuple):
    """One episode, with what is needed to execute it again."""

    result: EpisodeResult
    arrays: dict[str, Array]
    """Actions, by column, a row for each step; one more where the last one failed."""
    objects: dict[str, list[object]]
    """Those that are no arrays, as plain data."""
    numbers: Array
    """The digest of each observation, that of the reset first."""
    rewards: Array
    failure: tuple[str, str] | None = None
    """The kind and the text of what the agent or the environment failed with."""
    cut: bool = False
    """Whether it was the evaluation that ended it, after its most steps."""


class StepLog:
    """Rows of all lanes, in pages; a page that no episode under way reaches back to is let go.

    >>> log = StepLog(2)
    >>> log.put({"action": np.array([3, 4])}, {}, numbers=np.zeros(2, np.uint64), rewards=np.ones(2))
    >>> log.taken(1, 0, 1)[0]["action"].tolist()
    [4]
    """

    def __init__(self, lanes: int) -> None:
        self.lanes = lanes
        self.row = 0
        self._first_page = 0
        self._pages: list[dict[str, Array]] = []
        self._objects: list[dict[str, list[object]]] = []
        """A row each, from the first page on."""

    def put(
        self, arrays: dict[str, Array], objects: dict[str, list[object]], *, numbers: Array, rewards: Array
    ) -> None:
        """Take a step of all lanes."""
        place = self.row % PAGE_ROWS
        row = {**arrays, "": numbers, "reward": rewards}
        if not place:
            self._pages.append({name: np.empty((PAGE_ROWS, *one.shape), one.dtype) for name, one in row.items()})
        page = self._pages[-1]
        for name, one in row.items():
            page[name][place] = one
        if objects:
            self._objects.append(objects)
        self.row += 1

    def taken(self, lane: int, first: int, end: int) -> tuple[dict[str, Array], dict[str, list[object]]]:
        """What one lane did from one row up to another; digests under an empty name."""
        pages = self._pages[first // PAGE_ROWS - self._first_page : -(-end // PAGE_ROWS) - self._first_page]
        offset = first // PAGE_ROWS * PAGE_ROWS
        names = self._pages[0] if self._pages else {}
        arrays = {name: _of_lane([page[name] for page in pages], lane, first - offset, end - offset) for name in names}
        begin = self._first_page * PAGE_ROWS
        rows = self._objects[first - begin : end - begin]
        return arrays, {name: [row[name][lane] for row in rows] for name in (rows[0] if rows else ())}

    def forget(self, oldest: Callable[[], int]) -> None:
        """Let go of what lies before the row that `oldest` gives; looked at once a page."""
        if self.row % PAGE_ROWS or not self._pages:
            return
        gone = oldest() // PAGE_ROWS - self._first_page
        if gone > 0:
            del self._pages[:gone], self._objects[: gone * PAGE_ROWS]
            self._first_page += gone


def _of_lane(pages: list[Array], lane: int, first: int, end: int) -> Array:
    if len(pages) == 1:
        return pages[0][first:end, lane].copy()
    parts = [page[max(0, first - at * PAGE_ROWS) : end - at * PAGE_ROWS, lane] for at, page in enumerate(pages)]
    return np.concatenate(parts) if parts else np.zeros(0)
