"""Parquet: a run as two tables, of episodes and of steps, many episodes a file; and back, value for value.

    episodes.parquet    a row for each episode: lane, length, return, flags, outcome, seed, last observation
    steps.parquet       a row for each step: episode, step, observation, action, reward, flags

Values of several numbers are lists of fixed size, whose shapes the header of the run tells; that is in the metadata of
both files under `ludus`, as JSON. Texts are texts, other values JSON.
"""

import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import BinaryIO, Protocol

import msgspec
import numpy as np

from ludus.core.foreign_file import open_foreign_file
from ludus.errors import LudusError, MissingExtra, TrajectoryError, shorten
from ludus.spaces import Space, Text
from ludus.spaces.array_space import Array
from ludus.spaces.plain import decode_value, encode_value
from ludus.trajectory.archive import MEMBER_LIMIT_BYTES
from ludus.trajectory.chunk_reader import Column
from ludus.trajectory.episode import RecordedEpisode
from ludus.trajectory.event import Data
from ludus.trajectory.header import RunHeader, read_header
from ludus.trajectory.imported_episode import ImportedEpisode, write_imported
from ludus.trajectory.parquet_pages import check_pages
from ludus.trajectory.run import Run
from ludus.trajectory.tracker import outcome_of
from ludus.trajectory.values import ValueColumns

__all__ = ["from_parquet", "to_parquet"]

EPISODES, STEPS, HEADER = "episodes.parquet", "steps.parquet", b"ludus"
GROUP_STEPS = 1 << 16
"""From how many steps on a group of rows is written."""
GROUP_EPISODES = 1 << 10
"""How many rows of episodes are read at a time, at most."""
TEXTS = ("string", "large_string")
DICTIONARY = "dictionary<"
"""Arrow's types of texts, and how that of those that are kept once begins."""
MAX_OPTIONS_CHARS = 1 << 20
BATCH_BYTES = 1 << 26
"""How much is read at a time, at most, but for a page that is larger."""
FINAL = "final_"


class ArrowScalar(Protocol):
    """A value of Arrow's, as far as it is used here."""

    def as_py(self) -> object: ...


class ArrowTexts(Protocol):
    """Texts, each of which is there once."""

    def to_pylist(self) -> list[str]: ...


class ArrowPlaces(Protocol):
    """Which of them are where."""

    def to_pylist(self) -> list[int]: ...
    def to_numpy(self, zero_copy_only: bool) -> Array: ...


class ArrowColumn(Protocol):
    """A column of Arrow's; `dictionary` and `indices` are those of texts that are kept once."""

    @property
    def type(self) -> object: ...
    @property
    def dictionary(self) -> ArrowTexts: ...
    @property
    def indices(self) -> ArrowPlaces: ...
    def to_numpy(self, zero_copy_only: bool) -> Array: ...
    def to_pylist(self) -> list[object]: ...
    def flatten(self) -> "ArrowColumn": ...
    def __len__(self) -> int: ...
    def __getitem__(self, place: int, /) -> ArrowScalar: ...


class ArrowSchema(Protocol):
    """What columns there are."""

    @property
    def names(self) -> Sequence[str]: ...


class ArrowBatch(Protocol):
    """Rows as Arrow reads them."""

    @property
    def num_rows(self) -> int: ...
    @property
    def schema(self) -> ArrowSchema: ...
    @property
    def columns(self) -> Sequence[ArrowColumn]: ...
    def column(self, name: str, /) -> ArrowColumn: ...
    def slice(self, offset: int, length: int, /) -> "ArrowBatch": ...


def to_parquet(run: Run, folder: str | os.PathLike[str], *, masked: bool = False) -> int:
    """Write a run of level "steps" or "full" as two files in a new folder; how many episodes they have.

    Episodes that are no result of the agent's are left out, unless `masked`. Needs the extra `parquet`.
    """
    if run.level == "seeds":
        raise TrajectoryError(
            "to_parquet: expected level 'steps' or 'full', got 'seeds'; `recompute` makes such a file"
        )
    arrow, parquet = _package("pyarrow"), _package("pyarrow.parquet")
    chosen = [episode for episode in run if masked or not episode.masked]
    if not chosen:
        raise TrajectoryError(f"to_parquet: expected an episode that is a result, got {len(run)} that are masked")
    target = Path(folder)
    target.mkdir(parents=True)
    about = {HEADER: msgspec.json.encode(run.header)}
    writer = None
    try:
        for group in _groups(chosen):
            table = arrow.table(_step_columns(run, group, arrow)).replace_schema_metadata(about)
            writer = writer or parquet.ParquetWriter(target / STEPS, table.schema)
            writer.write_table(table)
    finally:
        if writer is not None:
            writer.close()
    table = arrow.table(_episode_columns(run, chosen, arrow)).replace_schema_metadata(about)
    parquet.write_table(table, target / EPISODES)
    return len(chosen)


