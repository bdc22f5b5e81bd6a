"""Steps of an episode, a page at a time: what was done, what came of it, what was seen."""

import numpy as np

from ludus.core import AutoresetMode, Info
from ludus.errors import LudusError
from ludus.server.protocols.web_api.page_json import observed, plain
from ludus.spaces import Box, Space
from ludus.spaces.array_space import Array
from ludus.spaces.kinds import is_list
from ludus.trajectory import RecordedEpisode
from ludus.trajectory.chunk_reader import Column

__all__ = ["PAGE_STEPS", "SeenStep", "bounds", "has_observations", "pages", "picture", "steps"]

PAGE_STEPS = 200
MIN_SIDE_PX = 16
CHANNELS = (1, 3, 4)

SeenStep = tuple[object, object, Info]
"""Observation, reward and info of a step that was executed again."""


def pages(count: int, size: int) -> int:
    """How many pages there are.

    >>> pages(0, 10), pages(10, 10), pages(11, 10)
    (1, 1, 2)
    """
    return max(1, -(-count // size))


def has_observations(episode: RecordedEpisode) -> bool:
    """Whether the file has what was seen."""
    return all(episode.run.chunks.has(f"steps/{name}") for name in episode.run.observed.names)


def steps(episode: RecordedEpisode, page: int, again: list[SeenStep] | None = None) -> list[dict[str, object]]:
    """The states after 0, 1, 2 … steps that are on a page: the action that led there, its reward, observation and info.

    `again` has what the file lacks, from executing it again: an entry for each of these states.
    """
    first, end = page * PAGE_STEPS, min((page + 1) * PAGE_STEPS, episode.length + 1)
    if first >= end:
        return []
    acted = _actions(episode, first, end)
    seen = _observations(episode, first, end) if has_observations(episode) else None
    rewards = _rewards(episode, first, end)
    infos = _infos(episode, first, end)
    space = episode.run.observed.space
    found: list[dict[str, object]] = []
    for place, step in enumerate(range(first, end)):
        one: dict[str, object] = {"step": step, "action": acted[place], "reward": rewards[place] if rewards else None}
        if seen is not None:
            one["observation"] = observed(space, seen[place])
        one["info"] = plain(infos[place])
        if again is not None and place < len(again):
            one = {**one, **_executed(space, again[place], one)}
        found.append(one)
    return found


def _executed(space: Space[object], again: SeenStep, one: dict[str, object]) -> dict[str, object]:
    observation, reward, info = again
    told: dict[str, object] = {} if "observation" in one else {"observation": observed(space, observation)}
    if one["reward"] is None and one["step"]:
        told["reward"] = plain(reward)
    if not one["info"]:
        told["info"] = plain(info)
    return told


def _actions(episode: RecordedEpisode, first: int, end: int) -> list[object]:
    """The action before each state; none before the first."""
    acted, rows = episode.run.acted, episode.rows[max(first, 1) : end]
    lead: list[object] = [None] if first == 0 else []
    if not len(rows):
        return lead
    columns = {name: episode.run.chunks.lane(f"steps/{name}", episode.lane, rows) for name in acted.names}
    values = acted.split(acted.many(columns), len(rows))
    return [*lead, *(observed(acted.space, one) for one in values)]


def _rewards(episode: RecordedEpisode, first: int, end: int) -> list[object] | None:
    if not episode.run.chunks.has("steps/reward"):
        return None
    rows = episode.rows[max(first, 1) : end]
    lead = [None] if first == 0 else []
    found = episode.run.chunks.lane("steps/reward", episode.lane, rows) if len(rows) else np.zeros(0)
    numbers = plain(found)
    return [*lead, *(numbers if is_list(numbers) else [])]


def _observations(episode: RecordedEpisode, first: int, end: int) -> list[object]:
    run, rows = episode.run, episode.rows[first:end]
    same_step = run.header.autoreset_mode == AutoresetMode.SAME_STEP.value
    final = same_step and end == episode.length + 1 and (episode.terminated or episode.truncated)
    columns = {name: run.chunks.lane(f"steps/{name}", episode.lane, rows) for name in run.observed.names}
    if final:  # in the last row, the lane's next episode has begun
        for name, last in zip(columns, run.final(episode.end, episode.lane), strict=True):
            columns[name] = _with_last(columns[name], last)
    return run.observed.split(run.observed.many(columns), len(rows))


def _with_last(column: Column, last: object) -> Column:
    if isinstance(column, list):
        return [*column[:-1], last]
    return np.concatenate([column[:-1], np.asarray(last)[None]])


def _infos(episode: RecordedEpisode, first: int, end: int) -> list[Info]:
    run = episode.run
    if run.chunks.has("steps/info"):
        try:
            return run.infos(episode.rows[first:end], episode.lane)
        except LudusError as error:
            return [{"unreadable": str(error)}] * (end - first)
    named = [key for place, key in enumerate(run.header.info) if run.chunks.has(f"steps/info.{place}")]
    columns = {key: episode.info(key)[first:end] for key in named}
    return [{key: column[place] for key, column in columns.items()} for place in range(end - first)]


def bounds(space: object) -> dict[str, object]:
    """The least and greatest of each number of a row of them, for gauges."""
    if not isinstance(space, Box) or len(space.shape) != 1 or space.shape[0] > 64:
        return {}
    return {"low": plain(space.low), "high": plain(space.high)}


def picture(episode: RecordedEpisode, step: int) -> Array | None:
    """What was seen as pixels, where it is a picture; else None."""
    space = episode.run.observed.space
    if not isinstance(space, Box) or space.dtype != np.uint8 or not has_observations(episode):
        return None
    shape = space.shape
    if len(shape) not in (2, 3) or min(shape[:2]) < MIN_SIDE_PX or (len(shape) == 3 and shape[2] not in CHANNELS):
        return None
    [pixels] = _observations(episode, step, step + 1)
    pixels = np.asarray(pixels)
    if pixels.ndim == 2:
        pixels = pixels[:, :, None]
    return np.repeat(pixels, 3, axis=2) if pixels.shape[2] == 1 else pixels
