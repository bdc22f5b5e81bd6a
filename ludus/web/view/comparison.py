"""Episodes side by side: aligned step by step or by their actions, and where they differ."""

from difflib import SequenceMatcher

import msgspec
import numpy as np

from ludus.errors import LudusError
from ludus.server.protocols.web_api.page_json import observed, plain
from ludus.spaces.array_space import Array
from ludus.spaces.kinds import is_list
from ludus.trajectory import RecordedEpisode
from ludus.trajectory.replay import first_difference
from ludus.web.view.steps import has_observations

__all__ = ["compare"]

MAX_ALIGNED = 4_000
"""Steps up to which episodes are aligned by their actions: that takes time by the square of them."""
MAX_TOLD = 5_000
"""Steps that differ, as they are told to a page."""

COMPARED_KINDS = ("message", "reasoning", "tool_call", "tool_result", "file_diff", "limit", "failure")
"""Of events; what was used and how it was scored may differ in runs that are the same."""

Rows = list[list[int | None]]
Column = Array | list[object]


def compare(episodes: list[RecordedEpisode]) -> dict[str, object]:
    """Where episodes differ from the first of them, and how their steps stand beside each other.

    `rows` has, for each line of the comparison, the step of each episode there; None where it has none. Aligned by
    actions, equal ones stand beside each other, and what only one did has a line of its own.
    """
    longest = max(one.length for one in episodes)
    keys = [_keys(one) for one in episodes] if longest <= MAX_ALIGNED else None
    found = [_differences(episodes[0], one) for one in episodes[1:]]
    steps = sorted({step for one in found for step in one})
    first = None
    if steps:
        fields = sorted({name for one in found for name in one.get(steps[0], ())})
        first = {"step": steps[0], "fields": fields}
    lengths = [one.length for one in episodes]
    return plain(
        {
            "lengths": lengths,
            "first": first,
            "differing": steps[:MAX_TOLD],
            "more": max(0, len(steps) - MAX_TOLD),
            "rows": _aligned(keys) if keys is not None and len(set(map(tuple, keys))) > 1 else None,
        }
    )


def _differences(one: RecordedEpisode, two: RecordedEpisode) -> dict[int, list[str]]:
    """The steps in which two episodes differ, and in what."""
    count = min(one.length, two.length)
    found: dict[int, list[str]] = {}
    for name, a, b, offset in _columns(one, two, count):
        for place in _unequal(a, b):
            found.setdefault(place + offset, []).append(name)
    for step in _said_differently(one, two):
        if step <= count:
            found.setdefault(step, []).append("events")
    if one.length != two.length:
        found.setdefault(count + 1, []).append("length")
    elif one.outcome is not two.outcome:
        found.setdefault(count, []).append("outcome")
    return found


def _said_differently(one: RecordedEpisode, two: RecordedEpisode) -> list[int]:
    """The steps around which something else was said or done."""
    both: list[dict[int, list[object]]] = []
    for each in (one, two):
        by_step: dict[int, list[object]] = {}
        for step, event in each.run.stored_events(each):
            if event.kind in COMPARED_KINDS:
                by_step.setdefault(step, []).append((event.kind, event.data))
        both.append(by_step)
    return [step for step in both[0].keys() | both[1].keys() if both[0].get(step) != both[1].get(step)]


def _columns(one: RecordedEpisode, two: RecordedEpisode, count: int) -> list[tuple[str, Column, Column, int]]:
    """Pairs of columns that both have: name, values of each, and the step that the first of them is."""
    found: list[tuple[str, Column, Column, int]] = []
    if one.run.acted.names == two.run.acted.names:
        pairs = ([each.column(name, "action")[:count] for each in (one, two)] for name in one.run.acted.names)
        found += [("action", a, b, 1) for a, b in pairs]
    if all(each.run.chunks.has("steps/reward") for each in (one, two)):
        found.append(("reward", one.rewards[:count], two.rewards[:count], 1))
    if all(map(has_observations, (one, two))) and one.run.observed.names == two.run.observed.names:
        for name in one.run.observed.names:
            a, b = (each.column(name, "observation")[: count + 1] for each in (one, two))
            found.append(("observation", a, b, 0))
    return found


def _unequal(a: Column, b: Column) -> list[int]:
    if is_list(a) or is_list(b):
        return [place for place, (one, two) in enumerate(zip(a, b, strict=False)) if one != two]
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape:
        return [0] if len(a) or len(b) else []
    if first_difference(a, b) is None:
        return []
    same = (a == b) | ((a != a) & (b != b))
    return np.flatnonzero(~same.reshape(len(same), -1).all(axis=1)).tolist()


def _keys(episode: RecordedEpisode) -> list[bytes]:
    """Each action as bytes that are equal where actions are."""
    acted = episode.run.acted
    try:
        values = acted.split(episode.actions, episode.length)
        return [msgspec.json.encode(observed(acted.space, one)) for one in values]
    except LudusError:
        return []


def _aligned(keys: list[list[bytes]]) -> Rows | None:
    """Lines in which equal actions stand beside each other: each episode is aligned with the first."""
    first = len(keys[0])
    beside: list[dict[int, int]] = []
    between: list[dict[int, list[int]]] = []
    for other in keys[1:]:
        pairs, alone = _matched(keys[0], other)
        beside.append(pairs)
        between.append(alone)
    rows: Rows = [[0] * len(keys)]
    for step in range(first + 1):
        if step:
            rows.append([step, *(pairs.get(step) for pairs in beside)])
        extra = [alone.get(step, []) for alone in between]
        for line in range(max(map(len, extra), default=0)):
            rows.append([None, *(one[line] if line < len(one) else None for one in extra)])
    return rows


def _matched(one: list[bytes], two: list[bytes]) -> tuple[dict[int, int], dict[int, list[int]]]:
    """Which step of the second stands beside which of the first; and its steps that stand alone, after which."""
    pairs: dict[int, int] = {}
    alone: dict[int, list[int]] = {}
    for tag, a, a_end, b, b_end in SequenceMatcher(None, one, two, autojunk=False).get_opcodes():
        together = min(a_end - a, b_end - b) if tag in ("equal", "replace") else 0
        pairs |= {a + place + 1: b + place + 1 for place in range(together)}
        if b_end - b > together:
            alone.setdefault(a + together, []).extend(range(b + together + 1, b_end + 1))
    return pairs, alone
