"""`ResultFile`: an evaluation as a run in a file, its episodes one after another in the order of their numbers.

The file depends on the evaluation alone, and not on how many episodes were played at once, or where. A chunk holds
whole episodes, so that a process that is killed leaves complete ones, and the next goes on after them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sized
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from time import monotonic
from typing import Literal

import msgspec
import numpy as np

from ludus.core import Outcome
from ludus.core.vector_env import AnyVectorEnv
from ludus.errors import InvalidArgument, TrajectoryError
from ludus.evaluate.declaration import Declaration
from ludus.evaluate.evaluation import EpisodeResult
from ludus.evaluate.step_log import EpisodeRecord
from ludus.spaces.array_space import Array
from ludus.spaces.plain import encode_value
from ludus.trajectory.archive import Archive, ArchiveWriter
from ludus.trajectory.block import RESET, STEP, StoredReset
from ludus.trajectory.chunk import write_chunk
from ludus.trajectory.digest import chunk_digest
from ludus.trajectory.event import Failure, StoredEvent, stored
from ludus.trajectory.header import RunHeader, header_of
from ludus.trajectory.run import Run
from ludus.trajectory.tracker import CODES
from ludus.trajectory.values import ValueColumns

__all__ = ["RESULT", "SIGNATURE", "ResultFile", "ResultWriter", "file_digest", "result_header"]

RESULT, SIGNATURE = "result.json", "signature.json"
"""Members beside those of a run: what its episodes come to, and who says so."""
FLUSH_SECONDS = 0.4
CHUNK_ROWS = 1 << 20
"""Rows from which a chunk is written."""


@dataclass(frozen=True)
class ResultFile:
    """Where the result of an evaluation goes, and how.

    >>> ResultFile("result.ludus", resume=True).level
    'seeds'
    """

    path: str | os.PathLike[str]
    level: Literal["seeds", "steps"] = "seeds"
    """With "steps" rewards are kept too; observations are what `ludus.trajectory.recompute` adds."""
    resume: bool = False
    """Whether an evaluation that was interrupted goes on in its file; otherwise the file has to be new."""
    key: str | os.PathLike[str] | None = None
    """A file with an Ed25519 key to sign with."""

    def __post_init__(self) -> None:
        if self.level not in ("seeds", "steps"):
            raise InvalidArgument(
                f"level: expected 'seeds' or 'steps', got {self.level!r}; recompute(path, new, 'full') adds the rest"
            )


def result_header(
    envs: AnyVectorEnv, declaration: Declaration, level: Literal["seeds", "steps"], rules: str = ""
) -> RunHeader:
    """The header of a result: of one environment, however many were played at once; `rules` is its hash, if known."""
    header = header_of(envs, level, metadata=declaration.metadata())
    return msgspec.structs.replace(
        header,
        rules=rules or header.rules,
        lanes=1,
        batched=False,
        autoreset_mode="",
        executor="",
        planned=False,
    )


class _Hashed(ArchiveWriter):
    """An archive that knows the digest of what is in it."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        super().__init__(path)
        self.digest = blake2b(digest_size=32)

    def add_stored(self, name: str, data: bytes) -> None:
        super().add_stored(name, data)
        _digested(self.digest, name, data)


def _digested(digest: blake2b, name: str, data: bytes) -> None:
    digest.update(len(name).to_bytes(8, "little") + name.encode() + len(data).to_bytes(8, "little") + data)


def file_digest(archive: Archive, before: str) -> str:
    """The digest of all members before one of that name."""
    digest = blake2b(digest_size=32)
    for name in archive.names():
        if name == before:
            break
        _digested(digest, f"{name}.zst", archive.read_stored(name))
    return digest.hexdigest()


