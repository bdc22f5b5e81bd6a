"""`Run`: a recorded run, read as episodes, steps, columns and events. Nothing in a file is executed."""

import os
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np

from ludus.core import Episode as PlannedReset
from ludus.core import Info
from ludus.core.info import lane_info
from ludus.core.options import Options
from ludus.errors import LudusError, TrajectoryError, shorten
from ludus.spaces.array_space import Array
from ludus.spaces.kinds import is_dict, is_list
from ludus.spaces.plain import decode_value
from ludus.trajectory.archive import MEMBER_LIMIT_BYTES, Archive
from ludus.trajectory.block import StoredReset
from ludus.trajectory.chunk_reader import Chunks
from ludus.trajectory.episode import RecordedEpisode, RecordedTransition
from ludus.trajectory.event import Event, StoredEvent, value_of
from ludus.trajectory.header import Level, RunHeader, read_header
from ludus.trajectory.table import EpisodeTable, read_table
from ludus.trajectory.values import ValueColumns
from ludus.wire.infos import read_infos
from ludus.wire.space_codec import SpaceCodec

__all__ = ["Run"]

HEADER_BYTES = 1 << 24


Begun = tuple[int | list[int | None] | None, Options | None]
"""The seed of a reset, one for each lane or one for all, and its options."""


def _seeds_of(seeds: object, *, several: bool) -> Iterable[object]:
    return seeds if several and is_list(seeds) else (seeds,)


