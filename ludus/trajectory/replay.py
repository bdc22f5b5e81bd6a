"""`replay`: a recorded run executed again, in any executor and place, and the first step that differs."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import NamedTuple, cast

import msgspec
import numpy as np

from ludus.core import AutoresetMode, Step, VectorEnv
from ludus.core.env import AnyEnv
from ludus.core.vector_env import AnyVectorEnv
from ludus.errors import LudusError, TrajectoryError, shorten
from ludus.seeding import Seed
from ludus.spaces.array_space import Array
from ludus.spaces.kinds import is_iterable, is_list
from ludus.trajectory.block import AUTORESET, RESET, RESTORE, STEP
from ludus.trajectory.chunk_reader import Column
from ludus.trajectory.digest import RowDigest, chunk_digest
from ludus.trajectory.header import Level, source_hash
from ludus.trajectory.recorder import Recorder
from ludus.trajectory.run import Run
from ludus.trajectory.tracker import Ended, EpisodeTracker
from ludus.trajectory.values import ValueColumns
from ludus.vector.executor import EXECUTORS

__all__ = ["ReplayDifference", "Replay", "first_difference", "recompute", "replay"]

TABLE = ("lane", "start", "end", "length", "return", "terminated", "truncated")


class ReplayDifference(NamedTuple):
    """Where a replay first differs, and how. What the file cannot tell is None: at level "seeds", the lane of a batch.

    >>> print(ReplayDifference(3, 12, 0, 40, "reward", 1.0, 0.0))
    episode 3, step 12: reward: recorded 1.0, replayed 0.0
    """

    episode: int | None
    step: int | None
    lane: int | None
    row: int
    field: str
    recorded: object
    replayed: object

    def __str__(self) -> str:
        where = f"row {self.row}" if self.episode is None else f"episode {self.episode}, step {self.step}"
        values = f"recorded {shorten(self.recorded)}, replayed {shorten(self.replayed)}"
        return f"{where}: {self.field}: {values}"


class Replay(NamedTuple):
    """What came of a replay; true where everything that the file says was seen again.

    >>> bool(Replay(10, 10, None, "", False)), bool(Replay(10, 5, None, "cut short", False))
    (True, False)
    """

    rows: int
    """Rows that the file has."""
    replayed: int
    """Rows that were executed again, and agree."""
    difference: ReplayDifference | None
    stopped: str
    """Why the rest could not be executed; empty if all of it was."""
    source_changed: bool
    """Whether the environment's source files are not those of the recording, as far as both are known."""

    def __bool__(self) -> bool:
        return self.difference is None and not self.stopped


def replay(
    run: Run | str | os.PathLike[str],
    env: AnyEnv | None = None,
    *,
    executor: object = None,
    isolation: object = None,
) -> Replay:
    """Execute a run again and compare every row; stops at the first that differs.

    Without `env` the environment is made from the run's spec, which imports and runs the code it names: replay only
    what you trust, or isolate it by `isolation`, as `make` takes it. `executor` says where, as for `make_vec`.

    >>> import ludus, tempfile
    >>> from ludus.trajectory import Recorder
    >>> path = tempfile.mkdtemp() + "/run.ludus"
    >>> with Recorder(ludus.make_vec("CartPole-v1", 3), path) as envs:
    ...     _ = envs.reset(seed=5)
    ...     for _ in range(50):
    ...         _ = envs.step(np.array([0, 1, 0]))
    >>> bool(replay(path)), bool(replay(path, executor="serial"))
    (True, True)
    """
    opened = run if isinstance(run, Run) else Run.open(run)
    made = env is None
    target = _made(opened, executor, isolation) if env is None else env
    try:
        _check_alike(opened, target)
        return _Replayer(opened, target).run()
    finally:
        if made:
            target.close()


def recompute(
    run: Run | str | os.PathLike[str],
    path: str | os.PathLike[str],
    level: Level = "full",
    *,
    env: AnyEnv | None = None,
    executor: object = None,
    isolation: object = None,
) -> Replay:
    """Execute a run again and record it anew, with more than was kept: observations, infos, rewards.

    What the replay says is what the new file is worth: true where all that the old one says was seen again.
    """
    opened = run if isinstance(run, Run) else Run.open(run)
    with Recorder(_made(opened, executor, isolation) if env is None else env, path, level) as recorder:
        return replay(opened, recorder)


def _made(run: Run, executor: object, isolation: object) -> AnyEnv:
    header = run.header
    spec, process = header.env_spec().of_file(tuple(header.batch_wrappers()), isolation), {"isolation": isolation}
    if not header.batched and executor is None:
        return spec.make(**process)
    if not header.batched:
        return spec.make_vec(1, executor=executor, autoreset_mode=AutoresetMode.DISABLED, **process)
    # It may have been a batch of its own kind; and lanes that are sandboxed are not compiled.
    here = isolation == "none" or (isolation is None and spec.security.isolation == "none")
    known = header.executor if header.executor in EXECUTORS and here else None
    where = known if executor is None else executor
    options = {"episodes": run.plan, **process} if header.planned else process
    batch: AnyEnv = spec.make_vec(header.lanes, executor=where, autoreset_mode=header.autoreset_mode, **options)
    for wrapper in header.batch_wrappers():
        batch = wrapper(batch)
    return batch