def _groups(episodes: list[RecordedEpisode]) -> Iterator[list[RecordedEpisode]]:
    group: list[RecordedEpisode] = []
    for episode in episodes:
        group.append(episode)
        if sum(one.length for one in group) >= GROUP_STEPS:
            yield group
            group = []
    if group:
        yield group


def _step_columns(run: Run, group: list[RecordedEpisode], arrow: ModuleType) -> dict[str, object]:
    lengths = [episode.length for episode in group]
    last = np.zeros(sum(lengths), np.bool_)
    last[np.cumsum(lengths) - 1] = True
    flags = {
        name: last & np.repeat([getattr(one, name) for one in group], lengths) for name in ("terminated", "truncated")
    }
    found: dict[str, object] = {
        "episode": np.repeat([episode.number for episode in group], lengths),
        "step": np.concatenate([np.arange(length) for length in lengths]),
    }
    if run.level == "full":
        for name, space in zip(run.observed.names, run.observed.leaf_spaces, strict=True):
            found[name] = _cells([episode.column(name, "observation")[:-1] for episode in group], space, arrow)
    for name, space in zip(run.acted.names, run.acted.leaf_spaces, strict=True):
        found[name] = _cells([episode.column(name, "action") for episode in group], space, arrow)
    found["reward"] = _cells([episode.rewards for episode in group], None, arrow)
    return found | flags


def _episode_columns(run: Run, chosen: list[RecordedEpisode], arrow: ModuleType) -> dict[str, object]:
    found: dict[str, object] = {
        name: [getattr(one, name) for one in chosen] for name in ("lane", "length", "terminated", "truncated", "seed")
    }
    found["episode"] = [one.number for one in chosen]
    found["return"] = [np.asarray(one.total_reward).tolist() for one in chosen]
    found["outcome"] = [None if one.outcome is None else one.outcome.value for one in chosen]
    found["options"] = [None if one.options is None else json.dumps(encode_value(one.options)) for one in chosen]
    found["seed"] = arrow.array(found["seed"], arrow.uint64())
    if run.level == "full" and chosen:
        for name, space in zip(run.observed.names, run.observed.leaf_spaces, strict=True):
            last = [episode.column(name, "observation")[-1:] for episode in chosen]
            found[FINAL + name] = _cells(last, space, arrow)
    return found


def _cells(parts: Sequence[Column], space: Space[object] | None, arrow: ModuleType) -> object:
    """Parts of a column as one of Arrow's."""
    arrays = [part for part in parts if not isinstance(part, list)]
    if len(arrays) < len(parts):
        rows = [one for part in parts for one in part]
        return arrow.array(rows if isinstance(space, Text) else [_as_json(one) for one in rows], arrow.string())
    column: Array = np.concatenate(arrays)
    if column.ndim == 1:
        return arrow.array(column)
    flat = np.ascontiguousarray(column).reshape(-1)
    return arrow.FixedSizeListArray.from_arrays(arrow.array(flat), int(np.prod(column.shape[1:])))


def _as_json(value: object) -> str:
    try:
        return json.dumps(value)
    except TypeError as error:
        raise TrajectoryError(f"to_parquet: expected values that JSON can hold, got {error}") from error


# --- reading ---


def from_parquet(folder: str | os.PathLike[str], path: str | os.PathLike[str]) -> int:
    """Write a run from what `to_parquet` wrote; how many episodes it has. Needs the extra `parquet`."""
    parquet = _package("pyarrow.parquet")
    try:
        # Files of Python's: Arrow itself would wait for whoever writes into a pipe.
        with open_foreign_file(Path(folder, STEPS)) as steps, open_foreign_file(Path(folder, EPISODES)) as episodes:
            held: dict[bytes, bytes] = parquet.read_schema(steps).metadata or {}
            data = held.get(HEADER)
            if data is None:
                raise TrajectoryError("expected the header of a run in its metadata, got none")
            header = _alone(read_header(data))
            reader = _Reader(header, steps, parquet)
            return write_imported(path, header, reader.episodes(reader.rows(episodes)))
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError, MemoryError) as error:
        if isinstance(error, MissingExtra):
            raise
        raise TrajectoryError(f"{folder}: expected a run as Parquet, got {shorten(str(error), 300)}") from error


