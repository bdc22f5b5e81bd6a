"""`OpenedRun`: a file that is looked at, opened anew when it has grown, and its table as a page asks for it."""

import os
from contextlib import suppress
from functools import cached_property
from time import time

import numpy as np

from ludus.core import Outcome
from ludus.errors import InvalidArgument, LudusError, TrajectoryError, listing, shorten
from ludus.server.protocols.web_api.page_json import plain
from ludus.spaces.array_space import Array
from ludus.spaces.kinds import is_mapping
from ludus.trajectory import RecordedEpisode, Run
from ludus.trajectory.tracker import OUTCOMES

__all__ = ["PAGE_EPISODES", "OpenedRun", "outcome_name"]

PAGE_EPISODES = 100
MAX_SEEDS = 100_000
"""Up to so many episodes the seed of each is looked up, so that the table can be sorted by it."""
FRESH_SECONDS = 10.0
"""A file without its end that was written to so lately is being recorded."""
SORTS = ("number", "seed", "return", "length", "outcome", "lane", "terminated", "truncated")
UNKNOWN = "unknown"


def outcome_name(outcome: Outcome | None) -> str:
    """The word for an outcome.

    >>> outcome_name(None), outcome_name(Outcome.TIME_LIMIT)
    ('unknown', 'time_limit')
    """
    return UNKNOWN if outcome is None else outcome.value


NAMES = tuple(map(outcome_name, OUTCOMES))


