"""Curves: a number for each step, as few points as a page can draw."""

from collections.abc import Sequence
from typing import TypeGuard

import numpy as np

from ludus.errors import LudusError
from ludus.server.protocols.web_api.page_json import plain
from ludus.spaces.array_space import Array
from ludus.spaces.kinds import is_dict
from ludus.trajectory import ModelUsage, RecordedEpisode, ResourceUse, Score
from ludus.web.view.talk import IndexedEvent, values

__all__ = ["curve", "curves"]

MAX_POINTS = 600
MAX_CURVES = 12
MAX_PLAYERS = 4
MAX_MARKS = 8
MAX_INFOS = 2_000
"""Rows and lanes of infos up to which numbers in them are looked for."""


def curve(name: str, numbers: object, steps: object = None) -> dict[str, object]:
    """A curve of at most `MAX_POINTS` points; each of a long one is the least and the greatest of some steps.

    >>> curve("reward", [1.0, float("nan"), 0.5])
    {'name': 'reward', 'steps': [1, 2, 3], 'low': [1.0, None, 0.5], 'high': [1.0, None, 0.5]}
    """
    numbers = np.asarray(numbers, np.float64)
    places = np.arange(1, len(numbers) + 1) if steps is None else np.asarray(steps)
    finite = np.isfinite(numbers)
    if len(numbers) <= MAX_POINTS:
        values = [float(one) if fine else None for one, fine in zip(numbers, finite, strict=True)]
        return {"name": name, "steps": places.tolist(), "low": values, "high": values}
    edges = np.linspace(0, len(numbers), MAX_POINTS + 1).astype(np.int64)[:-1]
    low = np.minimum.reduceat(np.where(finite, numbers, np.inf), edges)
    high = np.maximum.reduceat(np.where(finite, numbers, -np.inf), edges)
    last = np.append(edges[1:], len(numbers)) - 1
    return {"name": name, "steps": places[last].tolist(), "low": _known(low), "high": _known(high)}


def _known(values: Array) -> list[float | None]:
    return [one if np.isfinite(one) else None for one in values.tolist()]


def curves(
    episode: RecordedEpisode, rewards: Sequence[object] | Array | None, events: list[IndexedEvent]
) -> list[dict[str, object]]:
    """All curves of an episode: scores by their names, rewards and what they add up to, infos, what steps took."""
    found: list[dict[str, object]] = []
    if rewards is not None and len(rewards):
        players = np.asarray(rewards, np.float64).reshape(len(rewards), -1)
        for player in range(min(players.shape[1], MAX_PLAYERS)):
            whose = f" of player {player}" if players.shape[1] > 1 else ""
            found.append(curve(f"reward{whose}", players[:, player]))
            found.append(curve(f"return{whose}", np.cumsum(players[:, player])))
    scores = _marked(_scores(events), episode.run.header.metadata)
    first = [one for one in scores if "marks" in one]
    rest = [one for one in scores if "marks" not in one]
    return [*first, *found, *_infos(episode), *rest, *_taken(events)][:MAX_CURVES]


def _infos(episode: RecordedEpisode) -> list[dict[str, object]]:
    found = _whole_infos(episode)
    for key in episode.run.header.info:
        try:
            column = np.asarray(episode.info(key))
        except LudusError:  # named, and never recorded
            continue
        if column.ndim == 1 and column.dtype.kind in "biuf":
            found.append(curve(str(plain(key)), column[1:]))
    return found


def _whole_infos(episode: RecordedEpisode) -> list[dict[str, object]]:
    """Numbers in whole infos, of an episode short enough to read them all."""
    run = episode.run
    if not run.chunks.has("steps/info") or episode.length * run.header.lanes > MAX_INFOS:
        return []
    numbers: dict[str, list[float]] = {}
    try:
        for step, info in enumerate(episode.infos[1:]):
            for key, value in info.items():
                if _counts(value):
                    column = numbers.setdefault(str(key), [float("nan")] * episode.length)
                    column[step] = float(value)
    except (LudusError, OverflowError):
        return []
    return [curve(str(plain(name)), column) for name, column in list(numbers.items())[:MAX_CURVES]]


def _counts(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float | np.number)


def _scores(events: list[IndexedEvent]) -> list[dict[str, object]]:
    by_name: dict[str, tuple[list[int], list[float]]] = {}
    for step, score in values(events, Score):
        steps, scores = by_name.setdefault(score.name, ([], []))
        steps.append(step)
        scores.append(score.value)
    return [curve(str(plain(name)), scores, steps) for name, (steps, scores) in by_name.items()]


def _marked(found: list[dict[str, object]], metadata: object) -> list[dict[str, object]]:
    """Scores with the marks that the run says they are measured by, as a threshold; others' words, so checked."""
    marks: object = metadata.get("marks") if is_dict(metadata) else None
    for one in found if is_dict(marks) else ():
        own: object = marks.get(one["name"]) if is_dict(marks) else None
        if is_dict(own):
            known: list[tuple[str, float]] = [(name, value) for name, value in own.items() if _is_number(value)]
            one["marks"] = [{"name": str(plain(name)), "value": float(value)} for name, value in known[:MAX_MARKS]]
    return found


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and bool(np.isfinite(value))


def _taken(events: list[IndexedEvent]) -> list[dict[str, object]]:
    """What steps took: the clock, the processor, memory, and what models cost so far."""
    columns: dict[str, dict[int, float]] = {"seconds": {}, "processor seconds": {}, "memory (MB)": {}, "cost ($)": {}}
    for step, used in values(events, ResourceUse):
        if used.cpu_seconds is not None:
            columns["processor seconds"][step] = columns["processor seconds"].get(step, 0.0) + used.cpu_seconds
        if used.memory_bytes is not None:
            columns["memory (MB)"][step] = used.memory_bytes / 1e6
    cost = 0.0
    for step, used in values(events, ModelUsage):
        cost += used.cost_usd or 0.0
        if cost:
            columns["cost ($)"][step] = cost
    if columns["processor seconds"]:
        columns["seconds"] = {step: event.seconds for step, event in events}
    return [curve(name, list(one.values()), list(one)) for name, one in columns.items() if one]