def _alone(header: RunHeader) -> RunHeader:
    """The header of the same episodes one after another in one lane."""
    replace = msgspec.structs.replace
    header = replace(header, lanes=1, batched=False, autoreset_mode="", executor="", planned=False, info=[])
    if not header.wrappers:
        return header
    return replace(header, wrappers=[], spec=None, unspecified="the episodes are those of a wrapped batch")


class _Reader:
    """Reads steps and episodes as they come, and no more at a time than may be."""

    def __init__(self, header: RunHeader, steps: BinaryIO, parquet: ModuleType) -> None:
        self.full, self._parquet = header.level == "full", parquet
        self.observed = ValueColumns(header.space("observation"), "observation", None)
        self.acted = ValueColumns(header.space("action"), "action", None)
        self._widths, self._row_bytes = dict[str, int](), 1
        for columns in (self.observed, self.acted):
            for name, space in zip(columns.names, columns.leaf_spaces, strict=True):
                shape = getattr(space, "shape", None) or ()
                self._widths[name] = self._widths[FINAL + name] = math.prod(shape)
                self._row_bytes += math.prod(shape) * getattr(getattr(space, "dtype", None), "itemsize", 8)
        self._steps = self._opened(steps, GROUP_STEPS)

    def _opened(self, file: BinaryIO, most_rows: int) -> Iterator[ArrowBatch]:
        """Batches of rows, each of bounded size; texts as a dictionary, in which those that are equal are one."""
        first = self._parquet.ParquetFile(file)
        texts = [one.name for one in first.schema_arrow if str(one.type) in TEXTS]
        for one in first.schema_arrow:
            if not _is_known(one.type):
                raise TrajectoryError(f"{one.name}: expected numbers, texts or lists of numbers, got {one.type}")
        row_bytes = self._row_bytes + check_pages(file, first.metadata, self._widths)
        table = self._parquet.ParquetFile(file, metadata=first.metadata, read_dictionary=texts)
        return table.iter_batches(batch_size=max(1, min(most_rows, int(BATCH_BYTES / row_bytes))))

    def rows(self, file: BinaryIO) -> Iterator[Data]:
        """Rows by and by: a file of kilobytes may have billions that are equal."""
        for batch in self._opened(file, GROUP_EPISODES):
            columns = {name: batch.column(name) for name in batch.schema.names}
            for place in range(batch.num_rows):
                yield {name: column[place].as_py() for name, column in columns.items()}

    def episodes(self, rows: Iterator[Data]) -> Iterator[ImportedEpisode]:
        """Each row with the steps that are next: they are in the same order."""
        batches = self._batches()
        waiting: dict[str, Column] = {}
        for row in rows:
            while not waiting or len(waiting["episode"]) < row["length"]:
                more = next(batches)
                waiting = more if not waiting else {name: _joined(waiting[name], more[name]) for name in more}
                _check_size(row, waiting)
            own = {name: column[: row["length"]] for name, column in waiting.items()}
            waiting = {name: column[row["length"] :] for name, column in waiting.items()}
            if any(number != row["episode"] for number in own["episode"]):
                raise TrajectoryError(f"steps of episode {row['episode']}: expected as many as its length, got others")
            yield self._episode(row, own)

    def _batches(self) -> Iterator[dict[str, Column]]:
        for batch in self._steps:
            for begin, end in _parts(batch):
                part = batch.slice(begin, end - begin)
                yield {name: self._column(name, part.column(name)) for name in part.schema.names}
        raise TrajectoryError("steps: expected those of all episodes, got fewer")

    def _column(self, name: str, column: ArrowColumn) -> Column:
        """A column as the run has it: an array, or a list of plain values."""
        space = self._space(name)
        if space is None:
            return column.to_numpy(zero_copy_only=False) if hasattr(column.type, "bit_width") else column.to_pylist()
        if not hasattr(space, "dtype") or isinstance(space, Text) or space.dtype is None:
            rows = _texts(column)
            return [*rows] if isinstance(space, Text) else [json.loads(one) for one in rows]
        flat = column.flatten() if space.shape else column
        return flat.to_numpy(zero_copy_only=False).astype(space.dtype).reshape(len(column), *(space.shape or ()))

    def _space(self, name: str) -> Space[object] | None:
        for columns in (self.observed, self.acted):
            if name in columns.names:
                return columns.leaf_spaces[columns.names.index(name)]
        return None

    def _episode(self, row: Data, own: Mapping[str, Column]) -> ImportedEpisode:
        observations = None
        if self.full:
            last = {name: self._last(name, row[FINAL + name]) for name in self.observed.names}
            seen = {name: _joined(own[name], last[name]) for name in self.observed.names}
            observations = self.observed.split(self.observed.many(seen), row["length"] + 1)
        actions = self.acted.many({name: own[name] for name in self.acted.names})
        options = row["options"]
        if options is not None and len(options) > MAX_OPTIONS_CHARS:
            raise TrajectoryError(
                f"options of episode {row['episode']}: expected at most {MAX_OPTIONS_CHARS} characters"
            )
        try:
            read = None if options is None else decode_value(json.loads(options), "options")
        except LudusError as error:
            raise TrajectoryError(f"options of episode {row['episode']}: {error}") from error
        return ImportedEpisode(
            self.acted.split(actions, row["length"]),
            np.asarray(own["reward"], np.float64),
            observations,
            bool(row["terminated"]),
            bool(row["truncated"]),
            outcome_of(row["outcome"]),
            row["seed"],
            read,
        )

    def _last(self, name: str, value: object) -> Column:
        space = self._space(name)
        if isinstance(value, str):
            return [value if isinstance(space, Text) else json.loads(value)]
        if space is None or space.shape is None:
            raise TrajectoryError(f"{name}: expected text, got {shorten(value)}")
        return np.asarray(value, space.dtype).reshape(1, *space.shape)


