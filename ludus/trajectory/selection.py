"""Runs made of runs: some episodes, several files as one, two halves; and where two runs first differ."""

import os
from collections.abc import Iterable, Mapping

import msgspec
import numpy as np

from ludus.errors import InvalidArgument, TrajectoryError, shorten
from ludus.seeding import np_random
from ludus.spaces.plain import encode_value
from ludus.trajectory.block import RESET, RESTORE, STEP, StepRow
from ludus.trajectory.episode import RecordedEpisode
from ludus.trajectory.event import StoredEvent
from ludus.trajectory.header import LEVELS, RunHeader
from ludus.trajectory.replay import ReplayDifference, first_difference
from ludus.trajectory.run import Run
from ludus.trajectory.tracker import CODES, UNTOLD
from ludus.trajectory.writer import RunWriter

__all__ = ["diff", "merge", "select", "split"]

Path = str | os.PathLike[str]


def select(episodes: Iterable[RecordedEpisode], path: Path, *, metadata: Mapping[str, object] | None = None) -> int:
    """A new run of these episodes, of one run or of several with the same spaces; how many there are.

    They follow one another in one lane, whichever they were in. Events and what they refer to come along. An episode
    that autoreset began can be read there, but not replayed: its random stream is that of the lane it was in.

    >>> import ludus, tempfile
    >>> from ludus.trajectory import Recorder
    >>> folder = tempfile.mkdtemp()
    >>> with Recorder(ludus.make("GridWorld-v0"), folder + "/a.ludus", "steps") as env:
    ...     for seed in range(3):
    ...         _ = env.reset(seed=seed), env.step(0), env.step(seed)
    >>> with Run.open(folder + "/a.ludus") as run:
    ...     select((episode for episode in run if episode.seed != 1), folder + "/b.ludus")
    2
    >>> [episode.seed for episode in Run.open(folder + "/b.ludus")]
    [0, 2]
    """
    chosen = list(episodes)
    if not chosen:
        raise InvalidArgument("episodes: expected at least one, got none")
    header = _header(chosen, metadata or {})
    objects = tuple(
        name
        for columns in ([chosen[0].run.acted] + ([chosen[0].run.observed] if header.level == "full" else []))
        for name in columns.object_names
    )
    with RunWriter(path, header, (*objects, *(("info",) if _has_infos(chosen) else ()))) as writer:
        for episode in chosen:
            _copy(episode, writer, header)
    return len(chosen)


def merge(runs: Iterable[Run | Path], path: Path) -> int:
    """A new run of all episodes of several; how many there are."""
    opened = [run if isinstance(run, Run) else Run.open(run) for run in runs]
    return select((episode for run in opened for episode in run), path)


def split(run: Run, first: Path, second: Path, *, share: float = 0.8, seed: int = 0) -> tuple[int, int]:
    """Two new runs: a share of the episodes drawn by `seed`, and the others; how many each has."""
    count = len(run)
    cut = round(share * count)
    if not 0 < cut < count:
        raise InvalidArgument(f"share: expected at least one of {count} episodes on each side, got {share}")
    order = np_random(seed)[0].permutation(count)
    halves = sorted(order[:cut].tolist()), sorted(order[cut:].tolist())
    return select((run[one] for one in halves[0]), first), select((run[one] for one in halves[1]), second)


def diff(a: Run, b: Run) -> ReplayDifference | None:
    """Where two runs first differ, episode by episode; what only one of them keeps is not compared."""
    for one, two in zip(a, b, strict=False):
        found = _episode_diff(one, two)
        if found is not None:
            return found
    if len(a) != len(b):
        return ReplayDifference(min(len(a), len(b)), None, None, 0, "number of episodes", len(a), len(b))
    return None


def _header(chosen: list[RecordedEpisode], metadata: Mapping[str, object]) -> RunHeader:
    headers = [episode.run.header for episode in {id(one.run): one for one in chosen}.values()]
    first = headers[0]
    for one in headers[1:]:
        if (one.action_space, one.observation_space) != (first.action_space, first.observation_space):
            raise TrajectoryError(
                "episodes: expected runs with the same spaces, got "
                f"{shorten(first.action_space)} and {shorten(one.action_space)}"
            )
    alike = all((one.spec, one.wrappers) == (first.spec, first.wrappers) for one in headers)
    spec = first.spec if alike and not first.wrappers else None
    return msgspec.structs.replace(
        first,
        level=LEVELS[min(LEVELS.index(one.level) for one in headers)],
        lanes=1,
        batched=False,
        autoreset_mode="",
        executor="",
        planned=False,
        wrappers=[],
        info=[],
        spec=spec,
        unspecified="" if spec else "the episodes are those of several environments, or of a wrapped batch",
        metadata={**first.metadata, **metadata, "selected": True},
    )