class ResultWriter:
    """Writes episodes, which come in any order, in the order of their numbers.

    >>> import ludus, tempfile
    >>> envs = ludus.make_vec("GridWorld-v0", 1)
    >>> declared = Declaration(id="GridWorld-v0", agent="none", episodes=1)
    >>> writer = ResultWriter(tempfile.mkdtemp() + "/r.ludus", result_header(envs, declared, "seeds"))
    >>> writer.done
    0
    >>> writer.abandon()
    """

    def __init__(self, path: str | os.PathLike[str], header: RunHeader, before: Run | None = None) -> None:
        self.path, self.header = Path(path), header
        self.done, self.row, self._chunk = 0, 0, 0
        """Episodes, rows and chunks that are in the file."""
        self._acted = ValueColumns(header.space("action"), "action", None)
        self._early: dict[int, EpisodeRecord] = {}
        self._waiting: list[EpisodeRecord] = []
        self._waiting_rows = 0
        self._flushed = self._began = monotonic()
        new = self.path if before is None else self.path.with_name(f".{self.path.name}.resumed")
        if before is not None:
            new.unlink(missing_ok=True)
        self._archive = _Hashed(new)
        self._archive.add("run.json", msgspec.json.encode(header))
        if before is not None:
            self._copy(before)
            os.replace(new, self.path)

    def _copy(self, run: Run) -> None:
        """The chunks that an interrupted evaluation has left."""
        archive = run.chunks.archive
        for number, head in enumerate(run.chunks.heads):
            for name in archive.names():
                if f"/{number:05d}" in name and not name.startswith("blobs/"):
                    self._archive.add_stored(f"{name}.zst", archive.read_stored(name))
            self.row, self._chunk, self.done = head.end, number + 1, self.done + head.resets

    def add(self, episode: EpisodeRecord) -> None:
        """Take an episode; what is complete is in the file within half a second."""
        self._early[episode.result.number] = episode
        while (following := self._early.pop(self.done + len(self._waiting), None)) is not None:
            self._waiting.append(following)
            self._waiting_rows += len(following.numbers)
        if self._waiting_rows >= CHUNK_ROWS or monotonic() - self._flushed > FLUSH_SECONDS:
            self.flush()

    def flush(self) -> None:
        """Write what has come, in order."""
        episodes, self._waiting, self._waiting_rows = self._waiting, [], 0
        self._flushed = monotonic()
        if not episodes:
            return
        columns = _Columns(self.row, episodes)
        arrays = columns.steps(self._acted, rewards=self.header.level == "steps") | columns.table()
        objects = columns.objects(self._acted)
        digests = [(columns.rows, chunk_digest(columns.numbers))]
        write_chunk(
            self._archive,
            self._chunk,
            self.row,
            columns.rows,
            arrays,
            objects,
            digests=digests,
            events=columns.events(self._flushed - self._began),
            resets=columns.resets(),
        )
        self.row, self._chunk, self.done = self.row + columns.rows, self._chunk + 1, self.done + len(episodes)

    def close(self, summary: Mapping[str, object], sign: Callable[[str], object] | None = None) -> None:
        """Write what the episodes come to, and the signature by `sign(digest)`; nothing may be missing by now."""
        self.flush()
        if self._early:
            raise TrajectoryError(f"{self.path}: expected episode {self.done}, got only later ones: {min(self._early)}")
        self._archive.add(RESULT, msgspec.json.encode({**summary, "digest": self._archive.digest.hexdigest()}))
        if sign is not None:
            self._archive.add(SIGNATURE, msgspec.json.encode(sign(self._archive.digest.hexdigest())))
        self._archive.close()

    def abandon(self) -> None:
        """Leave the file as a kill would, but with all that is complete."""
        self.flush()
        self._archive.abandon()


