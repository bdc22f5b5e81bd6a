"""Curves: a number for each step, as few points as a page can draw."""

from typing import Any

import numpy as np
import numpy.typing as npt

from ludus.errors import LudusError
from ludus.serve.doors.browse.shown import plain
from ludus.trajectory import Episode, Score
from ludus.web.view.talk import Told, values

__all__ = ["curve", "curves"]

Array = npt.NDArray[Any]
MOST_POINTS = 600
MOST_CURVES = 12
MOST_PLAYERS = 4
MOST_INFOS = 2_000
"""Rows and lanes of infos up to which numbers in them are looked for."""


def curve(name: str, numbers: Any, steps: Any = None) -> dict[str, Any]:
    """A curve of at most `MOST_POINTS` points; each of a long one is the least and the greatest of some steps.

    >>> curve("reward", [1.0, float("nan"), 0.5])
    {'name': 'reward', 'steps': [1, 2, 3], 'low': [1.0, None, 0.5], 'high': [1.0, None, 0.5]}
    """
    numbers = np.asarray(numbers, np.float64)
    places = np.arange(1, len(numbers) + 1) if steps is None else np.asarray(steps)
    finite = np.isfinite(numbers)
    if len(numbers) <= MOST_POINTS:
        told = [float(one) if fine else None for one, fine in zip(numbers, finite, strict=True)]
        return {"name": name, "steps": places.tolist(), "low": told, "high": told}
    edges = np.linspace(0, len(numbers), MOST_POINTS + 1).astype(np.int64)[:-1]
    low = np.minimum.reduceat(np.where(finite, numbers, np.inf), edges)
    high = np.maximum.reduceat(np.where(finite, numbers, -np.inf), edges)
    last = np.append(edges[1:], len(numbers)) - 1
    return {"name": name, "steps": places[last].tolist(), "low": _known(low), "high": _known(high)}


def _known(values: Array) -> list[float | None]:
    return [one if np.isfinite(one) else None for one in values.tolist()]


def curves(episode: Episode, rewards: Any, events: list[Told]) -> list[dict[str, Any]]:
    """All curves of an episode: rewards and what they add up to, infos that have columns, and scores by their names."""
    found: list[dict[str, Any]] = []
    if rewards is not None and len(rewards):
        players = np.asarray(rewards, np.float64).reshape(len(rewards), -1)
        for player in range(min(players.shape[1], MOST_PLAYERS)):
            whose = f" of player {player}" if players.shape[1] > 1 else ""
            found.append(curve(f"reward{whose}", players[:, player]))
            found.append(curve(f"return{whose}", np.cumsum(players[:, player])))
    return [*found, *_infos(episode), *_scores(events)][:MOST_CURVES]


def _infos(episode: Episode) -> list[dict[str, Any]]:
    found = _whole_infos(episode)
    for key in episode.run.header.info:
        try:
            column = np.asarray(episode.info(key))
        except LudusError:  # named, and never told
            continue
        if column.ndim == 1 and column.dtype.kind in "biuf":
            found.append(curve(str(plain(key)), column[1:]))
    return found


def _whole_infos(episode: Episode) -> list[dict[str, Any]]:
    """Numbers in whole infos, of an episode short enough to read them all."""
    run = episode.run
    if not run.chunks.has("steps/info") or episode.length * run.header.lanes > MOST_INFOS:
        return []
    numbers: dict[str, list[float]] = {}
    try:
        for step, info in enumerate(episode.infos[1:]):
            for key, value in info.items():
                if isinstance(value, int | float | np.number):
                    column = numbers.setdefault(str(key), [float("nan")] * episode.length)
                    column[step] = float(value)
    except (LudusError, OverflowError):
        return []
    return [curve(str(plain(name)), column) for name, column in list(numbers.items())[:MOST_CURVES]]


def _scores(events: list[Told]) -> list[dict[str, Any]]:
    by_name: dict[str, tuple[list[int], list[float]]] = {}
    for step, score in values(events, Score):
        steps, scores = by_name.setdefault(score.name, ([], []))
        steps.append(step)
        scores.append(score.value)
    return [curve(str(plain(name)), scores, steps) for name, (steps, scores) in by_name.items()]
