"""`RecordedEpisode`: one episode of a recorded run, its columns read when they are asked for."""

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ludus.core import AutoresetMode, Info, Outcome
from ludus.core.options import Options
from ludus.errors import TrajectoryError
from ludus.spaces.array_space import Array
from ludus.trajectory.chunk_reader import Column
from ludus.trajectory.event import Event
from ludus.trajectory.tracker import OUTCOMES

if TYPE_CHECKING:
    from ludus.trajectory.run import Run

__all__ = ["RecordedEpisode", "RecordedTransition"]


class RecordedTransition(NamedTuple):
    """One step of an episode; observations are None, and rewards NaN, where the run's level does not keep them.

    >>> RecordedTransition(0, 1, 0.5, False, True, 2, {}).next_observation
    2
    """

    observation: Any
    action: Any
    reward: Any
    terminated: bool
    truncated: bool
    next_observation: Any
    info: Info


class RecordedEpisode:
    """One episode: `length` steps in one lane, with one observation more than steps.

    >>> import ludus, tempfile
    >>> from ludus.trajectory import Recorder, Run
    >>> path = tempfile.mkdtemp() + "/run.ludus"
    >>> with Recorder(ludus.make("GridWorld-v0"), path, "full") as env:
    ...     _ = env.reset(seed=7), env.step(1), env.step(2)
    >>> episode = Run.open(path)[0]
    >>> episode.length, episode.observations.shape, episode.actions.tolist(), episode.seed
    (2, (3, 2), [1, 2], 7)
    """

    def __init__(self, run: "Run", number: int) -> None:
        self.run, self.number = run, number
        table = run.table
        self.lane, self.start, self.end, self.length = (
            int(table[name][number]) for name in ("lane", "start", "end", "length")
        )
        self.terminated, self.truncated = bool(table["terminated"][number]), bool(table["truncated"][number])
        self.outcome: Outcome | None = OUTCOMES[int(table["outcome"][number])]
        """How it ended; None: terminated, and nobody told whether that is a success."""
        self.total_reward: Any = table["return"][number]
        """The sum of its rewards."""

    def __repr__(self) -> str:
        ended = "unknown" if self.outcome is None else self.outcome.value
        return f"Episode({self.number}, lane={self.lane}, length={self.length}, outcome={ended!r})"

    def __len__(self) -> int:
        return self.length

    @property
    def masked(self) -> bool:
        """Whether it is no result of the agent's."""
        return self.outcome is not None and self.outcome.masked

    @cached_property
    def rows(self) -> Array:
        """The rows of the run in which its lane took part: the one it began with, then one for each step."""
        rows = np.arange(self.start, self.end + 1)
        masked, masks = self.run.chunks.masks(self.start, self.end + 1)
        out = [row for row, mask in zip(masked.tolist(), masks, strict=True) if not mask[self.lane]]
        rows = np.setdiff1d(rows, out) if out else rows
        if len(rows) != self.length + 1:
            raise TrajectoryError(f"episode {self.number}: expected {self.length + 1} rows, got {len(rows)}")
        return rows

    @property
    def seed(self) -> int | None:
        """The seed it was begun with; None where the lane's stream went on."""
        return self.run.beginning(self.start, self.lane)[0]

    @property
    def options(self) -> Options | None:
        """The options of the reset that began it."""
        return self.run.beginning(self.start, self.lane)[1]

    # --- columns ---

    @property
    def actions(self) -> Any:
        """The actions, one for each step: an array, or arrays in the structure of the space."""
        return self._values("action", self.rows[1:])

    @property
    def observations(self) -> Any:
        """The observations, one more than steps; level "full" alone keeps them."""
        columns = self.run.observed
        if not all(self.run.chunks.has(f"steps/{name}") for name in columns.names):
            raise TrajectoryError(
                f"{self.run.path.name}: expected level 'full' for observations, got {self.run.level!r}; "
                "`recompute` makes a file that has them"
            )
        if self.run.header.autoreset_mode != AutoresetMode.SAME_STEP.value or not (self.terminated or self.truncated):
            return self._values("observation", self.rows)
        # Here the last row has the next episode's first observation.
        before = {name: self._column(name, self.rows[:-1]) for name in columns.names}
        last = self.run.final(self.end, self.lane)
        return columns.many({name: _appended(one, last[place]) for place, (name, one) in enumerate(before.items())})

    @property
    def rewards(self) -> Array:
        """The rewards, one for each step."""
        return self.run.chunks.numbers("steps/reward", self.lane, self.rows[1:])

    @property
    def infos(self) -> list[Info]:
        """The infos as they were given, one more than steps; level "full" alone keeps them."""
        return self.run.infos(self.rows, self.lane)

    def info(self, key: str) -> Array:
        """The column of an info that the recorder was told to keep, one more row than steps; 0 where it had none."""
        known = self.run.header.info
        name = f"steps/info.{known.index(key)}" if key in known else ""
        if not self.run.chunks.has(name):
            raise TrajectoryError(f"info: expected one of {known} that was ever told, got {key!r}")
        return self.run.chunks.numbers(name, self.lane, self.rows, sparse=True)

    @property
    def events(self) -> list[Event]:
        """What happened beside its steps."""
        return self.run.events_of(self)

    def column(self, name: str, kind: str) -> Column:
        """One column as the file has it: a row for each step, and one more for observations."""
        if kind != "observation":
            return self._column(name, self.rows[1:])
        leaves = self.run.observed.take_many(self.observations)
        return leaves[self.run.observed.names.index(name)]

    def _column(self, name: str, rows: Array) -> Column:
        return self.run.chunks.lane(f"steps/{name}", self.lane, rows)

    def _values(self, name: str, rows: Array) -> object:
        columns = self.run.observed if name == "observation" else self.run.acted
        return columns.many({one: self._column(one, rows) for one in columns.names})

    # --- steps ---

    def __iter__(self) -> Iterator[RecordedTransition]:
        run = self.run
        full = run.level == "full"
        seen = run.observed.split(self.observations, self.length + 1) if full else [None] * (self.length + 1)
        acted = run.acted.split(self.actions, self.length)
        rewards = [np.nan] * self.length if run.level == "seeds" else self.rewards.tolist()
        infos: list[Info] = self.infos if run.chunks.has("steps/info") else [{} for _ in seen]
        for step in range(self.length):
            last = step == self.length - 1
            yield RecordedTransition(
                seen[step],
                acted[step],
                rewards[step],
                last and self.terminated,
                last and self.truncated,
                seen[step + 1],
                infos[step + 1],
            )


def _appended(column: Column, last: Array) -> Column:
    return [*column, last] if isinstance(column, list) else np.concatenate([column, last[None]])