class OpenedRun:
    """One file, for one reader at a time. Raises TrajectoryError, and nothing else, on any file."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        self.stamp: tuple[int, ...] = ()
        self.refresh()

    def refresh(self) -> bool:
        """Open the file anew where it is not what it was; whether it was. One that cannot be read stays as it was."""
        try:
            found = os.stat(self.path)
            stamp = found.st_ino, found.st_size, found.st_mtime_ns
        except (OSError, ValueError) as error:
            if self.stamp:
                return False
            raise TrajectoryError(f"{self.path}: expected a file that can be read, got {error}") from error
        if stamp == self.stamp:
            return False
        if self.stamp:
            with suppress(LudusError):
                self._open(stamp)
                return True
            return False
        self._open(stamp)
        return True

    def _open(self, stamp: tuple[int, ...]) -> None:
        run = Run.open(self.path)
        _ = run.table  # what is wrong with it is said now
        self.run, self.stamp = run, stamp
        self._orders: dict[tuple[object, ...], Array] = {}
        for name in ("seeds", "returns"):
            self.__dict__.pop(name, None)

    @property
    def live(self) -> bool:
        """Whether it is being recorded, as far as one can tell from outside."""
        return bool(self.run.missing) and time() - self.stamp[2] / 1e9 < FRESH_SECONDS

    @cached_property
    def seeds(self) -> list[int | None] | None:
        """The seed of each episode; None where there are too many to look up."""
        table = self.run.table
        if len(table) > MAX_SEEDS:
            return None
        rows = zip(table["start"].tolist(), table["lane"].tolist(), strict=True)
        return [self.run.beginning(row, lane)[0] for row, lane in rows]

    @cached_property
    def returns(self) -> Array:
        """The return of each episode; of games, the first player's."""
        found = self.run.table["return"]
        return found if found.ndim == 1 else found.reshape(len(found), -1)[:, 0]

    def about(self) -> dict[str, object]:
        """What stands above the table."""
        header, table = self.run.header, self.run.table
        counts = np.bincount(table["outcome"], minlength=len(NAMES)) if len(table) else np.zeros(len(NAMES), int)
        kept = self.returns[~table.masked & np.isfinite(self.returns)] if len(table) else np.zeros(0)
        return plain(
            {
                "name": os.path.basename(self.path),
                "stamp": "-".join(map(str, self.stamp)),
                "bytes": self.stamp[1],
                "live": self.live,
                "missing": self.run.missing,
                "episodes": len(table),
                "steps": int(table["length"].sum()),
                "masked": int(table.masked.sum()) if len(table) else 0,
                "outcomes": {name: int(count) for name, count in zip(NAMES, counts, strict=False) if count},
                "mean": float(kept.mean()) if len(kept) else None,
                "least": float(kept.min()) if len(kept) else None,
                "greatest": float(kept.max()) if len(kept) else None,
                "level": header.level,
                "lanes": header.lanes,
                "seeds": self.seeds is not None,
                "header": self._header(),
            }
        )

    def _header(self) -> dict[str, object]:
        header = self.run.header
        spec = header.spec or {}
        return {
            "environment": spec.get("id") or _task(header.metadata) or "unknown",
            "arguments": spec.get("kwargs") or None,
            "time limit": spec.get("max_episode_steps"),
            "wrappers": [one.get("name") for one in [*(spec.get("additional_wrappers") or ()), *header.wrappers]],
            "isolation": spec.get("isolation_record"),
            "code": spec.get("entry_point"),
            "source": header.rules,
            "executor": header.executor,
            "autoreset": header.autoreset_mode,
            "versions": header.versions,
            "metadata": header.metadata or None,
            "not replayable": header.unspecified,
        }

    # --- the table ---

    def episodes(self, sort: str, down: bool, outcomes: tuple[str, ...], text: str, page: int) -> dict[str, object]:
        """A page of the table, sorted and filtered."""
        if sort not in SORTS:
            raise InvalidArgument(f"sort: expected one of {listing(SORTS)}, got {shorten(sort)}")
        order = self._order(sort, down, outcomes, text)
        chosen = order[page * PAGE_EPISODES : (page + 1) * PAGE_EPISODES]
        return {"total": len(order), "page": page, "rows": [self.row(number) for number in chosen.tolist()]}

    def _order(self, sort: str, down: bool, outcomes: tuple[str, ...], text: str) -> Array:
        key = sort, down, outcomes, text
        if key not in self._orders:
            if len(self._orders) > 8:
                self._orders.clear()
            found = self._filtered(outcomes, text)
            by = self._column(sort)[found]
            order = np.argsort(by, kind="stable")
            self._orders[key] = found[_reversed(by, order) if down else order]
        return self._orders[key]

    def _filtered(self, outcomes: tuple[str, ...], text: str) -> Array:
        table = self.run.table
        keep = np.ones(len(table), np.bool_)
        if outcomes:
            codes = [code for code, name in enumerate(NAMES) if name in outcomes]
            keep &= np.isin(table["outcome"], codes)
        words = text.lower().split()
        for word in words:
            keep &= self._matching(word)
        return np.flatnonzero(keep)

    def _matching(self, word: str) -> Array:
        """Which episodes a word fits: the number itself (`#7`, `7`), a seed, or a part of an outcome's name."""
        table, plain_word = self.run.table, word.removeprefix("#")
        found = np.zeros(len(table), np.bool_)
        if plain_word.isdecimal() and len(plain_word) <= 20:
            number = int(plain_word)
            found[number : number + 1] = True
            if self.seeds is not None and not word.startswith("#"):
                found |= np.array([seed == number for seed in self.seeds], np.bool_)
            return found
        codes = [code for code, name in enumerate(NAMES) if word in name]
        return np.isin(table["outcome"], codes)

    def _column(self, sort: str) -> Array:
        table = self.run.table
        if sort == "number" or (sort == "seed" and self.seeds is None):
            return np.arange(len(table))
        if sort == "seed":
            return np.array([float("inf") if seed is None else float(seed) for seed in self.seeds or ()])
        if sort == "outcome":
            return np.array(NAMES)[table["outcome"]] if len(table) else np.zeros(0)
        return self.returns if sort == "return" else table[sort]

    def row(self, number: int) -> dict[str, object]:
        """One row of the table."""
        episode = RecordedEpisode(self.run, number)
        seed = self.seeds[number] if self.seeds is not None else episode.seed
        return plain(
            {
                "number": number,
                "seed": seed,
                "lane": episode.lane,
                "return": episode.total_reward,
                "length": episode.length,
                "outcome": outcome_name(episode.outcome),
                "masked": episode.masked,
                "terminated": episode.terminated,
                "truncated": episode.truncated,
            }
        )


def _task(metadata: object) -> str:
    """The task and the agent that a run without a spec says it is of."""
    named = [metadata.get(key) for key in ("task", "agent")] if is_mapping(metadata) else []
    return ", ".join(one for one in named if isinstance(one, str) and one)


def _reversed(by: Array, order: Array) -> Array:
    """The order from above; equal values stay in their order, and NaN stays last."""
    ranks = np.unique(by, return_inverse=True)[1]
    lost = by != by if by.dtype.kind == "f" else np.zeros(len(by), np.bool_)
    return np.argsort(np.where(lost, 1, -ranks), kind="stable") if len(order) else order
