"""Recorded episodes executed again by compiled rules, as many at once as there are lanes.

A lane that has executed its episode takes the next one: its stream is put in place, and the batch begins it with the
next step, as it begins any lane that has ended. So a row of a recording is one lane's part of one step, resets
included, and all that is compared is compared in one pass over the lanes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from ludus.core import AutoresetMode
from ludus.errors import InvalidType
from ludus.kernels.batch import KernelVectorEnv
from ludus.kernels.seeds import seeded_words
from ludus.kernels.tally import kept, row_digest
from ludus.spaces.array_space import Array

if TYPE_CHECKING:
    from ludus.kernels.stream import Words

__all__ = ["Executed", "Recorded", "drawn_alike", "reexecute"]

NOBODY = -1
Arrays: TypeAlias = tuple[Array, ...]


class Recorded(NamedTuple):
    """Episodes one after another: a row for the reset of each, and one for each of its steps."""

    seeds: Array
    starts: Array
    """The row of each reset."""
    lasts: Array
    """The row of each last step."""
    actions: Array
    """A row for each row."""
    seen: Array
    """The last 16 bits of the digest of each observation."""
    rewards: Array
    """Of each row; empty where they were not recorded."""


class Executed(NamedTuple):
    """What came of them, by episode, and the digest of each row."""

    agrees: Array
    """Whether every row was seen again up to the last."""
    lengths: Array
    totals: Array
    terminated: Array
    truncated: Array
    outcomes: Array
    """The code of the outcome that the rules gave last; 0 where they gave none."""
    numbers: Array


def reexecute(envs: KernelVectorEnv, recorded: Recorded, keys: Array) -> Executed:
    """Execute episodes again in a batch that begins ended lanes with the next step; `keys` are those of the digest.

    An action that the rules refuse, and an error in them, are raised as by any step.
    """
    if envs.autoreset_mode is not AutoresetMode.NEXT_STEP or envs.episodes is not None:
        raise InvalidType(f"reexecute: expected autoreset with the next step, got {envs.autoreset_mode.value}")
    lanes = envs.num_envs
    queue = np.argsort(
        recorded.starts - recorded.lasts, kind="stable"
    )  # the longest first: at the end no lane is long alone
    streams = seeded_words(recorded.seeds)
    found = _nothing_yet(len(recorded.starts), len(recorded.seen))
    first = queue[:lanes]
    episodes = np.full(lanes, NOBODY)
    episodes[: len(first)] = first
    at = np.where(episodes >= 0, recorded.starts[episodes] - 1, 0)
    totals = np.zeros(lanes)
    actions = np.zeros((lanes, *recorded.actions.shape[1:]), recorded.actions.dtype)
    actions[:] = envs.action_space.default()
    none = np.zeros(lanes, np.bool_)
    seeds: Any = recorded.seeds[np.where(episodes >= 0, episodes, 0)]  # an array, as a sequence is taken
    observation, info = envs.reset(seed=seeds)
    columns = envs.lane_columns("words", "fresh", "ended")
    step = np.zeros(lanes), none, none
    untold = np.zeros(lanes, np.int64)
    left, waiting = len(first), len(first)
    while True:
        left, waiting = follow(
            _words_of(observation, lanes),
            keys,
            (*step, info.get("outcome", untold)),
            (recorded.starts, recorded.lasts, recorded.actions, recorded.seen, recorded.rewards),
            (queue, streams),
            (episodes, at, totals, actions),
            columns,
            found,
            (left, waiting),
        )
        if not left:
            return found
        observation, rewards, terminated, truncated, info = envs.step(actions)
        step = rewards, terminated, truncated


def _nothing_yet(count: int, rows: int) -> Executed:
    numbers, flags = np.zeros(count, np.int64), np.zeros((2, count), np.bool_)
    totals, digests = np.zeros(count), np.zeros(rows, np.uint64)
    return Executed(np.ones(count, np.bool_), numbers, totals, flags[0], flags[1], numbers.copy(), digests)


def _words_of(observation: Array, lanes: int) -> Array:
    """Observations as words of 64 bits, filled up with zeros, a row for each lane."""
    flat = np.ascontiguousarray(observation).reshape(lanes, -1).view(np.uint8)
    if flat.shape[1] % 8 == 0:
        return flat.view(np.uint64)
    padded = np.zeros((lanes, -(-flat.shape[1] // 8) * 8), np.uint8)
    padded[:, : flat.shape[1]] = flat
    return padded.view(np.uint64)


@kept
def follow(
    words: Words,
    keys: Words,
    step: Arrays,
    recorded: Arrays,
    plan: Arrays,
    lanes: Arrays,
    columns: Arrays,
    found: Arrays,
    numbers: tuple[int, int],
) -> tuple[int, int]:
    """Take a step of all lanes: compare, choose the next actions, give lanes that are free their next episodes."""
    rewards, terminated, truncated, outcomes = step
    starts, lasts, actions, seen, known = recorded
    queue, streams = plan
    episodes, at, totals, chosen = lanes
    stream, fresh, ended = columns
    agrees, lengths, sums, ends, cuts, codes, digests = found
    left, waiting = numbers
    for lane in range(len(episodes)):
        one = episodes[lane]
        if one < 0:
            continue
        row = at[lane] + 1
        at[lane] = row
        digest = row_digest(words[lane], keys)
        digests[row] = digest
        same = np.uint16(digest & np.uint64(0xFFFF)) == seen[row]
        over = False
        if row > starts[one]:
            totals[lane] += rewards[lane]
            over = terminated[lane] or truncated[lane]
            same = same and (not len(known) or known[row] == rewards[lane])
        if same and not over and row < lasts[one]:
            chosen[lane] = actions[row + 1]
            continue
        agrees[one] = same and row == lasts[one]
        lengths[one], sums[one] = row - starts[one], totals[lane]
        ends[one], cuts[one], codes[one] = terminated[lane] and over, truncated[lane] and over, outcomes[lane]
        if waiting == len(queue):
            episodes[lane] = NOBODY
            left -= 1
            continue
        following = queue[waiting]
        waiting += 1
        episodes[lane], at[lane], totals[lane] = following, starts[following] - 1, 0.0
        for place in range(streams.shape[1]):
            stream[lane, place] = streams[following, place]
        fresh[lane], ended[lane] = True, True
    return left, waiting


@kept
def drawn_alike(seeds: Array, starts: Array, lasts: Array, actions: Array, choices: tuple[int, int]) -> Array:
    """Whether each episode's actions are those that SplitMix64 draws from its seed; `choices` are start and number."""
    start, count = choices
    found = np.ones(len(starts), np.bool_)
    step, mix_1, mix_2 = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
    for one in range(len(starts)):
        word = np.uint64(seeds[one])
        for row in range(starts[one] + 1, lasts[one] + 1):
            word += step
            mixed = (word ^ (word >> np.uint64(30))) * mix_1
            mixed = (mixed ^ (mixed >> np.uint64(27))) * mix_2
            share = (mixed ^ (mixed >> np.uint64(31))) >> np.uint64(32)
            if actions[row] != start + np.int64((share * np.uint64(count)) >> np.uint64(32)):
                found[one] = False
                break
    return found