def _has_infos(chosen: list[RecordedEpisode]) -> bool:
    return all(episode.run.level == "full" and episode.run.chunks.has("steps/info") for episode in chosen)


def _copy(episode: RecordedEpisode, writer: RunWriter, header: RunHeader) -> None:
    run, first = episode.run, writer.row
    seen: list[object] = [None] * (episode.length + 1)
    if header.level == "full":
        seen = run.observed.split(episode.observations, episode.length + 1)
    acted = run.acted.split(episode.actions, episode.length)
    rewards = None if header.level == "seeds" else episode.rewards
    infos = episode.infos if _has_infos([episode]) else None
    none = np.zeros(1, np.bool_)
    for place in range(episode.length + 1):
        arrays, objects = run.observed.take(seen[place]) if header.level == "full" else ({}, {})
        moved = run.acted.take(acted[place - 1]) if place else (run.acted.zeros(), dict[str, list[object]]())
        arrays, objects = arrays | moved[0], {**objects, **moved[1]}
        last = place == episode.length
        if rewards is not None:
            arrays["reward"] = rewards[place - 1 : place] if place else rewards[:1] * 0.0
            arrays["terminated"] = none | (last and episode.terminated)
            arrays["truncated"] = none | (last and episode.truncated)
        if infos is not None:
            objects["info"] = encode_value(infos[place], "info")
        begins = RESET if episode.seed is not None else RESTORE
        reset = None if place else (encode_value(episode.seed), encode_value(episode.options))
        writer.put(StepRow(STEP if place else begins, arrays, objects, None, reset))
    _finish(episode, writer, first)


def _finish(episode: RecordedEpisode, writer: RunWriter, first: int) -> None:
    """The row of the table, and the events."""
    code = UNTOLD if episode.outcome is None else CODES[episode.outcome]
    writer.ended.append(
        writer.row - 1,
        np.zeros(1, np.int64),
        starts=np.array([first]),
        lengths=np.array([episode.length]),
        returns=np.asarray(episode.total_reward)[None],
        codes=(episode.terminated, episode.truncated, code),
    )
    blobs = set(episode.run.blobs())
    for event in episode.events:
        data = event.value.data()
        for name in blobs.intersection(one for one in data.values() if isinstance(one, str)):
            writer.add_blob(episode.run.blob(name))
        writer.add_event(StoredEvent(first + event.step, 0, event.seconds, event.kind, data))


def _episode_diff(one: RecordedEpisode, two: RecordedEpisode) -> ReplayDifference | None:
    for name in ("length", "terminated", "truncated", "outcome", "total_reward"):
        mine, theirs = getattr(one, name), getattr(two, name)
        if name == "length" and mine != theirs:
            early = _steps_diff(one, two, min(mine, theirs))
            return early or ReplayDifference(one.number, min(mine, theirs), one.lane, one.end, name, mine, theirs)
        if name != "length" and not (np.array_equal(mine, theirs) or (mine != mine and theirs != theirs)):
            early = _steps_diff(one, two, one.length)
            return early or ReplayDifference(one.number, one.length, one.lane, one.end, name, mine, theirs)
    return _steps_diff(one, two, one.length)


def _steps_diff(one: RecordedEpisode, two: RecordedEpisode, count: int) -> ReplayDifference | None:
    """The first step in which actions, rewards or observations differ."""
    kept = ["action"]
    levels = {one.run.level, two.run.level}
    if "seeds" not in levels:
        kept.append("reward")
    if levels == {"full"}:
        kept.append("observation")
    found: list[ReplayDifference] = []
    for kind in kept:
        for name in _columns(one, kind):
            a, b = (each.column(name, kind)[: count + (kind == "observation")] for each in (one, two))
            place = first_difference(a, b)
            if place is not None:
                step = place if kind == "observation" else place + 1
                found.append(
                    ReplayDifference(one.number, step, one.lane, int(one.rows[step]), name, a[place], b[place])
                )
    return min(found, key=lambda difference: difference.step or 0, default=None)


def _columns(episode: RecordedEpisode, kind: str) -> tuple[str, ...]:
    if kind == "reward":
        return ("reward",)
    return episode.run.acted.names if kind == "action" else episode.run.observed.names