def _check_alike(run: Run, env: AnyEnv) -> None:
    lanes = env.batch_shape[0] if env.batch_shape else 1
    mode: object = env.autoreset_mode.value if env.batch_shape else "Disabled"  # type: ignore[attr-defined]
    expected = run.header.autoreset_mode or "Disabled"
    if lanes != run.header.lanes or mode != expected:
        raise TrajectoryError(
            f"replay: expected {run.header.lanes} lanes with autoreset {expected}, got {lanes} with {mode!r}"
        )


class _Replayer:
    def __init__(self, run: Run, env: AnyEnv) -> None:
        self.run_, self.env = run, env
        self.header, self.chunks = run.header, run.chunks
        self.batched = bool(env.batch_shape)
        lanes = run.header.lanes if self.batched else None
        self.acted = ValueColumns(run.acted.space, "action", lanes)
        self.observed = ValueColumns(run.observed.space, "observation", lanes)
        mode = AutoresetMode.of(run.header.autoreset_mode) if run.header.batched else AutoresetMode.DISABLED
        self.tracker, self.ended = EpisodeTracker(run.header.lanes, mode), Ended()
        self.digest, self.numbers = RowDigest(), np.zeros(0, np.uint64)
        self.told = 0

    def run(self) -> Replay:
        rows, own = self.chunks.rows, source_hash(self.env)
        changed = bool(own and self.header.rules and own != self.header.rules)
        done = 0
        for number, head in enumerate(self.chunks.heads):
            masked, masks = self.chunks.masks(head.first, head.end)
            by_row = dict(zip(masked.tolist(), masks, strict=True))
            numbers = np.zeros(head.rows, np.uint64)
            for place, (operation, columns) in enumerate(self._rows(number)):
                row = head.first + place
                if operation == RESTORE:
                    why = f"row {row}: the state was put back from a snapshot, which the file does not have"
                    return Replay(rows, done, None, why, changed)
                try:
                    seen = self._execute(row, operation, columns, by_row.get(row))
                except LudusError as error:
                    found = self._at(row, None, "error", "none", error)
                    return Replay(rows, done, found, "", changed)
                different = self._compare(row, columns, seen, numbers, place)
                if different is not None:
                    return Replay(rows, done, different, "", changed)
                done += 1
            different = self._digests(number, numbers) or self._table(whole=head.end == rows)
            if different is not None:
                return Replay(rows, done, different, "", changed)
        return Replay(rows, done, None, self.run_.missing and f"the file is {self.run_.missing}", changed)

    def _lanes(self) -> AnyVectorEnv:
        if not isinstance(self.env, VectorEnv):
            raise TrajectoryError("expected resets and steps of one environment, got what only a batch can do")
        return self.env

    def _rows(self, number: int) -> Iterator[tuple[int, dict[str, object]]]:
        """The operation of each row, and what it has of each column."""
        head = self.chunks.heads[number]
        columns: dict[str, Column] = {}
        for name in head.columns:
            array = self.chunks.array(number, name)
            if array is not None and name.startswith("steps/") and not name.startswith("steps/at_"):
                columns[name[6:]] = array
        for name in head.objects:
            columns[name[6:]] = self.chunks.objects(number, name) or []
        operations = columns.pop("op", [])
        if isinstance(operations, list):
            raise TrajectoryError(f"chunk {number}: expected a column steps/op, got none")
        for place in range(head.rows):
            yield int(operations[place]), {name: column[place] for name, column in columns.items()}

    def _execute(self, row: int, operation: int, columns: Mapping[str, object], mask: Array | None) -> Step[object]:
        if operation == RESET:
            seed, options = self.run_.resets.get(row, (None, None))
            if mask is not None:
                options = {**(options or {}), "reset_mask": mask}
            given = cast("Seed | None", seed)  # of a batch one for each lane
            observation, info = self.env.reset(seed=given, options=options)
            self.tracker.begin(row, mask, self.ended)
            return Step(observation, None, None, None, info)
        if operation == AUTORESET:
            observation, info = self._lanes().autoreset(np.ones(self.header.lanes, np.bool_) if mask is None else mask)
            self.tracker.begin(row, mask, self.ended)
            return Step(observation, None, None, None, info)
        if operation != STEP:
            raise TrajectoryError(f"row {row}: expected a reset or a step, got operation {operation}")
        action = self._action(columns)
        step = self.env.step(action) if mask is None else self._lanes().step_masked(action, mask)
        observation, reward, terminated, truncated, info = step
        if not self.batched:
            reward = np.asarray(reward, np.float64)[None]
            terminated, truncated = np.array([terminated], np.bool_), np.array([truncated], np.bool_)
        self.tracker.advance(row, (reward, terminated, truncated, {}), mask, self.ended)
        return Step(observation, reward, terminated, truncated, info)

    def _action(self, columns: Mapping[str, object]) -> object:
        if self.batched:
            return self.acted.whole(columns)
        return self.acted.one({name: _place(columns[name], 0) for name in self.acted.names if name in columns})

    # --- comparing ---

    def _compare(
        self, row: int, columns: Mapping[str, object], step: Step[object], numbers: Array, place: int
    ) -> ReplayDifference | None:
        arrays, objects = self.observed.take(step.observation)
        if "seen" in columns:
            number = self.digest.of(self.observed.parts(arrays, objects))
            numbers[place] = number
            recorded = int(np.asarray(columns["seen"]))
            if number & 0xFFFF != recorded:
                lane = 0 if self.header.lanes == 1 else None
                return self._at(row, lane, "observation", f"digest {recorded:04x}", step.observation)
        if step.reward is not None:
            for name, mine in (("terminated", step.terminated), ("truncated", step.truncated), ("reward", step.reward)):
                if name in columns and (lane := first_difference(columns[name], mine)) is not None:
                    return self._at(row, lane, name, _place(columns[name], lane), mine[lane])
        for name in self.observed.names:
            if name not in columns:
                continue
            if name in arrays and (lane := first_difference(columns[name], arrays[name])) is not None:
                return self._at(row, lane, name, _place(columns[name], lane), arrays[name][lane])
            if name in objects and (lane := first_difference(columns[name], objects[name])) is not None:
                return self._at(row, lane, name, _place(columns[name], lane), objects[name][lane])
        return None

    def _digests(self, number: int, numbers: Array) -> ReplayDifference | None:
        at, head = 0, self.chunks.heads[number]
        for count, expected in head.digests:
            if count > 0 and chunk_digest(numbers[at : at + count]) != expected:
                return self._at(head.first + at, None, "digest of observations", expected, "another")
            at += count
        return None

    def _table(self, *, whole: bool) -> ReplayDifference | None:
        """Compare the episodes that have ended since the last time with those that the file says."""
        mine, table = self.ended.taken(self.told, self.ended.count), self.run_.table
        for name in TABLE if mine else ():
            told = mine.get(f"episodes/{name}")
            theirs = table[name][self.told : self.ended.count]
            if told is not None and (place := first_difference(theirs, told[: len(theirs)])) is not None:
                episode = self.told + place
                lane, row, step = (int(table[key][episode]) for key in ("lane", "end", "length"))
                return ReplayDifference(episode, step, lane, row, name, theirs[place], told[place])
        self.told, known = self.ended.count, self._finished
        # A reset ends what is under way, and may come with the next chunk.
        if self.told > known or (whole and self.told < known):
            return self._at(self.chunks.rows - 1, None, "number of episodes", known, self.told)
        return None

    @property
    def _finished(self) -> int:
        """How many episodes of the table ended by themselves, or by a reset: all but those at the end of the file."""
        ended = self.run_.table["terminated"] | self.run_.table["truncated"]
        unfinished = ~ended & (self.run_.table["end"] == self.chunks.rows - 1)
        return len(ended) - int(unfinished.sum())

    def _at(self, row: int, lane: int | None, field: str, recorded: object, replayed: object) -> ReplayDifference:
        episode, step = (None, 0) if lane is None else self.run_.place(row, lane)
        return ReplayDifference(episode, None if episode is None else step, lane, row, field, recorded, replayed)


def _place(column: object, place: int) -> object:
    return column[place] if is_list(column) else np.asarray(column)[place]


def first_difference(one: object, two: object) -> int | None:
    """The first place in which two columns differ in a value; NaN equals NaN."""
    if is_iterable(one) and is_iterable(two) and (is_list(one) or is_list(two)):
        return next((place for place, pair in enumerate(zip(one, two, strict=False)) if not _same(*pair)), None)
    a, b = np.asarray(one), np.asarray(two)
    if a.shape != b.shape:
        return 0
    if a.dtype == b.dtype and a.tobytes() == b.tobytes():
        return None
    same = (a == b) | ((a != a) & (b != b))
    places = np.flatnonzero(~same.reshape(len(same), -1).all(axis=1)) if same.ndim else np.flatnonzero([not same])
    return int(places[0]) if len(places) else None


def _same(one: object, two: object) -> bool:
    """Whether two values are written alike: of a record one may be the author's instance, the other what was read."""
    return msgspec.msgpack.encode(one) == msgspec.msgpack.encode(two)