def _is_known(kind: object) -> bool:
    """Whether a column of this type is one of those that `to_parquet` writes: texts in lists would be unfolded."""
    if str(kind) in (*TEXTS, "null"):
        return True
    inner = getattr(kind, "value_type", kind)
    if str(kind).startswith(DICTIONARY):
        return str(inner) in TEXTS
    return hasattr(inner, "bit_width") and not str(inner).startswith(DICTIONARY)


def _texts(column: ArrowColumn) -> list[str]:
    """The texts of a column; those that are equal are one."""
    known = column.dictionary.to_pylist()
    return [known[place] for place in column.indices.to_pylist()]


def _parts(batch: ArrowBatch) -> Iterator[tuple[int, int]]:
    """A batch in parts, none of which has more text than a member of a run may."""
    sizes = np.zeros(batch.num_rows, np.int64)
    for column in batch.columns:
        if hasattr(column, "dictionary"):
            known = np.array([len(one) for one in column.dictionary.to_pylist()], np.int64)
            sizes += known[column.indices.to_numpy(zero_copy_only=False)]
    ends, begin = np.cumsum(sizes), 0
    while begin < batch.num_rows:
        spent = int(ends[begin - 1]) if begin else 0
        end = max(begin + 1, int(np.searchsorted(ends, spent + MEMBER_LIMIT_BYTES, "right")))
        yield begin, end
        begin = end


def _check_size(row: Data, waiting: Mapping[str, Column]) -> None:
    """Whether steps of an episode that are not all there yet are more than one member of a run may hold."""
    size = sum(_size(column) for column in waiting.values())
    if len(waiting["episode"]) < row["length"] and size > MEMBER_LIMIT_BYTES:
        raise TrajectoryError(f"episode {row['episode']}: expected at most {MEMBER_LIMIT_BYTES} bytes, got more")


def _size(column: Column) -> int:
    """Bytes of an array; of plain values, those of their texts."""
    if not isinstance(column, list):
        return column.nbytes
    return sum(len(one) if isinstance(one, str) else 1 for one in column)


def _joined(a: Column, b: Column) -> Column:
    return [*a, *b] if isinstance(a, list) else np.concatenate([a, np.asarray(b)])


def _package(name: str) -> ModuleType:
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingExtra(
            'parquet: expected the package pyarrow, got none; `pip install "ludus-rl[parquet]"`'
        ) from error