class _Columns:
    """Some episodes as the columns of a chunk."""

    def __init__(self, first: int, episodes: list[EpisodeRecord]) -> None:
        self.first, self.episodes = first, episodes
        lengths = np.array([one.result.length for one in episodes])
        tried = np.array([_tried(one) for one in episodes])
        """One more where the last action failed."""
        self.starts = first + np.concatenate([[0], np.cumsum(1 + lengths + tried)])[:-1]
        self.ends = self.starts + lengths
        self.rows = int((1 + lengths + tried).sum())
        self.numbers = np.zeros(self.rows, np.uint64)
        self.resets_at = self.starts - first
        for at, one in zip(self.resets_at.tolist(), episodes, strict=True):
            self.numbers[at : at + len(one.numbers)] = one.numbers

    def steps(self, acted: ValueColumns, *, rewards: bool) -> dict[str, Array]:
        operations = np.full(self.rows, STEP, np.uint8)
        operations[self.resets_at] = RESET
        found: dict[str, Array] = {"steps/op": operations, "steps/seen": self.numbers.astype(np.uint16)}
        for name, zero in acted.zeros().items():
            column = np.zeros((self.rows, *zero.shape), zero.dtype)
            for at, one in zip(self.resets_at.tolist(), self.episodes, strict=True):
                done = one.arrays.get(name)
                if done is not None:
                    column[at + 1 : at + 1 + len(done), 0] = done
            found[f"steps/{name}"] = column
        if rewards:
            found |= self._rewards()
        return found

    def _rewards(self) -> dict[str, Array]:
        reward, flags = np.zeros((self.rows, 1)), np.zeros((2, self.rows, 1), np.bool_)
        for at, one in zip(self.resets_at.tolist(), self.episodes, strict=True):
            reward[at + 1 : at + 1 + len(one.rewards), 0] = one.rewards
            flags[:, at + one.result.length, 0] = _flags(one)
        return {"steps/reward": reward, "steps/terminated": flags[0], "steps/truncated": flags[1]}

    def objects(self, acted: ValueColumns) -> dict[str, bytes]:
        found: dict[str, bytes] = {}
        for name in acted.object_names:
            rows: list[object] = [None] * self.rows
            for at, one in zip(self.resets_at.tolist(), self.episodes, strict=True):
                done = one.objects.get(name, [])
                rows[at + 1 : at + 1 + len(done)] = [[value] for value in done]
            found[f"steps/{name}"] = msgspec.msgpack.encode(rows)
        return found

    def table(self) -> dict[str, Array]:
        """The episodes that have a step; one that failed when it began is known by its reset alone."""
        chosen = [place for place, one in enumerate(self.episodes) if one.result.length]
        if not chosen:
            return {}
        results = [self.episodes[place].result for place in chosen]
        flags = np.array([_flags(self.episodes[place]) for place in chosen], np.bool_)
        found = {
            "lane": np.zeros(len(chosen), np.int64),
            "end": self.ends[chosen],
            "length": np.array([one.length for one in results]),
            "return": np.array([one.total for one in results]),
            "terminated": flags[:, 0],
            "truncated": flags[:, 1],
            "outcome": np.array([CODES[_outcome(one)] for one in results], np.uint8),
        }
        return {f"episodes/{name}": column for name, column in found.items()}

    def events(self, seconds: float) -> list[StoredEvent]:
        found: list[StoredEvent] = []
        for one, end in zip(self.episodes, self.ends.tolist(), strict=True):
            if one.failure is not None:
                found.append(stored(Failure(*one.failure), end, 0, seconds))
        return found

    def resets(self) -> list[StoredReset]:
        seeds = [encode_value(one.result.seed) for one in self.episodes]
        return [StoredReset(row, seed, None) for row, seed in zip(self.starts.tolist(), seeds, strict=True)]


def _tried(one: EpisodeRecord) -> int:
    columns: list[Sized] = [*one.arrays.values(), *one.objects.values()]
    return len(columns[0]) - one.result.length if columns else 0


def _flags(one: EpisodeRecord) -> tuple[bool, bool]:
    """What the environment said; that an episode was cut by the evaluation is its outcome."""
    return one.result.terminated, one.result.truncated and not one.cut


def _outcome(one: EpisodeResult) -> Outcome | None:
    return one.outcome if one.outcome is not None else Outcome.derived(one.terminated, one.truncated)
