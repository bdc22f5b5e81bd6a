"""Infos of a batch, by lanes: those of some lanes, and those of two groups of lanes together."""

from collections.abc import Sequence
from typing import overload

import numpy as np
import numpy.typing as npt

from ludus.core.outcome import OUTCOME, Outcome, read_outcome
from ludus.core.step import Info
from ludus.spaces.array_space import Array
from ludus.spaces.kinds import is_array, is_dict

__all__ = [
    "FINAL",
    "FACTS",
    "REWARD_COMPONENTS",
    "UNANNOUNCED",
    "add_final",
    "add_outcome",
    "info_of",
    "joined",
    "lane_info",
]

Mask = npt.NDArray[np.bool_]
Column = Array | Info
"""What lanes have under one key: an array with an entry for each, or the columns of a dictionary."""
FINAL = ("final_obs", "final_info")
"""What autoreset in the same step tells of the episodes that are over."""
FACTS = "facts"
"""What is true of a step or an episode apart from its reward, by name: `won`, `illegal_move`, `invalid_format` …"""
REWARD_COMPONENTS = "reward_components"
"""The numbers that a reward is the sum of, by name."""
UNANNOUNCED = "unannounced"
"""Fields of an observation that its space has not, by name, where an environment written for OpenEnv gives more."""


@overload
def info_of(info: Info, lanes: Mask) -> Info: ...


@overload
def info_of(info: list[Info], lanes: Mask) -> list[Info]: ...


def info_of(info: Info | list[Info], lanes: Mask) -> Info | list[Info]:
    """The infos of these lanes; of the others a column holds nothing.

    >>> infos = {"n": np.array([1, 2]), "_n": np.array([True, True])}
    >>> info_of(infos, np.array([False, True]))
    {'n': array([0, 2]), '_n': array([False,  True])}
    """
    if isinstance(info, list):  # one dictionary for each lane, as DictInfoToList gives them
        return [one if chosen else {} for one, chosen in zip(info, lanes.tolist(), strict=True)]
    found: Info = {}
    for key, column, mask in _columns(info, len(lanes)):
        if mask is None:
            found[key] = column
            continue
        left = mask & lanes
        if left.all() or not (mask & ~lanes).any():
            if left.any():
                found[key], found[f"_{key}"] = column, mask
        elif left.any():
            found[key], found[f"_{key}"] = _emptied(column, left), left
    return found


def joined(first: Info, second: Info) -> Info:
    """The infos of both groups of lanes, of which none is in both.

    >>> a = {"n": np.array([1, 0]), "_n": np.array([True, False])}
    >>> b = {"n": np.array([0.0, 2.5]), "_n": np.array([False, True])}
    >>> joined(a, b)
    {'n': array([1. , 2.5]), '_n': array([ True,  True])}
    """
    if not first or not second:
        return dict(first or second)
    found = dict(first)
    for key, column in second.items():
        mask: Mask | None = second.get(f"_{key}")
        if key not in first or mask is None:
            found.setdefault(key, column)
        elif is_dict(column):
            found[key] = joined(first[key], column)
            found[f"_{key}"] = first[f"_{key}"] | mask
        else:
            before: Mask = first.get(f"_{key}", np.zeros(len(mask), np.bool_))
            found[key], found[f"_{key}"] = _merged(first[key], before, column, mask), before | mask
    return found


def add_final(info: Info, lanes: Mask, observations: Sequence[object], begun: Info) -> Info:
    """The info of a step in which these lanes ended and began again, as autoreset in the same step gives it.

    `observations` are their last ones, in order; `begun` is what they told when they began. What they told with the
    step becomes `final_info`.
    """
    own = {key: one for key, one in info.items() if key not in FINAL and key[1:] not in FINAL}
    column = np.full(len(lanes), None, dtype=object)
    for lane, observation in zip(np.flatnonzero(lanes).tolist(), observations, strict=True):
        column[lane] = observation
    final = {"final_obs": column, "_final_obs": lanes.copy()}
    final |= {"final_info": info_of(own, lanes), "_final_info": lanes.copy()}
    return joined(joined(info_of(info, ~lanes), final), info_of(begun, lanes))


def lane_info(infos: Info, lane: int) -> Info:
    """What one lane says in the infos of a batch.

    >>> lane_info({"steps": np.array([3, 0]), "_steps": np.array([True, False])}, 0)
    {'steps': np.int64(3)}
    """
    return _lane_entries(infos, lane, whole=True)


def _lane_entries(infos: Info, lane: int, *, whole: bool) -> Info:
    """The same for an info as a `whole`, whose outcome is one, or for a dictionary inside it."""
    found: Info = {}
    for key, column in infos.items():
        mask: Mask | None = infos.get(f"_{key}")
        if mask is None or not mask[lane]:
            continue
        if is_dict(column):
            found[key] = _lane_entries(column, lane, whole=whole and key == FINAL[1])
            continue
        value: object = column[lane]
        if key == OUTCOME and whole:
            value = read_outcome(value, f"lane {lane} info['outcome']")
        found[key] = value.item() if type(value) is np.bool_ else value
    return found


def add_outcome(info: Info, outcome: Outcome, lanes: Mask) -> Info:
    """The infos of a batch in which these lanes tell an outcome, unless they tell one already.

    >>> add_outcome({}, Outcome.TIME_LIMIT, np.array([True, False]))
    {'outcome': array([3, 0], dtype=int8), '_outcome': array([ True, False])}
    """
    mask: Mask | None = info.get(f"_{OUTCOME}")
    left = lanes if mask is None else lanes & ~mask
    if not left.any():
        return info
    codes = np.zeros(len(lanes), np.int8) if mask is None else info[OUTCOME].copy()
    codes[left] = outcome.code
    return {**info, OUTCOME: codes, f"_{OUTCOME}": left.copy() if mask is None else mask | left}


def _columns(info: Info, count: int) -> list[tuple[str, Column, Mask | None]]:
    """The entries of an info, each with the lanes that have it; None for what is no column."""
    found: list[tuple[str, Column, Mask | None]] = []
    for key, column in info.items():
        if key.startswith("_") and key[1:] in info:
            continue
        mask: Mask | None = info.get(f"_{key}")
        if mask is None and is_array(column) and column.shape[:1] == (count,):
            mask = np.ones(count, np.bool_)
        found.append((key, column, mask))
    return found


def _emptied(column: Column, left: Mask) -> Column:
    if isinstance(column, dict):
        return info_of(column, left)
    found = column.copy()
    found[~left] = None if found.dtype == object else np.zeros((), found.dtype)
    return found


def _merged(a: Array, of_a: Mask, b: Array, of_b: Mask) -> Array:
    """One column of two; where no dtype holds both, of objects."""
    same = a.shape == b.shape
    if same and a.dtype == b.dtype:
        found = a.copy()
    elif same and (_numbers(a, b) or (a.dtype.kind == b.dtype.kind != "O")):
        found = a.astype(np.result_type(a.dtype, b.dtype))
    else:
        found = np.full(len(of_a), None, dtype=object)
        for lane in np.flatnonzero(of_a).tolist():
            found[lane] = a[lane]
    for lane in np.flatnonzero(of_b).tolist():
        found[lane] = b[lane]
    return found


def _numbers(a: Array, b: Array) -> bool:
    return {a.dtype.kind, b.dtype.kind} <= set("biufc")
