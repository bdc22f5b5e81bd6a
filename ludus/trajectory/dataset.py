"""Runs for those who train: steps by number, as a data loader asks for them, and flat columns for tables."""

from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np

from ludus.errors import MissingExtra
from ludus.spaces.array_space import Array
from ludus.spaces.kinds import is_dict, is_list, is_tuple
from ludus.trajectory.chunk_reader import Column
from ludus.trajectory.episode import RecordedEpisode
from ludus.trajectory.run import Run

__all__ = ["StepDataset", "flat_columns", "to_arrow", "to_pandas"]

EXTRAS = {"pandas": "pandas", "pyarrow": "parquet"}


class StepDataset:
    """The steps of a run by number, each a dictionary of arrays: what torch's `DataLoader` takes, without torch.

    Episodes that are no result of the agent's (`masked`) are left out, unless asked for.

    >>> import ludus, tempfile
    >>> from ludus.trajectory import Recorder
    >>> path = tempfile.mkdtemp() + "/run.ludus"
    >>> with Recorder(ludus.make("GridWorld-v0"), path, "full") as env:
    ...     _ = env.reset(seed=7), env.step(1), env.step(2), env.reset(seed=8)
    >>> steps = StepDataset(Run.open(path), masked=True)
    >>> len(steps), steps[1]["action"], steps[1]["next_observation"].shape
    (2, array(2), (2,))
    """

    def __init__(self, run: Run, *, masked: bool = False) -> None:
        self.run = run
        left = np.ones(len(run), np.bool_) if masked else ~run.table.masked
        self._episodes = np.flatnonzero(left)
        self._ends = np.cumsum(run.table["length"][left])
        self._current: tuple[int, dict[str, object]] = (-1, {})

    def __len__(self) -> int:
        return int(self._ends[-1]) if len(self._ends) else 0

    def __getitem__(self, number: int) -> dict[str, Any]:
        count = len(self)
        if not -count <= number < count:
            raise IndexError(f"step: expected {-count} to {count - 1}, got {number}")
        number %= count
        place = int(np.searchsorted(self._ends, number, side="right"))
        columns = self._columns(int(self._episodes[place]))
        step = number - (int(self._ends[place - 1]) if place else 0)
        return {name: _at(column, step + (name == "next_observation")) for name, column in columns.items()}

    def _columns(self, number: int) -> dict[str, object]:
        if self._current[0] != number:
            self._current = number, _episode_columns(self.run[number])
        return self._current[1]


def _at(column: object, place: int) -> object:
    if is_dict(column):
        return {name: _at(one, place) for name, one in column.items()}
    if is_tuple(column):
        return tuple(_at(one, place) for one in column)
    return column[place] if is_list(column) else np.asarray(np.asarray(column)[place])


def _episode_columns(episode: RecordedEpisode) -> dict[str, object]:
    found: dict[str, object] = {"action": episode.actions, **_told(episode)}
    if episode.run.level == "full":
        found["observation"] = found["next_observation"] = episode.observations
    return found


def _told(episode: RecordedEpisode) -> dict[str, Array]:
    """What each step is said to have given, beside the observation."""
    found: dict[str, Array] = {}
    for name, flag in (("terminated", episode.terminated), ("truncated", episode.truncated)):
        found[name] = np.zeros(episode.length, np.bool_)
        found[name][-1] = flag
    if episode.run.level != "seeds":
        found["reward"] = episode.rewards
    return found


def flat_columns(run: Run) -> dict[str, Any]:
    """The steps of all episodes as columns of one length, leaves of structured values by name; for tables of any kind.

    `observation` is what the action answered to; the last observation of an episode is not in it.
    """
    parts: dict[str, list[Column]] = {}
    for episode in run:
        rows: dict[str, Column] = {
            "episode": np.full(episode.length, episode.number),
            "step": np.arange(episode.length),
            "lane": np.full(episode.length, episode.lane),
        }
        for name in run.acted.names:
            rows[name] = episode.column(name, "action")
        if run.level == "full":
            for name in run.observed.names:
                rows[name] = episode.column(name, "observation")[:-1]
        told = _told(episode)
        rows |= {name: told[name] for name in ("reward", "terminated", "truncated") if name in told}
        for name, column in rows.items():
            parts.setdefault(name, []).append(column)
    return {name: _joined(columns) for name, columns in parts.items()}


def _joined(columns: list[Column]) -> Column:
    arrays = [column for column in columns if not isinstance(column, list)]
    return np.concatenate(arrays) if len(arrays) == len(columns) else [one for column in columns for one in column]


def to_pandas(run: Run) -> Any:
    """A DataFrame with a row for each step; values of several numbers are arrays in its cells."""
    return _package("to_pandas", "pandas").DataFrame(
        {name: _cells(column) for name, column in flat_columns(run).items()}
    )


def to_arrow(run: Run) -> Any:
    """An Arrow table with a row for each step; `to_parquet` writes files that can be read back."""
    return _package("to_arrow", "pyarrow").table({name: _cells(column) for name, column in flat_columns(run).items()})


def _package(what: str, name: str) -> ModuleType:
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingExtra(
            f'{what}: expected the package {name}, got none; `pip install "ludus-rl[{EXTRAS[name]}]"`'
        ) from error


def _cells(column: Column) -> Column:
    """A column of one dimension: rows of several numbers are flat lists."""
    if isinstance(column, list) or column.ndim == 1:
        return column
    return list(column.reshape(len(column), -1).tolist())