class Run:
    """A run in a file. `Run.open` reads its descriptions, `table` its episodes, `run[3]` no more than it must.

    Raises TrajectoryError, and nothing else, on any file.

    >>> import ludus, tempfile
    >>> from ludus.trajectory import Recorder
    >>> path = tempfile.mkdtemp() + "/run.ludus"
    >>> envs = Recorder(ludus.make_vec("CartPole-v1", 4), path, "full")
    >>> _ = envs.reset(seed=0)
    >>> for _ in range(100):
    ...     _ = envs.step(np.ones(4, np.int64))
    >>> envs.close()
    >>> run = Run.open(path)
    >>> len(run) > 20, run.missing, run[0].observations.shape == (run[0].length + 1, 4)
    (True, '', True)
    """

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        stored = archive.members.get("run.json.zst")
        if stored is None or stored.offset:
            raise TrajectoryError(f"{archive.path.name}: expected a run, whose first member is run.json, got none")
        limit, archive.limit_bytes = archive.limit_bytes, min(archive.limit_bytes, HEADER_BYTES)
        self.header: RunHeader = read_header(archive.read("run.json"))
        archive.limit_bytes = limit
        self.chunks = Chunks(archive, self.header)

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, limit_bytes: int = MEMBER_LIMIT_BYTES) -> "Run":
        """The run in a file, closed or not; `limit_bytes` is what a column of a chunk may take in memory."""
        archive = Archive(path, limit_bytes=limit_bytes)
        try:
            return cls(archive)
        except BaseException:
            archive.close()
            raise

    def close(self) -> None:
        """Close the file."""
        self._archive.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        name = (self.header.spec or {}).get("id", "an environment without a spec")
        return f"Run({self.path.name!r}: {name}, lanes={self.header.lanes}, level={self.level!r}, episodes={len(self)})"

    @property
    def path(self) -> Path:
        """The file."""
        return self._archive.path

    @property
    def level(self) -> Level:
        """How much was kept: "seeds", "steps" or "full"."""
        return self.header.level

    @property
    def missing(self) -> str:
        """What a file that was not closed lacks, in words; empty for one that was."""
        return self._archive.missing

    # --- episodes ---

    @cached_property
    def table(self) -> EpisodeTable:
        """A row for each episode, in the order in which they ended."""
        return read_table(self.chunks, torn=bool(self.missing))

    def __len__(self) -> int:
        return len(self.table)

    def __getitem__(self, number: int) -> RecordedEpisode:
        count = len(self)
        if not -count <= number < count:
            raise IndexError(f"episode: expected {-count} to {count - 1}, got {number}")
        return RecordedEpisode(self, number % count)

    def __iter__(self) -> Iterator[RecordedEpisode]:
        return (RecordedEpisode(self, number) for number in range(len(self)))

    def steps(self) -> Iterator[RecordedTransition]:
        """The steps of all episodes, one after another."""
        return (step for episode in self for step in episode)

    @cached_property
    def observed(self) -> ValueColumns:
        """How observations are kept in columns."""
        return ValueColumns(self.header.space("observation"), "observation", None)

    @cached_property
    def acted(self) -> ValueColumns:
        """How actions are kept in columns."""
        return ValueColumns(self.header.space("action"), "action", None)

    # --- beside the columns ---

    @cached_property
    def resets(self) -> dict[int, Begun]:
        """The seed and the options of each reset, by its row."""
        return {one.row: self._read_reset(one) for one in self.chunks.resets() if one.lane < 0}

    @cached_property
    def planned(self) -> dict[tuple[int, int], Begun]:
        """The seed and the options of each episode that a plan began, by row and lane."""
        return {(one.row, one.lane): self._read_reset(one) for one in self.chunks.resets() if one.lane >= 0}

    def plan(self, lane: int, number: int) -> PlannedReset:
        """What the plan of the recorded batch said, as `make_vec(episodes=run.plan)` asks it again."""
        return self._plan.get((lane, number), PlannedReset())

    @cached_property
    def _plan(self) -> dict[tuple[int, int], PlannedReset]:
        found = [one for one in self.chunks.resets() if one.lane >= 0]
        return {(one.lane, one.number): self._planned_reset(one) for one in found}

    def _planned_reset(self, one: StoredReset) -> PlannedReset:
        seed, options = self._read_reset(one)
        return PlannedReset(None if isinstance(seed, list) else seed, options)

    def _read_reset(self, one: StoredReset) -> Begun:
        try:
            given = one.seed
            seeds = [decode_value(each) for each in given] if is_list(given) else decode_value(given)
            options = decode_value(one.options, "options")
        except LudusError as error:
            raise TrajectoryError(f"reset in row {one.row}: {error}") from error
        for seed in _seeds_of(seeds, several=one.lane < 0):
            if seed is not None and (not isinstance(seed, int) or seed < 0):
                raise TrajectoryError(f"reset in row {one.row}: expected a seed, got {shorten(seed)}")
        if options is not None and not is_dict(options):
            raise TrajectoryError(f"reset in row {one.row}: expected options by name, got {shorten(options)}")
        return seeds, options

    def beginning(self, row: int, lane: int) -> tuple[int | None, Options | None]:
        """The seed and the options with which a lane was begun in this row; None where its stream went on."""
        spans = self.chunks.spans(row, row + 1)
        begun = next((self._begun(number) for number, _, _ in spans), dict[tuple[int, int], Begun]())
        planned = begun.get((row, lane))
        seed, options = begun.get((row, -1), (None, None)) if planned is None else planned
        if isinstance(seed, list):
            if lane >= len(seed):
                raise TrajectoryError(f"reset in row {row}: expected a seed for each lane, got {len(seed)}")
            return seed[lane], options
        return (seed if seed is None or planned is not None else seed + lane), options

    def _begun(self, number: int) -> dict[tuple[int, int], Begun]:
        """The resets of one chunk, by row and lane; -1 is all of them."""
        kept: dict[int, dict[tuple[int, int], Begun]] = self.__dict__.setdefault("_begun_kept", {})
        if number not in kept:
            kept[number] = {(one.row, one.lane): self._read_reset(one) for one in self.chunks.resets_of(number)}
        return kept[number]

    def events(self, kind: str | None = None) -> Iterator[Event]:
        """What happened beside the steps, of one kind or of all, in the order it came."""
        for one in self.chunks.events():
            if kind is None or one.kind == kind:
                episode, step = self.place(one.row, one.lane)
                yield Event(episode, step, one.seconds, value_of(one.kind, one.data))

    def events_of(self, episode: RecordedEpisode) -> list[Event]:
        """What happened beside the steps of one episode; no more chunks are read than can have it."""
        found = self.stored_events(episode)
        return [Event(episode.number, step, one.seconds, value_of(one.kind, one.data)) for step, one in found]

    def stored_events(self, episode: RecordedEpisode) -> list[tuple[int, StoredEvent]]:
        """The same as the file has it, each after how many steps it came: for who looks at some of many."""
        lane, first = episode.lane, episode.start
        chosen = [one for one in self.chunks.events_from(first, episode.end + 1) if one.lane == lane]
        shared = any(one.row == first for one in chosen) and self.place(first, lane)[0] != episode.number
        if shared:  # the row in which the episode before has ended, too, and it was that one's
            chosen = [one for one in chosen if one.row > first]
        steps = np.searchsorted(episode.rows, [one.row for one in chosen], side="right") - 1
        return list(zip(steps.tolist(), chosen, strict=True))

    @cached_property
    def _by_lane(self) -> dict[int, tuple[list[int], list[int]]]:
        """The episodes of each lane: their last rows, ascending, and their numbers."""
        found: dict[int, tuple[list[int], list[int]]] = {}
        for number, (lane, end) in enumerate(zip(self.table["lane"].tolist(), self.table["end"].tolist(), strict=True)):
            ends, numbers = found.setdefault(lane, ([], []))
            ends.append(end)
            numbers.append(number)
        return found

    def place(self, row: int, lane: int) -> tuple[int | None, int]:
        """The episode that a lane was in, in this row, and after how many of its steps."""
        ends, numbers = self._by_lane.get(lane, ([], []))
        place = bisect_left(ends, row)
        if place == len(ends):
            return None, 0
        episode = RecordedEpisode(self, numbers[place])
        if row < episode.start:
            return None, 0
        return episode.number, int(np.searchsorted(episode.rows, row, side="right")) - 1

    def blobs(self) -> list[str]:
        """The names of all blobs."""
        return [name.removeprefix("blobs/") for name in self._archive.names("blobs/")]

    def blob(self, name: str) -> bytes:
        """The bytes of that name, whose name is their hash; raises TrajectoryError where they are others."""
        data = self._archive.read(f"blobs/{name}")
        if blake2b(data, digest_size=32).hexdigest() != name:
            raise TrajectoryError(f"blobs/{name}: expected bytes with that hash, got others")
        return data

    def infos(self, rows: Array, lane: int) -> list[Info]:
        """The infos of one lane in these rows."""
        if not self.chunks.has("steps/info"):
            raise TrajectoryError(f"{self.path.name}: expected level 'full' for infos, got {self.level!r}")
        found: list[Info] = []
        for row in rows.tolist():
            ((number, place, _),) = self.chunks.spans(row, row + 1)
            data = (self.chunks.objects(number, "steps/info") or [{}])[place]
            found.append(self._info(data, lane))
        return found

    def _info(self, data: object, lane: int) -> Info:
        try:
            if not self.header.batched:
                return decode_value(data if data is not None else {}, "info")
            finals = SpaceCodec(self.observed.space, "final_obs")
            return lane_info(read_infos(data or {}, finals, self.header.lanes), lane)
        except LudusError as error:
            raise TrajectoryError(f"info: {error}") from error

    def final(self, row: int, lane: int) -> list[Array]:
        """The leaves of the last observation of the episode that a lane ended, and went on from, in this row."""
        for number, _, _ in self.chunks.spans(row, row + 1):
            rows, lanes = (self.chunks.array(number, f"steps/at_final.{name}") for name in ("row", "lane"))
            if rows is None or lanes is None or rows.shape != lanes.shape:
                break
            leaves = [self.chunks.array(number, f"steps/at_final.{place}") for place in range(len(self.observed.names))]
            found = np.flatnonzero((rows == row) & (lanes == lane))
            if len(found) == 1 and all(one is not None and len(one) == len(rows) for one in leaves):
                return [one[found[0]] for one in leaves if one is not None]
        raise TrajectoryError(f"row {row}: expected the last observation of lane {lane}, got none")
